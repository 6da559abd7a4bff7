//! sysbench's scripts in Lua (docs/lua.md): one Lua state a client, a coroutine that a statement
//! suspends.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::distribution::Choice;
use super::oltp::OltpRows;
use super::sql::Fence;
use super::{Catalogue, Workload};
use crate::driver::rows::Keep;
use crate::driver::{Dialect, Protocol};
use crate::file;

mod client;
mod compiled;
mod conducting;
mod description;
mod draws;
mod job;
mod own;
mod setting;
mod state;
mod statement;
#[cfg(test)]
mod tests;
mod turns;
mod watch;

pub use client::LuaClient;
pub use conducting::{Again, Conducting, Plan, Tables};
pub use description::{Described, Description, Kind};
pub use job::LuaJob;
pub use setting::Setting;
pub use state::LARGEST_BYTES;
pub use turns::{LuaTurns, TurnsClient};
pub use watch::Watch;

use compiled::Compiled;
use state::{Look, State};

/// A mistake of a script, or in what it was given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LuaError(String);

impl From<mlua::Error> for LuaError {
    fn from(error: mlua::Error) -> Self {
        Self(error.to_string())
    }
}

/// The stream that a script prints to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    Stdout,
    /// Standard output belongs to a program that reads it.
    Stderr,
}

/// The user's options.
#[derive(Debug)]
pub struct LuaOptions {
    /// The script as the user named it, and its text.
    pub script: String,
    pub text: Vec<u8>,
    /// The places that `require` searches: templates as Lua has them, such as `./?.lua;/lib/?.lua`.
    pub path: String,
    /// The folders of those templates, without symbolic links. No file elsewhere is a module.
    pub folders: Vec<PathBuf>,
    /// `run`, `prepare`, `cleanup` or a command of the script's own.
    pub command: String,
    /// sysbench's own options, as `sysbench.opt` has them.
    pub general: Vec<(String, Setting)>,
    /// The script's options with their values, if they have any.
    pub given: Vec<(String, Option<String>)>,
    pub dialect: Dialect,
    pub protocol: Protocol,
    /// What `sysbench.rand.default` draws by.
    pub distribution: Choice,
    pub seed: u64,
    /// Whether the script may use files and programs.
    pub trusted: bool,
    /// Most memory of one client's Lua state.
    pub memory_limit_bytes: usize,
    pub output: Output,
    /// What its statements may reach.
    pub fence: Fence,
    /// Whether it comes with the program.
    pub is_ours: bool,
    /// Rows that it loads without making them itself: sysbench's, as fast as it makes them.
    pub rows: Option<OltpRows>,
}

/// The part that all clients of a workload share.
#[derive(Debug)]
struct Setup {
    options: LuaOptions,
    /// Whether the script is of sysbench 0.5's kind: options are global variables.
    legacy: AtomicBool,
    /// How many unique numbers have been drawn.
    uniques: AtomicU64,
    compiled: Compiled,
    watch: Arc<Watch>,
}

impl Setup {
    fn new(options: LuaOptions, watch: Arc<Watch>) -> Arc<Self> {
        Arc::new(Self {
            options,
            legacy: AtomicBool::new(false),
            uniques: AtomicU64::new(0),
            compiled: Compiled::default(),
            watch,
        })
    }

    /// The text of a module. The refusal does not say whether there is another file.
    fn module(&self, path: &Path) -> Result<Vec<u8>, String> {
        if self.options.trusted {
            return file::read(path, LARGEST_BYTES);
        }
        let refused = || {
            "there is no module; it is a file NAME.lua beside the script, in the current folder, in sysbench's \
             or in one of LUA_PATH (--trust-script lets the script read other files)"
                .to_owned()
        };
        let own = path.canonicalize().map_err(|_| refused())?;
        let is_lua = own.extension().is_some_and(|extension| extension == "lua");
        if !is_lua
            || !self
                .options
                .folders
                .iter()
                .any(|folder| own.starts_with(folder))
        {
            return Err(refused());
        }
        file::read(&own, LARGEST_BYTES)
    }
}

/// The workload.
#[derive(Debug)]
pub struct LuaWorkload {
    catalogue: Catalogue,
    setup: Arc<Setup>,
    /// Whether the command runs in every client at once.
    pub is_parallel: bool,
}

impl LuaWorkload {
    /// Loads the script once, to find out what it needs; nothing is connected. `watch` sees scripts
    /// that compute for too long, from now on.
    pub fn new(options: LuaOptions, watch: Arc<Watch>) -> Result<Self, LuaError> {
        let setup = Setup::new(options, watch);
        let look = match State::look(&setup) {
            Ok(look) if look.declares_options => look,
            _ => {
                setup.legacy.store(true, Ordering::Relaxed);
                State::look(&setup)?
            }
        };
        let Look {
            has_command,
            parallel,
            commands,
            ..
        } = look;
        if !has_command {
            return Err(LuaError(format!(
                "{} has no command {}; its commands are: {commands}",
                setup.options.script, setup.options.command
            )));
        }
        Ok(Self {
            catalogue: statement::catalogue(),
            setup,
            is_parallel: parallel,
        })
    }

    /// The script's command, to be run once by this client.
    pub fn command(&self, client: usize) -> LuaClient {
        LuaClient::new(Arc::clone(&self.setup), client, true)
    }

    /// The script beside the clients; its function `init` has run then.
    pub fn beside(&self) -> Result<Beside, LuaError> {
        let setup = Arc::clone(&self.setup);
        let state = State::new(&setup, 0)?;
        state.alone(&setup, "init")?;
        Ok(Beside { setup, state })
    }

    /// The script's name in reports.
    pub fn name(&self) -> Cow<'static, str> {
        let script = &self.setup.options.script;
        let name = script.rsplit('/').next().unwrap_or(script);
        name.to_owned().into()
    }
}

/// The script in a Lua state of its own, as sysbench's main thread has it.
pub struct Beside {
    setup: Arc<Setup>,
    state: State,
}

impl Beside {
    /// Calls the script's function `done`.
    pub fn done(&self) -> Result<(), LuaError> {
        self.state.alone(&self.setup, "finish").map(drop)
    }
}

impl Workload for LuaWorkload {
    type Script = LuaClient;

    fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn script(&self, client: usize) -> LuaClient {
        LuaClient::new(Arc::clone(&self.setup), client, false)
    }

    fn keeps(&self) -> Option<Keep> {
        Some(Keep {
            prepared: false,
            most_bytes: self.setup.options.memory_limit_bytes,
        })
    }
}
