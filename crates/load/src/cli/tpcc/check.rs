//! Holds the tables to what the specification says of them.

use std::io::Write;
use std::time::Instant;

use serde::Serialize;

use super::args::CheckTpcc;
use crate::cli::Stop;
use crate::cli::connect::{Task, target, with_driver};
use crate::cli::prepare::working;
use crate::cli::tables::{Found, Owned};
use crate::driver::Driver;
use crate::engine::Failure;
use crate::plain::Plain;
use crate::workload::tpcc::ORDERS_LOADED;
use crate::workload::tpcc::consistency::{cardinalities, conditions};
use crate::workload::tpcc::tables::{NAMES, ORDERS, WAREHOUSE, known_by};

pub(super) fn check(args: &CheckTpcc) -> Result<(), Stop> {
    with_driver(target(&args.connection)?, CheckTask(args))
}

struct CheckTask<'a>(&'a CheckTpcc);

/// All that was found out.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename = "checked")]
struct Checked {
    warehouses: u64,
    rows: Vec<Counted>,
    conditions: Vec<Outcome>,
}

#[derive(Debug, Serialize)]
struct Counted {
    table: &'static str,
    rows: u64,
    /// What the specification has; `None` if the table grows.
    expected: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Outcome {
    number: u32,
    says: &'static str,
    places: &'static str,
    /// Places that break the condition.
    broken: u64,
    first_warehouse: Option<u64>,
    seconds: f64,
}

impl Checked {
    /// Why the tables are not consistent; `None` if they are.
    fn complaint(&self) -> Option<String> {
        let rows = self.rows.iter().filter_map(|one| {
            let expected = one.expected.filter(|rows| *rows != one.rows)?;
            Some(format!(
                "{} has {} rows, and --warehouses {} requires {expected}",
                one.table, one.rows, self.warehouses
            ))
        });
        let broken = self.conditions.iter().filter(|one| one.broken > 0);
        let broken = broken.map(|one| {
            format!(
                "condition {} is broken in {} {}",
                one.number, one.broken, one.places
            )
        });
        let all: Vec<_> = rows.chain(broken).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    fn tell(&self, out: &mut impl Write) -> std::io::Result<()> {
        for one in &self.rows {
            let expected = match one.expected {
                Some(rows) if rows != one.rows => format!("  WRONG: clause 1.2.1 requires {rows}"),
                _ => String::new(),
            };
            writeln!(out, "{:<18} {:>12} rows{expected}", one.table, one.rows)?;
        }
        for one in &self.conditions {
            let outcome = match (one.broken, one.first_warehouse) {
                (0, _) => "holds".to_owned(),
                (broken, None) => format!("BROKEN in {broken} {}", one.places),
                (broken, Some(first)) => {
                    format!(
                        "BROKEN in {broken} {}, first in warehouse {first}",
                        one.places
                    )
                }
            };
            writeln!(
                out,
                "condition {:>2}  {outcome:<8}  {}  ({:.2} s)",
                one.number, one.says, one.seconds
            )?;
        }
        out.flush()
    }
}

impl Task for CheckTask<'_> {
    fn perform<D: Driver + Send + 'static>(self, driver: D) -> Result<(), Stop> {
        let Self(args) = self;
        let warehouses = args.tpcc.warehouses;
        if !driver.has_tables() {
            return Err(Stop::Arguments("null: has no tables to check".into()));
        }
        require_tables(&driver, None, false)?;
        let checked = look(&driver, warehouses)?;
        let told = if args.json {
            let line = serde_json::to_string(&checked).map_err(Failure::internal)?;
            writeln!(Plain(std::io::stdout()), "{line}")
        } else {
            checked.tell(&mut Plain(std::io::stdout()))
        };
        told.map_err(Failure::internal)?;
        match checked.complaint() {
            // A program reads that in the line.
            Some(complaint) if !args.json => Err(Failure::new("tables", complaint).into()),
            _ => Ok(()),
        }
    }
}

fn look<D: Driver>(driver: &D, warehouses: u64) -> Result<Checked, Failure> {
    let mut admin = working(driver)?;
    let mut number = |sql: &str| -> Result<u64, Failure> {
        let value = admin.query_value(sql);
        let value = value.map_err(|fault| Failure::from_fault("checking the tables", &fault))?;
        let number = value.and_then(|text| text.parse().ok());
        // A count that is not there must not pass for one of nothing broken.
        number.ok_or_else(|| Failure::new("tables", format!("no number answers {sql}")))
    };
    let fixed = cardinalities(warehouses);
    let mut rows = Vec::new();
    for table in NAMES {
        let found = number(&format!("SELECT COUNT(*) FROM {table}"))?;
        rows.push(Counted {
            table,
            rows: found,
            expected: fixed
                .iter()
                .find(|(name, _)| *name == table)
                .map(|(_, rows)| *rows),
        });
    }
    let mut outcomes = Vec::new();
    for condition in conditions() {
        let began = Instant::now();
        let broken = number(&condition.count())?;
        let first_warehouse = match broken {
            0 => None,
            _ => Some(number(&condition.first_warehouse())?),
        };
        outcomes.push(Outcome {
            number: condition.number,
            says: condition.says,
            places: condition.places,
            broken,
            first_warehouse,
            seconds: began.elapsed().as_secs_f64(),
        });
    }
    Ok(Checked {
        warehouses,
        rows,
        conditions: outcomes,
    })
}

/// Checks before a run that the tables are ours, and of so many warehouses; `untouched`: nothing has
/// been ordered yet.
pub(super) fn require_tables<D: Driver>(
    driver: &D,
    warehouses: Option<u64>,
    untouched: bool,
) -> Result<(), Failure> {
    let mut found = owned(warehouses).open(driver)?;
    for name in NAMES {
        found.require(name)?;
        found.require_columns(name, &known_by(name))?;
    }
    let Some(asked) = warehouses else {
        return Ok(());
    };
    let there = found
        .number(&format!("SELECT COUNT(*) FROM {WAREHOUSE}"))?
        .unwrap_or(0);
    if there != asked {
        return Err(found.remake(&format!(
            "table {WAREHOUSE} has {there} warehouses, but the run has --warehouses {asked}"
        )));
    }
    if untouched {
        // No district has more orders than it was loaded with.
        let last = found.number(&format!("SELECT MAX(o_id) FROM {ORDERS}"))?;
        if last != Some(ORDERS_LOADED) {
            return Err(found.remake(&format!(
                "table {ORDERS} holds orders of an earlier run, and --acknowledgements needs tables as \
                 `prepare` made them"
            )));
        }
    }
    require_transactions(&mut found)
}

fn require_transactions(found: &mut Found) -> Result<(), Failure> {
    for name in NAMES {
        if found.is_transactional(name)? == Some(false) {
            return Err(found.remake(&format!(
                "table {name} has a storage engine without transactions"
            )));
        }
    }
    Ok(())
}

/// Refuses to drop tables that bear our names and are not ours.
pub(super) fn refuse_foreign<D: Driver>(driver: &D) -> Result<(), Failure> {
    let mut found = owned(None).open(driver)?;
    for name in NAMES {
        if found.exists(name)? {
            found.require_columns(name, &known_by(name))?;
        }
    }
    Ok(())
}

fn owned(warehouses: Option<u64>) -> Owned {
    let number = warehouses.map_or("N".to_owned(), |number| number.to_string());
    Owned {
        workload: "tpcc",
        which: String::new(),
        made_by: format!("--warehouses {number}"),
    }
}
