//! The verbs of the TPC-C workload.

pub(super) mod args;
mod check;

use super::Stop;
use super::args::Load;
use super::connect::{Task, target, with_driver};
use super::ledger::{create_acknowledgements, forget};
use super::prepare::{Build, drop_tables};
use super::run::{Kind, run_load, seed};
use crate::driver::Driver;
use crate::workload::tpcc::tables::{NAMES, TpccTables};
use crate::workload::tpcc::{Tpcc, TpccOptions, deliverers, terminals};
use args::{CheckTpcc, CleanupTpcc, PrepareTpcc, RunTpcc};
use check::{refuse_foreign, require_tables};

/// The percentile that the specification limits (clause 5.2.5.3).
const LIMITED_PERCENTILE: f64 = 90.0;

pub(super) fn prepare(args: &PrepareTpcc) -> Result<(), Stop> {
    let build = Build {
        set: TpccTables {
            warehouses: args.tpcc.warehouses,
            seed: args.seed,
        },
        which: String::new(),
        threads: args.threads,
    };
    with_driver(target(&args.connection)?, build)
}

pub(super) fn check(args: &CheckTpcc) -> Result<(), Stop> {
    check::check(args)
}

pub(super) fn cleanup(args: &CleanupTpcc) -> Result<(), Stop> {
    with_driver(target(&args.connection)?, args)
}

pub(super) fn run(args: &RunTpcc) -> Result<(), Stop> {
    with_driver(target(&args.connection)?, RunTask(args))
}

impl Task for &CleanupTpcc {
    fn perform<D: Driver + Send + 'static>(self, driver: D) -> Result<(), Stop> {
        refuse_foreign(&driver)?;
        Ok(drop_tables(&driver, NAMES.map(str::to_owned))?)
    }
}

struct RunTask<'a>(&'a RunTpcc);

impl Task for RunTask<'_> {
    fn perform<D: Driver + Send + 'static>(self, driver: D) -> Result<(), Stop> {
        let Self(args) = self;
        let warehouses = args.tpcc.warehouses;
        let load = load(args)?;
        let file = args.acknowledgements.as_deref();
        let dilation = args.load.crowd.dilation;
        let acknowledgements = file
            .map(|path| create_acknowledgements(path, dilation))
            .transpose()?;
        if driver.has_tables() {
            require_tables(&driver, Some(warehouses), file.is_some())
                .inspect_err(|_| forget(file))?;
        }
        let options = TpccOptions {
            warehouses,
            terminals: args.load.crowd.clients as usize,
            think_times: args.think_times,
            seed: seed(args.seed),
            acknowledgements,
            dilation,
            has_tables: driver.has_tables(),
        };
        let kind = Kind {
            workload: "tpcc",
            mix: if args.think_times {
                "think times"
            } else {
                "no think time"
            }
            .into(),
            protocol: args.protocol.into(),
            seed: options.seed,
        };
        let workload = Tpcc::new(options, driver.dialect());
        run_load(driver, workload, kind, &load)
    }
}

/// The load with the clients that execute deliveries, and with the percentile that has a limit.
fn load(args: &RunTpcc) -> Result<Load, Stop> {
    let mut load = args.load.clone();
    if !load.output.percentiles.contains(&LIMITED_PERCENTILE) {
        load.output.percentiles.push(LIMITED_PERCENTILE);
    }
    if !args.think_times {
        return Ok(load);
    }
    let warehouses = args.tpcc.warehouses;
    let (asked, needed) = (u64::from(load.crowd.clients), terminals(warehouses));
    if asked != needed {
        return Err(Stop::Arguments(format!(
            "--think-times has ten terminals for each warehouse (clause 4.2.2), so {warehouses} warehouses \
             need --clients {needed}, not {asked}"
        )));
    }
    let all = needed + deliverers(warehouses) as u64;
    load.crowd.clients = u32::try_from(all).map_err(|error| Stop::Arguments(error.to_string()))?;
    Ok(load)
}
