//! Workloads whose tables are a script's, and whose clients are not: speed forbids it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Plan, oltp, options, ready};
use crate::cli::Stop;
use crate::cli::args::Load;
use crate::cli::run::run_load;
use crate::driver::Driver;
use crate::workload::ledger::{Acknowledgements, Ledger, LedgerOptions};
use crate::workload::lua::LuaOptions;
use crate::workload::oltp::Oltp;
use crate::workload::script::{ScriptOptions, ScriptWorkload, Source, Value, Weighted};
use crate::workload::sql::{Errand, Fence};
use crate::workload::tpcc::{Tpcc, TpccOptions};

/// The percentile that TPC-C limits (clause 5.2.5.3).
const LIMITED_PERCENTILE: f64 = 90.0;

pub(super) fn run<D: Driver>(
    driver: D,
    name: &'static str,
    options: LuaOptions,
    mut load: Load,
) -> Result<(), Stop> {
    let given = options.given.clone();
    let number = |name: &str| options::number::<u64>(&given, name);
    let has = |wanted: &str| given.iter().any(|(name, _)| name == wanted);
    let file: Option<PathBuf> = options::number(&given, "acknowledgements");
    let acknowledgements = file
        .as_deref()
        .map(|path| create_acknowledgements(path, load.crowd.dilation))
        .transpose()?;
    let clients = load.crowd.clients;
    let checked = ready(&driver, name, options, clients);
    let (conducting, plan, kind) = checked.inspect_err(|_| forget(file.as_deref()))?;
    let (seed, dialect) = (kind.seed, driver.dialect());
    match name {
        "ledger" => {
            let options = LedgerOptions {
                accounts: number("accounts").unwrap_or(2),
                filler_bytes: options::number(&given, "filler-bytes").unwrap_or(0),
                seed,
                acknowledgements,
                bears_errors: has("bear-errors"),
            };
            run_load(driver, Ledger::new(options, dialect), kind, &load)
        }
        "tpcc" => {
            let options = TpccOptions {
                warehouses: number("warehouses").unwrap_or(1),
                terminals: clients as usize,
                seed,
                acknowledgements,
                has_tables: driver.has_tables(),
            };
            if !load.output.percentiles.contains(&LIMITED_PERCENTILE) {
                load.output.percentiles.push(LIMITED_PERCENTILE);
            }
            let workload = Tpcc::new(options, conducting.catalogue()?);
            drop(conducting);
            run_load(driver, workload, kind, &load)
        }
        "oltp" => {
            let options = oltp::run(&given, plan.locks, seed);
            run_load(driver, Oltp::new(&options, dialect), kind, &load)
        }
        _ => {
            let scale = number("scale").unwrap_or(1).cast_signed();
            let options = ScriptOptions {
                files: weighted(plan),
                variables: vec![("scale".into(), Value::Int(scale))],
                protocol: kind.protocol,
                seed,
                fence: Fence::none(dialect, Errand::Measured),
            };
            let workload = ScriptWorkload::new(options, dialect)?;
            run_load(driver, workload, kind, &load)
        }
    }
}

fn weighted(plan: Plan) -> Vec<Weighted> {
    let weighted = |(name, text, weight)| Weighted {
        source: Source { name, text },
        weight,
    };
    plan.scripts.into_iter().map(weighted).collect()
}

/// Makes the file of acknowledgements before anything is started.
pub(in crate::cli) fn create_acknowledgements(
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
pub(in crate::cli) fn forget(path: Option<&Path>) {
    if let Some(path) = path {
        let _ = fs::remove_file(path);
    }
}
