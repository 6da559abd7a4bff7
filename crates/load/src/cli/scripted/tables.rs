//! The tables that a script makes.

use super::job::failure;
use super::oltp;
use crate::cli::Stop;
use crate::cli::connect::Task;
use crate::cli::prepare::build_tables;
use crate::driver::{Admin, Driver, Fault};
use crate::engine::Failure;
use crate::workload::lua::{Again, LuaOptions, Tables, Trouble};
use crate::workload::tables::Progress;

/// Makes them, several at a time.
pub(super) struct Prepare {
    pub(super) name: &'static str,
    pub(super) options: LuaOptions,
    pub(super) threads: Option<u16>,
}

impl Task for Prepare {
    const MAY_CREATE: bool = true;

    fn perform<D: Driver + Send + 'static>(self, driver: D) -> Result<(), Stop> {
        let mut options = self.options;
        options.rows = (self.name == "oltp").then(|| oltp::rows(&options.given, options.seed));
        let conducting = super::loaded(&driver, options)?;
        conducting.check()?;
        let Tables {
            parts,
            which,
            names,
        } = conducting.tables()?;
        let cleanup = format!("diskproof-load cleanup {} {which}", self.name);
        let set = ScriptTables {
            cleanup: cleanup.trim_end().to_owned(),
            names: names.unwrap_or_else(|| parts.iter().map(|(name, _)| name.clone()).collect()),
            parts,
            script: conducting.again(),
        };
        Ok(build_tables(&driver, &set, self.threads)?)
    }
}

/// Tables, or other parts that can be filled side by side, numbered from 1.
pub(in crate::cli) struct ScriptTables {
    /// Their names, with the rows that they are loaded with.
    pub(in crate::cli) parts: Vec<(String, u64)>,
    /// The tables that all parts are in.
    pub(in crate::cli) names: Vec<String>,
    /// The command that drops them.
    pub(in crate::cli) cleanup: String,
    script: Again,
}

fn fault(trouble: Trouble) -> Fault {
    match trouble {
        Trouble::Fault { fault, .. } => fault,
        Trouble::Refused { message, .. } => Fault::Protocol(message),
    }
}

impl ScriptTables {
    /// Makes what the parts share, before any of them.
    pub(in crate::cli) fn begin(&self, admin: &mut dyn Admin) -> Result<(), Failure> {
        self.script.define(admin).map_err(failure)
    }

    /// Builds what is better built when all parts are loaded.
    pub(in crate::cli) fn finish(&self, admin: &mut dyn Admin) -> Result<(), Fault> {
        self.script.index(admin).map_err(fault)
    }

    /// Makes one part; returns the rows loaded. `progress` is raised as rows are handed over.
    pub(in crate::cli) fn build(
        &self,
        admin: &mut dyn Admin,
        number: usize,
        progress: &Progress,
    ) -> Result<u64, Fault> {
        self.script.fill(number, admin, progress).map_err(fault)
    }
}
