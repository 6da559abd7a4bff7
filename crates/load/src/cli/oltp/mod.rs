//! The verbs of the OLTP workload.

pub(super) mod args;
mod prepare;

use super::Stop;
use super::connect::{Task, target, with_driver};
use super::run::{Kind, cores, run_load, seed};
use crate::driver::Driver;
use crate::engine::Failure;
use crate::target::Target;
use crate::workload::oltp::tables::{self, TableOptions};
use crate::workload::oltp::{Oltp, OltpOptions};
use args::{CleanupOltp, OltpTables, PrepareOltp, RunOltp};
use prepare::build_tables;

/// The data set is the same each time unless another one is asked for.
const DATA_SEED: u64 = 1;

pub(super) fn prepare(args: &PrepareOltp) -> Result<(), Stop> {
    with_driver(target(&args.connection)?, args)
}

pub(super) fn cleanup(args: &CleanupOltp) -> Result<(), Stop> {
    with_driver(target(&args.connection)?, args)
}

pub(super) fn run(args: &RunOltp) -> Result<(), Stop> {
    let target = target(&args.connection)?;
    let checks_tables = target != Target::Null;
    with_driver(
        target,
        RunTask {
            args,
            checks_tables,
        },
    )
}

impl Task for &PrepareOltp {
    const MAY_CREATE: bool = true;

    fn perform<D: Driver + Send + 'static>(self, driver: D) -> Result<(), Stop> {
        let OltpTables {
            tables,
            rows,
            mix,
            distribution,
            seed,
        } = self.tables;
        let count = usize::from(tables);
        // The server works as hard as we do: while one connection waits, another is served.
        let threads = self.threads.map_or(2 * cores(), usize::from);
        // One writer at a time is all that a blocking database (SQLite) lets in.
        let threads = if driver.blocks() {
            1
        } else {
            threads.min(count)
        };
        let options = TableOptions {
            mix,
            rows,
            distribution,
            seed: seed.unwrap_or(DATA_SEED),
            engine: self.engine.clone(),
        };
        Ok(build_tables(&driver, count, threads, &options)?)
    }
}

impl Task for &CleanupOltp {
    fn perform<D: Driver + Send + 'static>(self, driver: D) -> Result<(), Stop> {
        let doing = |what: &'static str| move |fault| Failure::from_fault(what, &fault);
        let mut admin = driver.admin().map_err(doing("connecting"))?;
        for number in 1..=usize::from(self.tables) {
            tables::drop(&mut *admin, number).map_err(doing("dropping tables"))?;
        }
        Ok(())
    }
}

struct RunTask<'a> {
    args: &'a RunOltp,
    checks_tables: bool,
}

impl Task for RunTask<'_> {
    fn perform<D: Driver + Send + 'static>(self, driver: D) -> Result<(), Stop> {
        let RunOltp { tables, load, .. } = self.args;
        if self.checks_tables {
            check_tables(&driver, tables)?;
        }
        let kind = Kind {
            workload: "oltp",
            mix: tables.mix.name().into(),
            protocol: self
                .args
                .protocol
                .map_or_else(|| tables.mix.default_protocol(), Into::into),
            seed: seed(tables.seed),
        };
        let workload = Oltp::new(
            OltpOptions {
                mix: tables.mix,
                tables: usize::from(tables.tables),
                rows: tables.rows,
                distribution: tables.distribution,
                skip_trx: self.args.skip_trx,
                seed: kind.seed,
            },
            driver.dialect(),
        );
        run_load(driver, workload, kind, load)
    }
}

/// Finds out before the clients connect whether the tables are those that are asked for.
fn check_tables<D: Driver>(driver: &D, tables: &OltpTables) -> Result<(), Failure> {
    let connecting = |fault| Failure::from_fault("connecting", &fault);
    let mut admin = driver.admin().map_err(connecting)?;
    for number in 1..=usize::from(tables.tables) {
        let name = tables::table_name(number);
        let highest = tables::highest_id(&mut *admin, number).map_err(|fault| {
            let doing = format!(
                "table {name} cannot be read (`diskproof-load prepare oltp` makes the tables)"
            );
            Failure::from_fault(&doing, &fault)
        })?;
        let highest = highest.unwrap_or(0);
        if highest < tables.rows {
            eprintln!(
                "warning: {name} ends at id {highest}, so statements for ids up to --rows {} find nothing there",
                tables.rows
            );
        }
    }
    Ok(())
}
