//! The verbs of the ledger workload.

pub(super) mod args;
mod check;

use std::fs;
use std::io;
use std::path::Path;

use super::Stop;
use super::connect::{Task, target, with_driver};
use super::prepare::{Build, drop_tables};
use super::run::{Kind, run_load, seed};
use crate::driver::Driver;
use crate::workload::ledger::tables::{LedgerTables, NAMES};
use crate::workload::ledger::{Acknowledgements, Ledger, LedgerOptions};
use args::{CleanupLedger, PrepareLedger, RunLedger};
use check::{check_tables, refuse_foreign};

/// The data set is the same each time unless another one is asked for.
const DATA_SEED: u64 = 1;

pub(super) fn prepare(args: &PrepareLedger) -> Result<(), Stop> {
    let set = LedgerTables {
        accounts: args.ledger.accounts,
        filler_bytes: args.ledger.filler_bytes.into(),
        seed: args.ledger.seed.unwrap_or(DATA_SEED),
    };
    let (which, threads) = (String::new(), None);
    with_driver(
        target(&args.connection)?,
        Build {
            set,
            which,
            threads,
        },
    )
}

pub(super) fn cleanup(args: &CleanupLedger) -> Result<(), Stop> {
    with_driver(target(&args.connection)?, args)
}

pub(super) fn run(args: &RunLedger) -> Result<(), Stop> {
    with_driver(target(&args.connection)?, RunTask(args))
}

impl Task for &CleanupLedger {
    fn perform<D: Driver + Send + 'static>(self, driver: D) -> Result<(), Stop> {
        refuse_foreign(&driver)?;
        Ok(drop_tables(&driver, NAMES.map(str::to_owned))?)
    }
}

struct RunTask<'a>(&'a RunLedger);

impl Task for RunTask<'_> {
    fn perform<D: Driver + Send + 'static>(self, driver: D) -> Result<(), Stop> {
        let Self(args) = self;
        let file = args.acknowledgements.as_deref();
        let dilation = args.load.crowd.dilation;
        let acknowledgements = file
            .map(|path| create_acknowledgements(path, dilation))
            .transpose()?;
        if driver.has_tables() {
            check_tables(&driver, &args.ledger, file.is_some()).inspect_err(|_| forget(file))?;
        }
        let options = LedgerOptions {
            accounts: args.ledger.accounts,
            filler_bytes: args.ledger.filler_bytes.into(),
            seed: seed(args.ledger.seed),
            acknowledgements,
            bears_errors: args.bear_errors,
        };
        let kind = Kind {
            workload: "ledger",
            mix: "transfer".into(),
            protocol: args.protocol.into(),
            seed: options.seed,
        };
        let workload = Ledger::new(options, driver.dialect());
        run_load(driver, workload, kind, &args.load)
    }
}

/// Makes the file of acknowledgements before anything is started.
pub(super) fn create_acknowledgements(
    path: &Path,
    dilation: u32,
) -> Result<Acknowledgements, Stop> {
    Acknowledgements::create(path, dilation).map_err(|error| {
        let why = match error.kind() {
            io::ErrorKind::AlreadyExists => {
                "exists already and may be another run's evidence; give a new file".to_owned()
            }
            _ => format!("cannot be created: {error}"),
        };
        Stop::Arguments(format!("--acknowledgements {}: {why}", path.display()))
    })
}

/// Removes the file if no client has connected: it is empty, and the next run may use its name.
pub(super) fn forget(path: Option<&Path>) {
    if let Some(path) = path {
        let _ = fs::remove_file(path);
    }
}
