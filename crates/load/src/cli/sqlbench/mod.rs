//! The verbs of the sqlbench workload. It makes its tables itself, test by test, and drops them.

pub(super) mod args;
mod job;
mod storage_engine;

use super::Stop;
use super::connect::{Task, target, with_driver};
use super::prepare::working;
use super::run::{Kind, run_job};
use crate::driver::{Admin, Dialect, Driver, Protocol};
use crate::engine::Failure;
use crate::target::Target;
use crate::workload::sqlbench::{Maker, Plan, TestName, leftovers};
use args::{CleanupSqlbench, RunSqlbench};
use job::SqlbenchJob;

/// The data and the order of the statements are the same each time.
const SEED: u64 = 1;

pub(super) fn run(args: &RunSqlbench) -> Result<(), Stop> {
    with_driver(tables_target(target(&args.connection)?)?, args)
}

pub(super) fn cleanup(args: &CleanupSqlbench) -> Result<(), Stop> {
    with_driver(tables_target(target(&args.connection)?)?, args)
}

fn tables_target(target: Target) -> Result<Target, Stop> {
    if matches!(target, Target::Null(_)) {
        return Err(Stop::Arguments(
            "sqlbench checks the number of rows returned, and null returns none; use a database"
                .into(),
        ));
    }
    Ok(target)
}

impl Task for &RunSqlbench {
    const MAY_CREATE: bool = true;

    fn perform<D: Driver + Send + 'static>(self, driver: D) -> Result<(), Stop> {
        let dialect = driver.dialect();
        let mut admin = connect(&driver)?;
        let engine = storage_engine::find(&mut *admin, dialect, self.engine.as_deref())?;
        refuse_leftovers(&mut *admin, dialect)?;
        drop(admin);
        let plan = Plan {
            maker: Maker {
                dialect,
                engine: self.engine.clone(),
            },
            scale: self.scale,
            engine,
        };
        let kind = Kind {
            workload: "sqlbench",
            mix: mix(&plan).into(),
            protocol: Protocol::Prepared,
            seed: SEED,
        };
        let clients = usize::try_from(self.job.crowd.clients).unwrap_or(usize::MAX);
        let mut job = SqlbenchJob::new(&plan, &in_order(&self.tests), clients, self.limit_seconds);
        job.explain_single_clients();
        run_job(driver, &mut job, kind, &self.job)
    }
}

impl Task for &CleanupSqlbench {
    fn perform<D: Driver + Send + 'static>(self, driver: D) -> Result<(), Stop> {
        let mut admin = working(&driver)?;
        let dropped = leftovers::drop_all(&mut *admin, driver.dialect())
            .map_err(|fault| Failure::from_fault("dropping tables", &fault))?;
        tell!("{}", account(&dropped));
        Ok(())
    }
}

fn connect<D: Driver>(driver: &D) -> Result<Box<dyn Admin>, Failure> {
    driver
        .admin()
        .map_err(|fault| Failure::from_fault("connecting", &fault))
}

/// The names of the dropped tables; only the first of very many.
fn account(dropped: &[String]) -> String {
    const NAMED: usize = 40;
    match (dropped.len(), dropped.len().saturating_sub(NAMED)) {
        (0, _) => "there are no tables of sqlbench".to_owned(),
        (_, 0) => format!("dropped {}", dropped.join(", ")),
        (_, more) => format!("dropped {}, and {more} more", dropped[..NAMED].join(", ")),
    }
}

/// The run drops every table with such a name at the end, so none may exist before.
fn refuse_leftovers(admin: &mut dyn Admin, dialect: Dialect) -> Result<(), Failure> {
    let found = leftovers::find(admin, dialect)
        .map_err(|fault| Failure::from_fault("looking for tables", &fault))?;
    let Some(first) = found.first() else {
        return Ok(());
    };
    Err(Failure::new(
        "tables",
        format!(
            "table {first} exists already, and sqlbench uses such names. If it is yours, rename it; if an earlier run left \
             it, drop it with `diskproof-load cleanup sqlbench`"
        ),
    ))
}

/// The scale and the storage engine, in a few words.
fn mix(plan: &Plan) -> String {
    let scale = plan.scale;
    let size = if scale.is_full() {
        "at full size".to_owned()
    } else {
        format!("at scale {scale}")
    };
    match &plan.engine {
        Some(engine) => format!("{size}, {} tables", engine.name),
        None => size,
    }
}

/// The named tests, each once; all tests if none is named.
fn in_order(asked: &[TestName]) -> Vec<TestName> {
    let is_asked = |name: &TestName| asked.is_empty() || asked.contains(name);
    TestName::ALL.into_iter().filter(is_asked).collect()
}
