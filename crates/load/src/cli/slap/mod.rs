//! The verbs of the slap workload.

pub(super) mod args;
mod job;

use super::Stop;
use super::connect::{Task, target, with_driver};
use super::prepare::tell_dropped;
use super::run::{Kind, run_job};
use crate::driver::{Dialect, Driver, Protocol};
use crate::engine::Failure;
use crate::workload::slap::{self, KeyColumn, LoadType, SlapOptions, TABLE};
use crate::workload::tables;
use args::{CleanupSlap, RunSlap};
use job::SlapJob;

/// Limit for all different statements together.
const MOST_STATEMENTS_BYTES: u64 = 256 << 20;

pub(super) fn prepare() -> Result<(), Stop> {
    Err(Stop::Arguments(
        "slap needs no preparation, because each iteration makes, fills and drops its own table; \
         start with `diskproof-load run slap`"
            .into(),
    ))
}

pub(super) fn cleanup(args: &CleanupSlap) -> Result<(), Stop> {
    with_driver(target(&args.connection)?, args)
}

pub(super) fn run(args: &RunSlap) -> Result<(), Stop> {
    let options = options(args)?;
    with_driver(target(&args.connection)?, RunTask { args, options })
}

impl Task for &CleanupSlap {
    fn perform<D: Driver + Send + 'static>(self, driver: D) -> Result<(), Stop> {
        let doing = |what: &'static str| move |fault| Failure::from_fault(what, &fault);
        let mut admin = driver.admin().map_err(doing("connecting"))?;
        let exists = tables::exists(&mut *admin, driver.dialect(), TABLE)
            .map_err(doing("looking for the table"))?;
        admin.begin_work().map_err(doing("dropping the table"))?;
        slap::drop(&mut *admin).map_err(doing("dropping the table"))?;
        tell_dropped(usize::from(exists));
        Ok(())
    }
}

struct RunTask<'a> {
    args: &'a RunSlap,
    options: SlapOptions,
}

impl Task for RunTask<'_> {
    /// The run creates all that it needs, an SQLite file too.
    const MAY_CREATE: bool = true;

    fn perform<D: Driver + Send + 'static>(self, driver: D) -> Result<(), Stop> {
        let Self { args, options } = self;
        if options.engine.is_some() && driver.dialect() != Dialect::Mysql {
            let message =
                "--engine: only the MySQL family has a choice of storage engines; leave it out";
            return Err(Stop::Arguments(message.into()));
        }
        refuse_existing(&driver)?;
        let kind = Kind {
            workload: "slap",
            mix: options.load_type.name().into(),
            protocol: Protocol::Text,
            seed: options.seed,
        };
        let clients = args.job.crowd.clients;
        if let Some(rounding) = args
            .queries
            .and_then(|asked| rounding(asked, clients, &options))
        {
            tell!("{rounding}");
        }
        let mut job = SlapJob::new(options, driver.dialect(), clients, args.iterations);
        run_job(driver, &mut job, kind, &args.job)
    }
}

/// That many keys take about 100 MB.
const MOST_WITH_KEYS: u64 = 1_000_000;

/// The arguments as the workload takes them, those refused that contradict one another.
fn options(args: &RunSlap) -> Result<SlapOptions, Stop> {
    let key = match (args.auto_increment, args.guid_primary) {
        (true, _) => KeyColumn::AutoIncrement,
        (_, true) => KeyColumn::Guid,
        _ => KeyColumn::None,
    };
    let asks_by_key = args.load_type.asks_by_key(key);
    let refusal = if args.int_columns + args.char_columns == 0 {
        "--int-columns 0 and --char-columns 0 leave the table without columns; raise one of them"
    } else if args.load_type == LoadType::Key && key == KeyColumn::None {
        "--load-type key reads rows by key; add --auto-increment or --guid-primary"
    } else if asks_by_key && args.write_number == 1 {
        "--write-number 1 loads no rows (it counts the CREATE TABLE), so there is no key to read; raise it"
    } else if asks_by_key && args.write_number > MOST_WITH_KEYS {
        "--write-number: at most 1000000 rows can be read by key, because every key is held in memory"
    } else if statements_bytes(args) > MOST_STATEMENTS_BYTES {
        "--unique-queries and --unique-write make more than 256 MiB of statements, and all are kept in memory; use fewer of them, or \
             fewer columns"
    } else {
        return Ok(SlapOptions {
            load_type: args.load_type,
            int_columns: args.int_columns,
            char_columns: args.char_columns,
            key,
            secondary_indexes: args.secondary_indexes,
            engine: args.engine.clone(),
            rows: args.write_number - 1,
            unique_writes: args.unique_write,
            unique_queries: args.unique_queries,
            queries_per_client: share(args.queries, args.job.crowd.clients),
            commit: args.commit,
            detach: args.detach,
            seed: args.seed,
        });
    };
    Err(Stop::Arguments(refusal.into()))
}

/// About how long the different statements are together.
fn statements_bytes(args: &RunSlap) -> u64 {
    const INT_BYTES: u64 = 11;
    const CHAR_BYTES: u64 = 129;
    let (ints, chars) = (u64::from(args.int_columns), u64::from(args.char_columns));
    (args.unique_queries + args.unique_write) * (ints * INT_BYTES + chars * CHAR_BYTES)
}

/// The number of queries that is really run, if it differs from --queries.
fn rounding(asked: u64, clients: u32, options: &SlapOptions) -> Option<String> {
    let list = options.unique_queries + 1;
    let each = options.queries_per_client.unwrap_or(list);
    let all = each * u64::from(clients);
    let why = match options.queries_per_client {
        Some(_) => format!("each of {clients} clients runs {each}, the share rounded down"),
        None => format!(
            "there is not one for each of {clients} clients, and each goes once through the list of {list}"
        ),
    };
    (all != asked).then(|| {
        format!("--queries {asked}: {all} are run in each iteration; {why}, as in mysqlslap")
    })
}

/// Each client's share of the queries; `None` if there is less than one for each: the list once.
fn share(queries: Option<u64>, clients: u32) -> Option<u64> {
    let share = queries? / u64::from(clients);
    (share > 0).then_some(share)
}

/// The run must not drop a table that was there before.
fn refuse_existing<D: Driver>(driver: &D) -> Result<(), Failure> {
    let doing = |what: &'static str| move |fault| Failure::from_fault(what, &fault);
    let mut admin = driver.admin().map_err(doing("connecting"))?;
    let exists = tables::exists(&mut *admin, driver.dialect(), TABLE)
        .map_err(doing("looking for the table"))?;
    if !exists {
        return Ok(());
    }
    Err(Failure::new(
        "tables",
        format!("table {TABLE} exists already; drop it with `diskproof-load cleanup slap` first"),
    ))
}
