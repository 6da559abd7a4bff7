//! The tables that a script makes.

use super::oltp;
use crate::cli::Stop;
use crate::cli::connect::Task;
use crate::cli::prepare::build_tables;
use crate::driver::Driver;
use crate::workload::lua::LuaOptions;

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
        let tables = conducting.tables()?;
        let cleanup = format!("diskproof-load cleanup {} {}", self.name, tables.which);
        Ok(build_tables(
            &driver,
            &tables,
            cleanup.trim_end(),
            self.threads,
        )?)
    }
}
