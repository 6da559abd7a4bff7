//! The verbs of the pgbench workload.

pub(super) mod args;

use super::Stop;
use super::connect::{Task, target, with_driver};
use super::prepare::{Build, Drop, engine_for};
use super::run::{Kind, run_load, seed};
use super::script::mix;
use super::tables::Owned;
use crate::driver::{Dialect, Driver};
use crate::engine::Failure;
use crate::workload::pgbench::{
    ACCOUNTS, ACCOUNTS_OF_BRANCH, BRANCHES, NAMES, PgbenchTables, built_in,
};
use crate::workload::script::{ScriptOptions, ScriptWorkload, Value};
use crate::workload::sql::{Errand, Fence};
use args::{CleanupPgbench, PreparePgbench, RunPgbench};

pub(super) fn prepare(args: &PreparePgbench) -> Result<(), Stop> {
    let target = target(&args.connection)?;
    let set = PgbenchTables {
        scale: args.pgbench.scale,
        engine: engine_for(&target, args.engine.as_deref())?,
    };
    let (which, threads) = (String::new(), None);
    let build = Build {
        set,
        which,
        threads,
    };
    with_driver(target, build)
}

pub(super) fn cleanup(args: &CleanupPgbench) -> Result<(), Stop> {
    with_driver(
        target(&args.connection)?,
        Drop(NAMES.map(str::to_owned).into()),
    )
}

pub(super) fn run(args: &RunPgbench) -> Result<(), Stop> {
    with_driver(target(&args.connection)?, RunTask(args))
}

struct RunTask<'a>(&'a RunPgbench);

impl Task for RunTask<'_> {
    fn perform<D: Driver + Send + 'static>(self, driver: D) -> Result<(), Stop> {
        let Self(args) = self;
        let scale = args.pgbench.scale;
        if driver.has_tables() {
            check_tables(&driver, scale)?;
        }
        let chosen = args.built_in.iter();
        let files: Vec<_> = chosen.map(|one| built_in(one.name, one.weight)).collect();
        let kind = Kind {
            workload: "pgbench",
            mix: mix(&files).into(),
            protocol: args.protocol.into(),
            seed: seed(args.seed),
        };
        let dialect = driver.dialect();
        let options = ScriptOptions {
            files,
            variables: vec![("scale".into(), Value::Int(scale.cast_signed()))],
            protocol: kind.protocol,
            reconnect: args.reconnect,
            seed: kind.seed,
            fence: Fence::none(dialect, Errand::Measured),
        };
        run_load(
            driver,
            ScriptWorkload::new(options, dialect)?,
            kind,
            &args.load,
        )
    }
}

/// Finds out before the clients connect whether the tables are those that are asked for.
fn check_tables<D: Driver>(driver: &D, scale: u64) -> Result<(), Failure> {
    let owned = Owned {
        workload: "pgbench",
        which: String::new(),
        made_by: format!("--scale {scale}"),
    };
    let mut found = owned.open(driver)?;
    for name in NAMES {
        found.require(name)?;
    }
    if found.dialect() == Dialect::Postgres {
        found.require_index(ACCOUNTS, "aid")?;
    }
    let branches = found.number(&format!("SELECT COUNT(*) FROM {BRANCHES}"))?;
    let last = found.number(&format!("SELECT MAX(aid) FROM {ACCOUNTS}"))?;
    if branches == Some(scale) {
        if last == Some(scale * ACCOUNTS_OF_BRANCH) {
            return Ok(());
        }
        return Err(found.remake("the accounts were not loaded to their end"));
    }
    let made = branches.unwrap_or(0);
    Err(found.remake(&format!(
        "the tables were made with --scale {made}, and the run has --scale {scale}"
    )))
}
