//! insert: a table of 300,000 rows with two keys, and nearly everything that can be asked of it,
//! done to it, and deleted from it; then a table with many keys.
//!
//! Row i holds i in each of its three numbers, so that an answer's rows follow from its bounds.
//!
//! Differences from the original: random keys come from another generator (those of
//! `insert_duplicates` and `select_key…` from the first third of the table, there from its first 44
//! %); the lists and the ranges behind `select_range_…` follow each other at once; `select_join_in`
//! has three tables in place of one that grows; `delete_all_many_keys` is timed alone; and
//! `once_prepared_select` is prepared by MySQL too, while the original's driver only put the value
//! in. `select_range_…`, `select_group`, `outer_join_not_found` and `delete_range` report the
//! figure that the original prints, which is not the number of its statements.

mod changes;
mod deletions;
mod extremes;
mod joins;
mod keys;
mod many_keys;
mod prepared;
mod ranges;
mod shapes;
mod sorts;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::operation::Operation;
use super::scale::Scale;
use super::schema::Table;
use super::shuffle::shuffled;
use super::{Plan, Test, TestName};
use crate::driver::Kind;

const TABLE: &str = "sqlbench_bench1";
const COLUMNS: &str = "id,id2,id3,dummy1";
/// Rows in each of the three orders in which the table is filled.
const ROWS_IN_AN_ORDER: u64 = 100_000;
const SHORT_LOOPS: u64 = 500;
const WHOLE_TABLE_LOOPS: u64 = 10;

/// The table's size and the loops over it.
#[derive(Debug, Clone)]
struct Size {
    /// Rows in one of the three orders.
    part: u64,
    rows: u64,
    scale: Scale,
    /// The numbers below `part` in random order.
    order: Arc<[u32]>,
}

impl Size {
    fn new(scale: Scale) -> Self {
        let part = scale.of(ROWS_IN_AN_ORDER);
        Self {
            part,
            rows: 3 * part,
            scale,
            order: shuffled(part, 1),
        }
    }

    fn of(&self, full: u64) -> u64 {
        self.scale.of(full)
    }

    /// A number below `part`, in random order.
    fn any(&self, index: u64) -> u64 {
        u64::from(self.order[super::operation::which(index, self.order.len())])
    }

    /// A row of the last third, in random order.
    fn in_last_third(&self, index: u64) -> u64 {
        2 * self.part + self.any(index)
    }

    /// Rows of the last third; their second key is made negative one by one.
    fn turned(&self) -> u64 {
        self.part / 2
    }
}

pub(super) fn test(plan: &Plan) -> Test {
    let size = &Size::new(plan.scale);
    let mut operations = fill(plan, size);
    operations.extend(prepared::operations(plan, size));
    operations.extend(sorts::operations(size));
    operations.extend(ranges::operations(size));
    operations.extend(keys::operations(size));
    operations.extend(extremes::operations(size));
    operations.extend(changes::operations(plan, size));
    operations.extend(joins::operations(plan, size));
    operations.extend(deletions::operations(plan, size));
    operations.extend(many_keys::operations(plan, size));
    operations.push(multiple_value_insert(plan, size));
    Test {
        name: TestName::Insert,
        operations,
    }
}

/// A table of the test's kind with its primary key.
fn table(name: &str) -> Table {
    Table::new(
        name,
        [
            "id INTEGER NOT NULL",
            "id2 INTEGER NOT NULL",
            "id3 INTEGER NOT NULL",
            "dummy1 CHAR(30)",
        ],
    )
    .primary_key("id,id2")
}

/// The first third in ascending order, the last in descending order, the second in random order;
/// then some of the rows again.
fn fill(plan: &Plan, size: &Size) -> Vec<Operation> {
    let (part, rows) = (size.part, size.rows);
    let create = table("bench1").index("id3").create(&plan.maker);
    let random = size.clone();
    let insert = Operation::new("insert", Kind::Write, rows, move |turn, steps| {
        let number = turn.index % part;
        let (id, text) = match turn.index / part {
            0 => (number, "ABCDEFGHIJ"),
            1 => (rows - 1 - number, "BCDEFGHIJK"),
            _ => (part + random.any(number), "CDEFGHIJKL"),
        };
        steps.change(
            1,
            format_args!("INSERT INTO {TABLE} ({COLUMNS}) VALUES ({id},{id},{id},'{text}')"),
        );
    });
    let random = size.clone();
    let duplicates = Operation::new(
        "insert_duplicates",
        Kind::Write,
        part,
        move |turn, steps| {
            let id = random.any(turn.index);
            steps.change(
                0,
                format_args!("INSERT INTO {TABLE} ({COLUMNS}) VALUES ({id},{id},2,'D')"),
            );
        },
    );
    vec![
        insert
            .before(create)
            .then_holds(format!("SELECT COUNT(*) FROM {TABLE}"), rows),
        duplicates
            .is_refused()
            .then_holds(format!("SELECT COUNT(*) FROM {TABLE}"), rows),
    ]
}

/// Many rows to a statement: as many as fit into 1,000,000 bytes, which the original takes for the
/// longest. It counts the rows.
fn multiple_value_insert(plan: &Plan, size: &Size) -> Operation {
    const ROWS_AT_ONCE: u64 = 30_000;
    let rows = size.part;
    Operation::new(
        "multiple_value_insert",
        Kind::Write,
        rows.div_ceil(ROWS_AT_ONCE),
        move |turn, steps| {
            let first = turn.index * ROWS_AT_ONCE;
            let ids = first..rows.min(first + ROWS_AT_ONCE);
            let count = ids.end - ids.start;
            let values: Vec<_> = ids
                .map(|id| format!("({id},{id},{id},'EFGHIJKLM')"))
                .collect();
            let values = values.join(",");
            steps.change(
                count,
                format_args!("INSERT INTO sqlbench_bench4 VALUES {values}"),
            );
        },
    )
    .counts_rows(rows)
    .before(table("bench4").index("id3").create(&plan.maker))
    .then_holds("SELECT COUNT(*) FROM sqlbench_bench4", rows)
}
