//! select: ranges, extremes, counts and groups over one table of 10,000 rows with three keys of
//! several parts.
//!
//! Differences from the original: conditions of `select_range` come from our own generator, and no
//! query before `select_cache` reads the table into memory.

mod big;
mod groups;
mod on_keys;
mod rows;

use super::operation::Operation;
use super::schema::Table;
use super::{Plan, Test, TestName};
use crate::driver::Kind;
use rows::Row;

const TABLE: &str = "sqlbench_bench1";
const ROWS: u64 = 10_000;
const LONG_LOOPS: u64 = 10_000;
const LOOPS: u64 = 1000;
const SHORT_LOOPS: u64 = 10;

pub(super) fn test(plan: &Plan) -> Test {
    let rows = plan.scale.of(ROWS);
    let mut operations = vec![insert(plan, rows)];
    operations.extend(cached(plan));
    operations.push(big::look_ups(plan, rows));
    operations.push(big::ranges(plan, rows));
    operations.extend(on_keys::operations(plan));
    operations.extend(groups::operations(plan, rows));
    Test {
        name: TestName::Select,
        operations,
    }
}

/// The first half by position and the second by the columns' names.
fn insert(plan: &Plan, rows: u64) -> Operation {
    let table = Table::new(
        "bench1",
        [
            "region CHAR(1) NOT NULL",
            "idn INTEGER NOT NULL",
            "rev_idn INTEGER NOT NULL",
            "grp INTEGER NOT NULL",
        ],
    )
    .primary_key("region,idn")
    .unique("region,rev_idn")
    .unique("region,grp,idn");
    Operation::new("insert", Kind::Write, rows, move |turn, steps| {
        let names = if turn.index > rows / 2 {
            " (region,idn,rev_idn,grp)"
        } else {
            ""
        };
        let row = Row::new(turn.index, rows);
        let (region, idn, rev_idn, grp) = (row.letter(), row.idn, row.rev_idn, row.grp);
        steps.change(
            1,
            format_args!("INSERT INTO {TABLE}{names} VALUES ('{region}',{idn},{rev_idn},{grp})"),
        );
    })
    .before(table.create(&plan.maker))
}

/// Sums over the whole table: always the same text, and never the same twice. The difference is
/// what a query cache saves.
fn cached(plan: &Plan) -> [Operation; 2] {
    let loops = plan.scale.of(LONG_LOOPS);
    let sums = |term| format!("SELECT SUM(idn+{term}),SUM(rev_idn-{term}) FROM {TABLE}");
    [
        Operation::query("select_cache", loops, 1, &sums(100)),
        Operation::new("select_cache2", Kind::Read, loops, move |turn, steps| {
            steps.ask(1, format_args!("{}", sums(turn.index)));
        }),
    ]
}
