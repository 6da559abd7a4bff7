//! The options of the verbs on a Lua script, and the script's own among them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Command};

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

    /// An option of the script's own. Written as it stands (--tables=4) it means the same, unless an
    /// option here has that name
    #[arg(long = "option", value_name = "NAME[=VALUE]")]
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

/// Makes `--option NAME=VALUE` of what the command does not know: a script's options stand among
/// ours.
pub(in crate::cli) fn set_apart(words: Vec<OsString>, cli: &Command) -> Vec<OsString> {
    let Some(command) = words
        .get(1)
        .and_then(|verb| cli.find_subcommand(verb))
        .filter(|_| words.get(2).is_some_and(|workload| workload == "lua"))
        .and_then(|verb| verb.find_subcommand("lua"))
    else {
        return words;
    };
    let mut words = words.into_iter();
    let mut ours: Vec<_> = words.by_ref().take(3).collect();
    let mut has_script = false;
    let mut is_open = false;
    while let Some(word) = words.next() {
        let text = word.to_string_lossy().into_owned();
        let Some(option) = text.strip_prefix("--") else {
            let is_value = has_script && is_open && !text.starts_with('-');
            if let Some(last) = ours.last_mut().filter(|_| is_value) {
                last.push("=");
                last.push(word);
            } else {
                has_script |= !text.starts_with('-');
                ours.push(word);
            }
            is_open = false;
            continue;
        };
        let (name, has_value) = match option.split_once('=') {
            Some((name, _)) => (name, true),
            None => (option, false),
        };
        is_open = false;
        let known = command
            .get_arguments()
            .find(|own| own.get_long() == Some(name));
        match known {
            Some(own) => {
                let takes_value = own.get_action().takes_values();
                ours.push(word);
                if takes_value && !has_value {
                    ours.extend(words.next());
                }
            }
            None if name == "help" => ours.push(word),
            None => {
                ours.push("--option".into());
                ours.push(option.into());
                is_open = !has_value;
            }
        }
    }
    ours
}

/// The script's options as names with values.
pub(in crate::cli) fn given(words: &[String]) -> Vec<(String, Option<String>)> {
    let option = |word: &String| match word.split_once('=') {
        Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
        None => (word.clone(), None),
    };
    words.iter().map(option).collect()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    fn apart(words: &str) -> String {
        let words = words.split(' ').map(OsString::from).collect();
        let mut cli = Cli::command();
        cli.build();
        let words = set_apart(words, &cli);
        let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        words.join(" ")
    }

    #[test]
    fn the_scripts_options_stand_among_ours() {
        assert_eq!(
            apart(
                "x run lua a.lua --tables=4 --url null: --clients 8 --skip-trx --range_size 10 --json"
            ),
            "x run lua a.lua --option tables=4 --url null: --clients 8 --option skip-trx \
             --option range_size=10 --json"
        );
        assert_eq!(
            apart("x run lua --auto-inc a.lua --url=null:"),
            "x run lua --option auto-inc a.lua --url=null:"
        );
        assert_eq!(apart("x run oltp --tables 4"), "x run oltp --tables 4");
    }
}
