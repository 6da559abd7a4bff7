//! The options of the verbs on a Lua script, and the script's own among them.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::args::{Connection, Load, Protocol, Reach, positive_seconds};
use crate::cli::within::Within;
use crate::workload::distribution::Choice;

/// The script, and what it may do.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct LuaArgs {
    /// A script as sysbench takes it (docs/lua.md). A name without a folder is also looked for in
    /// sysbench's own folder
    #[arg(value_name = "SCRIPT")]
    pub(in crate::cli) script: PathBuf,

    /// Send prepared statements as such, or as text (sysbench: --db-ps-mode=disable)
    #[arg(long, default_value = "prepared")]
    pub(in crate::cli) protocol: Protocol,

    /// What `sysbench.rand.default` draws by (sysbench: --rand-type)
    #[arg(long, default_value = "special")]
    pub(in crate::cli) distribution: Choice,

    /// The same seed gives the same draws [default: another one each time]
    #[arg(long, value_name = "N")]
    pub(in crate::cli) seed: Option<u64>,

    /// Let the script use files and programs: io, os.execute and the like
    #[arg(long)]
    pub(in crate::cli) trust_script: bool,

    /// Most memory of one client's script
    #[arg(long, value_name = "MIB", default_value_t = 256, within(1..=u32::MAX))]
    pub(in crate::cli) script_memory: u32,

    /// Longest time that a script may compute without a statement
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = positive_seconds)]
    pub(in crate::cli) script_limit: Duration,

    /// An option of the script's own, such as tables=4
    #[arg(short = 'o', long = "option", value_name = "NAME[=VALUE]")]
    pub(in crate::cli) given: Vec<String>,
}

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct RunLua {
    #[command(flatten)]
    pub(in crate::cli) connection: Connection,
    #[command(flatten)]
    pub(in crate::cli) reach: Reach,
    #[command(flatten)]
    pub(in crate::cli) lua: LuaArgs,
    #[command(flatten)]
    pub(in crate::cli) load: Load,
}

/// A command of the script's.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct OnceLua {
    #[command(flatten)]
    pub(in crate::cli) connection: Connection,
    #[command(flatten)]
    pub(in crate::cli) reach: Reach,
    #[command(flatten)]
    pub(in crate::cli) lua: LuaArgs,

    /// Another of the script's commands, such as prewarm or help [default: the verb's own]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) command: Option<String>,

    /// Connections at a time, if the command is one that runs in parallel
    #[arg(long, value_name = "N", default_value_t = 1, within(1..=10_000u32))]
    pub(in crate::cli) clients: u32,
}

/// The script's options as names with values.
pub(in crate::cli) fn given(words: &[String]) -> Vec<(String, Option<String>)> {
    let option = |word: &String| match word.split_once('=') {
        Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
        None => (word.clone(), None),
    };
    words.iter().map(option).collect()
}
