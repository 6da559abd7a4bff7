//! The verbs of the conditions workload.

pub(super) mod args;

use super::Stop;
use super::connect::{Task, target, with_driver};
use super::prepare::{Build, Drop, engine_for};
use super::run::{Kind, run_load, seed};
use super::tables::{Found, Owned};
use crate::driver::Driver;
use crate::engine::Failure;
use crate::workload::conditions::tables::{ConditionsTables, INDEXED_COLUMN, table_name};
use crate::workload::conditions::{Conditions, ConditionsOptions};
use args::{CleanupConditions, PrepareConditions, RunConditions};

/// The data set is the same each time unless another one is asked for.
const DATA_SEED: u64 = 1;
/// Tables that a visit asks by default.
const TABLES_PER_VISIT: u16 = 20;

pub(super) fn prepare(args: &PrepareConditions) -> Result<(), Stop> {
    let target = target(&args.connection)?;
    let set = ConditionsTables {
        tables: args.conditions.tables.into(),
        history: args.conditions.history()?,
        payload_bytes: args.conditions.payload_bytes.into(),
        seed: args.conditions.seed.unwrap_or(DATA_SEED),
        engine: engine_for(&target, args.engine.as_deref())?,
    };
    let which = format!("--tables {}", set.tables);
    let threads = args.threads;
    with_driver(
        target,
        Build {
            set,
            which,
            threads,
        },
    )
}

pub(super) fn cleanup(args: &CleanupConditions) -> Result<(), Stop> {
    let names = (1..=usize::from(args.tables)).map(table_name);
    with_driver(target(&args.connection)?, Drop(names.collect()))
}

pub(super) fn run(args: &RunConditions) -> Result<(), Stop> {
    let options = options(args)?;
    with_driver(target(&args.connection)?, RunTask { args, options })
}

fn options(args: &RunConditions) -> Result<ConditionsOptions, Stop> {
    let tables = args.conditions.tables;
    let tables_per_visit = match args.tables_per_visit {
        Some(asked) if asked > tables => {
            return Err(Stop::Arguments(format!(
                "--tables-per-visit {asked} is more than --tables {tables}"
            )));
        }
        Some(asked) => asked,
        None => TABLES_PER_VISIT.min(tables),
    };
    Ok(ConditionsOptions {
        tables: tables.into(),
        history: args.conditions.history()?,
        payload_bytes: args.conditions.payload_bytes.into(),
        hot_percent: args.hot_percent,
        hot_s: args.hot_hours * 3600,
        tables_per_visit: tables_per_visit.into(),
        appends: args.appends,
        stay: args.stay,
        seed: seed(args.conditions.seed),
    })
}

struct RunTask<'a> {
    args: &'a RunConditions,
    options: ConditionsOptions,
}

impl Task for RunTask<'_> {
    fn perform<D: Driver + Send + 'static>(self, driver: D) -> Result<(), Stop> {
        if driver.has_tables() {
            check_tables(&driver, &self.options)?;
        }
        let kind = Kind {
            workload: "conditions",
            mix: if self.options.stay { "stay" } else { "visit" }.into(),
            protocol: self.args.protocol.into(),
            seed: self.options.seed,
        };
        let workload = Conditions::new(&self.options);
        run_load(driver, workload, kind, &self.args.load)
    }
}

/// Finds out before the clients connect whether the tables are those that are asked for.
fn check_tables<D: Driver>(driver: &D, options: &ConditionsOptions) -> Result<(), Failure> {
    let history = &options.history;
    let owned = Owned {
        workload: "conditions",
        which: format!("--tables {}", options.tables),
        made_by: format!(
            "--tables {} --rows {} --elements {} --days {} --payload-bytes {}",
            options.tables,
            history.rows(),
            history.elements(),
            history.days(),
            options.payload_bytes
        ),
    };
    let mut found = owned.open(driver)?;
    for number in 1..=options.tables {
        let name = table_name(number);
        found.require(&name)?;
        found.require_index(&name, INDEXED_COLUMN)?;
        check_history(&mut found, number, options)?;
    }
    Ok(())
}

/// The last row that was loaded shows whether the rows, the elements and the days are the same.
fn check_history(
    found: &mut Found,
    number: usize,
    options: &ConditionsOptions,
) -> Result<(), Failure> {
    let history = &options.history;
    let name = table_name(number);
    let last = history.entry(number, history.rows());
    let begin = format!("SELECT beginTime FROM {name} WHERE dataID={}", last.data_id);
    let elements = format!("SELECT MAX(elementID)+1 FROM {name}");
    let as_expected = found.value(&begin)? == Some(last.begin_s.to_string())
        && found.value(&elements)? == Some(history.elements().to_string());
    if as_expected {
        return Ok(());
    }
    Err(found.remake(&format!(
        "table {name} was made with other --rows, --elements or --days than the run has"
    )))
}
