//! The verbs of the conditions workload.

pub(super) mod args;

use super::Stop;
use super::connect::{Task, target, with_driver};
use super::prepare::{build_tables, drop_tables, engine_for};
use super::run::{Kind, run_load, seed};
use crate::driver::{Admin, Driver};
use crate::engine::Failure;
use crate::target::Target;
use crate::workload::conditions::tables::{ConditionsTables, INDEXED_COLUMN, table_name};
use crate::workload::conditions::{Conditions, ConditionsOptions};
use crate::workload::tables;
use args::{CleanupConditions, PrepareConditions, RunConditions};

/// The data set is the same each time unless another one is asked for.
const DATA_SEED: u64 = 1;
/// Tables that a visit asks unless told otherwise.
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
    let threads = args.threads;
    with_driver(target, PrepareTask { set, threads })
}

pub(super) fn cleanup(args: &CleanupConditions) -> Result<(), Stop> {
    with_driver(target(&args.connection)?, args)
}

pub(super) fn run(args: &RunConditions) -> Result<(), Stop> {
    let options = options(args)?;
    let target = target(&args.connection)?;
    let checks_tables = target != Target::Null;
    with_driver(
        target,
        RunTask {
            args,
            options,
            checks_tables,
        },
    )
}

fn options(args: &RunConditions) -> Result<ConditionsOptions, Stop> {
    let tables = args.conditions.tables;
    let tables_per_visit = match args.tables_per_visit {
        Some(asked) if asked > tables => {
            return Err(Stop::Arguments(format!(
                "--tables-per-visit {asked} is more than there are: --tables {tables}"
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

struct PrepareTask {
    set: ConditionsTables,
    threads: Option<u16>,
}

impl Task for PrepareTask {
    const MAY_CREATE: bool = true;

    fn perform<D: Driver + Send + 'static>(self, driver: D) -> Result<(), Stop> {
        let which = format!("--tables {}", self.set.tables);
        Ok(build_tables(&driver, &self.set, &which, self.threads)?)
    }
}

impl Task for &CleanupConditions {
    fn perform<D: Driver + Send + 'static>(self, driver: D) -> Result<(), Stop> {
        let names = (1..=usize::from(self.tables)).map(table_name);
        Ok(drop_tables(&driver, names)?)
    }
}

struct RunTask<'a> {
    args: &'a RunConditions,
    options: ConditionsOptions,
    checks_tables: bool,
}

impl Task for RunTask<'_> {
    fn perform<D: Driver + Send + 'static>(self, driver: D) -> Result<(), Stop> {
        if self.checks_tables {
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
    let doing = |what: &'static str| move |fault| Failure::from_fault(what, &fault);
    let mut admin = driver.admin().map_err(doing("connecting"))?;
    let looking = doing("looking at the tables");
    for number in 1..=options.tables {
        let name = table_name(number);
        if !tables::exists(&mut *admin, driver.dialect(), &name).map_err(looking)? {
            return Err(Failure::new(
                "tables",
                format!(
                    "table {name} does not exist; `diskproof-load prepare conditions {}` makes it",
                    as_given(options)
                ),
            ));
        }
        let indexed = tables::has_index_on(&mut *admin, driver.dialect(), &name, INDEXED_COLUMN);
        if !indexed.map_err(looking)? {
            return Err(remake(
                options,
                &name,
                "has not the index that answers its questions",
            ));
        }
        check_history(&mut *admin, number, options)?;
    }
    Ok(())
}

/// The last row that was loaded tells whether the rows, the elements and the days are the same.
fn check_history(
    admin: &mut dyn Admin,
    number: usize,
    options: &ConditionsOptions,
) -> Result<(), Failure> {
    let history = &options.history;
    let name = table_name(number);
    let last = history.entry(number, history.rows());
    let value = |admin: &mut dyn Admin, sql: &str| {
        admin
            .query_value(sql)
            .map_err(|fault| Failure::from_fault("looking at the tables", &fault))
    };
    let begin = format!("SELECT beginTime FROM {name} WHERE dataID={}", last.data_id);
    let elements = format!("SELECT MAX(elementID)+1 FROM {name}");
    let as_expected = value(admin, &begin)? == Some(last.begin_s.to_string())
        && value(admin, &elements)? == Some(history.elements().to_string());
    if as_expected {
        return Ok(());
    }
    Err(remake(
        options,
        &name,
        "was made with other --rows, --elements or --days than are asked for",
    ))
}

/// The options by which `prepare` makes the tables that the run asks for.
fn as_given(options: &ConditionsOptions) -> String {
    let history = &options.history;
    format!(
        "--tables {} --rows {} --elements {} --days {} --payload-bytes {}",
        options.tables,
        history.rows(),
        history.elements(),
        history.days(),
        options.payload_bytes
    )
}

fn remake(options: &ConditionsOptions, name: &str, what: &str) -> Failure {
    Failure::new(
        "tables",
        format!(
            "table {name} {what}; make the tables anew with `diskproof-load cleanup conditions --tables {}` and \
             `prepare conditions {}`",
            options.tables,
            as_given(options)
        ),
    )
}
