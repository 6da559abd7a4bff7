//! The script beside the clients: `init`, `done` and its own reports,
//! `sysbench.hooks.report_intermediate` and `report_cumulative`.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use mlua::Function;

use super::state::State;
use super::{LuaError, Setup};

/// The figures that a hook is given, by their names; times in seconds.
pub type Stat = Vec<(&'static str, f64)>;

/// The script in a Lua state of its own, as sysbench's main thread has it.
pub struct Hooks {
    setup: Arc<Setup>,
    state: State,
    call: Function,
}

impl Hooks {
    /// Loads the script and calls its function `init`.
    pub(super) fn new(setup: &Arc<Setup>) -> Result<Self, LuaError> {
        let wrong = |error: mlua::Error| LuaError(error.to_string());
        let state = State::new(setup, 0).map_err(wrong)?;
        state.alone(setup, "init")?;
        let call = state.function("hook").map_err(wrong)?;
        Ok(Self {
            setup: Arc::clone(setup),
            state,
            call,
        })
    }

    /// Calls the script's function `done`.
    pub fn done(&self) -> Result<(), LuaError> {
        self.state.alone(&self.setup, "finish").map(drop)
    }

    /// Errors that all clients' scripts have counted themselves until now (`sb_counter_inc`).
    #[must_use]
    pub fn counted_errors(&self) -> u64 {
        self.setup.counted_errors.load(Ordering::Relaxed)
    }

    /// Calls the hook; false if the script has none of this name.
    pub fn call(&self, name: &str, stat: &Stat) -> Result<bool, LuaError> {
        self.try_call(name, stat).map_err(|error| {
            // Its first line says where; the rest is the way there.
            let text = error.to_string();
            LuaError(format!(
                "{name}: {}",
                text.lines().next().unwrap_or_default()
            ))
        })
    }

    fn try_call(&self, name: &str, stat: &Stat) -> mlua::Result<bool> {
        let table = self.state.lua.create_table_from(stat.iter().copied())?;
        self.setup
            .watch
            .observe(0, || self.call.call((name, table)))
    }
}
