//! The verbs of the OLTP workload.

use std::hash::{BuildHasher, RandomState};
use std::io::{self, stdout};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::available_parallelism;
use std::time::Duration;

use super::args::{CleanupOltp, Load, OltpTables, PrepareOltp, RunOltp};
use super::connect::{Task, target, with_driver};
use super::prepare::build_tables;
use super::{Stop, outside};
use crate::driver::Driver;
use crate::engine::{self, Ending, Failure, RunOptions};
use crate::report::{JsonReport, Report, TextReport};
use crate::target::Target;
use crate::workload::oltp::tables::{self, TableOptions};
use crate::workload::oltp::{Oltp, OltpOptions};

/// The data set is the same each time unless another one is asked for.
const DATA_SEED: u64 = 1;

/// Where neither a time nor a number of transactions is given.
const DEFAULT_SECONDS: Duration = Duration::from_secs(10);

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
        let options = self.run_options(&driver)?;
        if self.checks_tables {
            check_tables(&driver, tables)?;
        }
        let workload = Oltp::new(
            OltpOptions {
                mix: tables.mix,
                tables: usize::from(tables.tables),
                rows: tables.rows,
                distribution: tables.distribution,
                skip_trx: self.args.skip_trx,
                seed: options.seed,
            },
            driver.dialect(),
        );
        let (outbox, inbox) = channel();
        outside::watch_signals(outbox.clone())?;
        if load.lockstep {
            outside::watch_input(outbox.clone());
        }
        let mut report = report(load);
        let mailbox = (outbox, inbox);
        let (driver, workload) = (Arc::new(driver), Arc::new(workload));
        match engine::run(&driver, &workload, &options, mailbox, &mut *report)? {
            Ending::Complete => Ok(()),
            Ending::Interrupted => Err(Stop::Interrupted),
        }
    }
}

impl RunTask<'_> {
    fn run_options<D: Driver>(&self, driver: &D) -> Result<RunOptions, Stop> {
        let RunOltp { tables, load, .. } = self.args;
        let clients =
            usize::try_from(load.clients).map_err(|error| Stop::Arguments(error.to_string()))?;
        let workers = workers(driver, clients, load.workers)?;
        engine::allow_open_files(clients, driver.files_per_client(), workers).map_err(
            |(wanted, limit)| {
                Stop::Arguments(format!(
                    "--clients {clients} needs {wanted} open files, and this process may have {limit}; \
                     raise the limit (ulimit -Hn) or ask for fewer clients"
                ))
            },
        )?;
        let protocol = self.args.protocol.map(Into::into);
        Ok(RunOptions {
            workload: "oltp",
            mix: tables.mix.name().into(),
            clients,
            workers,
            seed: tables.seed.unwrap_or_else(fresh_seed),
            protocol: protocol.unwrap_or_else(|| tables.mix.default_protocol()),
            warm_up: load.warm_up,
            seconds: load
                .seconds
                .or_else(|| load.transactions.is_none().then_some(DEFAULT_SECONDS)),
            transactions: load.transactions,
            report_interval: (!load.report_interval.is_zero()).then_some(load.report_interval),
            percentiles: in_order(&load.percentiles),
            lockstep: load.lockstep,
        })
    }
}

fn workers<D: Driver>(driver: &D, clients: usize, asked: Option<u16>) -> Result<usize, Stop> {
    match asked {
        Some(_) if driver.blocks() => Err(Stop::Arguments(
            "this database runs inside its client's thread, so every client has a thread of its own; \
             leave --workers out"
                .into(),
        )),
        None if driver.blocks() => Ok(clients),
        Some(workers) if usize::from(workers) > clients => Err(Stop::Arguments(format!(
            "--workers {workers} would leave threads without work: there are only {clients} clients"
        ))),
        Some(workers) => Ok(usize::from(workers)),
        None => Ok(cores().min(clients)),
    }
}

/// Each percentile once: its number is its name in the report.
fn in_order(percentiles: &[f64]) -> Vec<f64> {
    let mut percentiles = percentiles.to_vec();
    percentiles.sort_by(f64::total_cmp);
    percentiles.dedup();
    percentiles
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

fn report(load: &Load) -> Box<dyn Report> {
    if load.json {
        Box::new(JsonReport::new(stdout()))
    } else {
        Box::new(TextReport::new(
            io::BufWriter::new(stdout()),
            !load.report_interval.is_zero(),
        ))
    }
}

/// A seed that no other run had, from the randomness of the standard library's hash tables; of
/// 53 bits, so that every reader of JSON keeps it exactly.
fn fresh_seed() -> u64 {
    RandomState::new().hash_one(std::process::id()) >> 11
}

fn cores() -> usize {
    available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_percentile_asked_for_twice_is_told_once() {
        assert_eq!(
            super::in_order(&[99.0, 50.0, 50.0, 95.0]),
            [50.0, 95.0, 99.0]
        );
    }
}
