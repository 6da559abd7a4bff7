//! The tables that a script makes.

use crate::cli::Stop;
use crate::cli::connect::Task;
use crate::cli::prepare::Build;
use crate::driver::{Admin, Dialect, Driver, Fault};
use crate::workload::lua::{Again, Conducting, LuaOptions, Trouble};
use crate::workload::tables::{Progress, TableSet};

/// Makes them, several at a time.
pub(super) struct Prepare {
    pub(super) name: &'static str,
    pub(super) options: LuaOptions,
    pub(super) threads: Option<u16>,
}

impl Task for Prepare {
    const MAY_CREATE: bool = true;

    fn perform<D: Driver + Send + 'static>(self, driver: D) -> Result<(), Stop> {
        let conducting = Conducting::new(LuaOptions {
            dialect: driver.dialect(),
            ..self.options
        })?;
        conducting.check()?;
        let (all, which) = conducting.tables()?;
        let set = ScriptTables {
            name: self.name,
            all,
            script: conducting.again(),
        };
        let threads = self.threads;
        Build {
            set,
            which,
            threads,
        }
        .perform(driver)
    }
}

struct ScriptTables {
    name: &'static str,
    /// Their names, with their rows.
    all: Vec<(String, u64)>,
    script: Again,
}

impl TableSet for ScriptTables {
    fn workload(&self) -> &'static str {
        self.name
    }

    fn count(&self) -> usize {
        self.all.len()
    }

    fn rows(&self, number: usize) -> u64 {
        self.all[number - 1].1
    }

    fn name(&self, number: usize) -> String {
        self.all[number - 1].0.clone()
    }

    fn build(
        &self,
        admin: &mut dyn Admin,
        _dialect: Dialect,
        number: usize,
        progress: &Progress,
    ) -> Result<u64, Fault> {
        let loaded = self.script.fill(number, admin, progress);
        loaded.map_err(|trouble| match trouble {
            Trouble::Fault { fault, .. } => fault,
            Trouble::Refused { message, .. } => Fault::Protocol(message),
        })
    }
}
