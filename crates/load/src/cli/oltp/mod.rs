//! The verbs of the OLTP workload.

pub(super) mod args;
mod check;
mod counts;
mod distribution;

use super::Stop;
use super::connect::{Task, target, with_driver};
use super::prepare::{Build, Drop, engine_for};
use super::run::{Kind, run_load, seed};
use crate::driver::{Dialect, Driver};
use crate::target::Target;
use crate::workload::digits::Filling;
use crate::workload::oltp::tables::OltpTables;
use crate::workload::oltp::{Bracket, Oltp, OltpOptions, Schema};
use args::{CleanupOltp, EngineTrx, OltpArgs, PrepareOltp, RunOltp};
use check::check_tables;

/// The data set is the same each time unless another one is asked for.
const DATA_SEED: u64 = 1;

pub(super) fn prepare(args: &PrepareOltp) -> Result<(), Stop> {
    check(&args.oltp)?;
    let target = target(&args.connection)?;
    let set = OltpTables {
        schema: args.oltp.schema,
        tables: args.oltp.tables.into(),
        rows: args.oltp.rows,
        unsigned: args.oltp.mix().is_legacy() || args.oltp.schema == Schema::Single,
        distribution: args.oltp.distribution.law()?,
        seed: args.oltp.seed.unwrap_or(DATA_SEED),
        engine: engine_for(&target, args.engine.as_deref())?,
        filling: args.oltp.filling(),
    };
    if set.filling != Filling::RANDOM {
        tell!(
            "LZ4 makes c and pad {:.2} times smaller",
            set.filling.measured()
        );
    }
    let which = which_tables(set.schema, set.tables);
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

pub(super) fn cleanup(args: &CleanupOltp) -> Result<(), Stop> {
    one_table(args.schema, args.tables)?;
    let numbers = 1..=usize::from(args.tables);
    let names = numbers.map(|number| args.schema.table_name(number));
    with_driver(target(&args.connection)?, Drop(names.collect()))
}

pub(super) fn run(args: &RunOltp) -> Result<(), Stop> {
    let options = options(args)?;
    let target = target(&args.connection)?;
    if args.engine_trx == EngineTrx::No && !matches!(target, Target::Mysql(_)) {
        return Err(Stop::Arguments(
            "--engine-trx no uses LOCK TABLES, which only the MySQL family has in this form; leave it out"
                .into(),
        ));
    }
    with_driver(target, RunTask { args, options })
}

/// The options of the run, as far as they are known without the tables.
fn options(args: &RunOltp) -> Result<OltpOptions, Stop> {
    let OltpArgs {
        schema,
        tables,
        rows,
        ..
    } = args.oltp;
    let mix = args.oltp.mix();
    check(&args.oltp)?;
    let law = args.oltp.distribution.law()?;
    let counts = args.counts.of(mix, schema)?;
    let bracket = match args.engine_trx {
        _ if args.skip_trx => Bracket::None,
        EngineTrx::No => Bracket::Locks,
        EngineTrx::Auto | EngineTrx::Yes => Bracket::Transaction,
    };
    Ok(OltpOptions {
        schema,
        counts,
        range_rows: args.counts.range_size,
        table_per: args.table_per.unwrap_or_else(|| mix.default_table_per()),
        bracket,
        update_before_delete: args.counts.update_before_delete,
        reconnect: args.reconnect,
        filling: args.oltp.filling(),
        ..OltpOptions::new(mix, tables.into(), rows, law, seed(args.oltp.seed))
    })
}

fn check(args: &OltpArgs) -> Result<(), Stop> {
    one_table(args.schema, args.tables)?;
    if args.schema == Schema::Single && !args.mix().is_in_0_4() {
        return Err(Stop::Arguments(format!(
            "sysbench 0.4 has no --mix {} on its table sbtest; choose complex, read-only, point-select, update-index \
             or update-non-index, or --schema sbtestN",
            args.mix().name()
        )));
    }
    if args.schema == Schema::Single && args.compressible.is_some() {
        return Err(Stop::Arguments(
            "--compressible is for the random digits of --schema sbtestN; leave one of them out"
                .into(),
        ));
    }
    Ok(())
}

fn one_table(schema: Schema, tables: u16) -> Result<(), Stop> {
    if schema == Schema::Single && tables > 1 {
        return Err(Stop::Arguments(format!(
            "--schema sbtest has one table, not {tables}; leave --tables out"
        )));
    }
    Ok(())
}

/// The options that name the tables, for all verbs alike.
fn which_tables(schema: Schema, tables: usize) -> String {
    match schema {
        Schema::Numbered => format!("--tables {tables}"),
        Schema::Single => format!("--schema {}", schema.name()),
    }
}

struct RunTask<'a> {
    args: &'a RunOltp,
    options: OltpOptions,
}

impl Task for RunTask<'_> {
    fn perform<D: Driver + Send + 'static>(self, driver: D) -> Result<(), Stop> {
        let mut options = self.options;
        if driver.has_tables() {
            let transactional = check_tables(&driver, &options)?;
            let looks = self.args.engine_trx == EngineTrx::Auto && !self.args.skip_trx;
            let is_legacy = options.mix.is_legacy() || options.schema == Schema::Single;
            if looks && is_legacy && transactional == Some(false) {
                options.bracket = Bracket::Locks;
            }
        }
        let default_protocol = || options.mix.default_protocol(options.schema);
        let kind = Kind {
            workload: "oltp",
            mix: options.mix.name().into(),
            protocol: self.args.protocol.map_or_else(default_protocol, Into::into),
            seed: options.seed,
        };
        let dialect: Dialect = driver.dialect();
        run_load(driver, Oltp::new(&options, dialect), kind, &self.args.load)
    }
}
