//! A table with a key on each of its sixteen columns: filled, its primary key changed, emptied.

use std::fmt::Write;

use super::Size;
use crate::driver::Kind;
use crate::workload::sqlbench::Plan;
use crate::workload::sqlbench::operation::Operation;
use crate::workload::sqlbench::schema::Table;

const TABLE: &str = "sqlbench_many_keys";
const COLUMNS: u64 = 16;
const KEY_UPDATES: u64 = 256;
/// Ranges that hold the first half of the table.
const DELETIONS: u64 = 128;

pub(super) fn operations(plan: &Plan, size: &Size) -> [Operation; 4] {
    let rows = size.part;
    let columns = (1..=COLUMNS).map(|number| format!("field{number} INTEGER NOT NULL"));
    let table = (2..=COLUMNS).fold(
        Table::new("many_keys", columns).primary_key("field1"),
        |table, number| table.index(&format!("field{number}")),
    );
    let count = format!("SELECT COUNT(*) FROM {TABLE}");
    let insert = Operation::new("insert_key", Kind::Write, rows, |turn, steps| {
        let mut values = turn.index.to_string();
        for column in 2..=COLUMNS {
            // Writing to memory cannot fail.
            let _ = write!(values, ",{}", scattered(turn.index, column));
        }
        steps.change(1, format_args!("INSERT INTO {TABLE} VALUES ({values})"));
    });
    let updates = size.of(KEY_UPDATES);
    let update = Operation::new(
        "update_of_primary_key_many_keys",
        Kind::Write,
        updates,
        move |turn, steps| {
            let (from, end) = part(rows, updates, turn.index);
            steps.change(
                end - from,
                format_args!(
                    "UPDATE {TABLE} SET field1=field1+{rows} WHERE field1>={from} AND field1<{end}"
                ),
            );
        },
    );
    let deletions = size.of(DELETIONS);
    let delete = Operation::new(
        "delete_big_many_keys",
        Kind::Write,
        deletions,
        move |turn, steps| {
            let (from, end) = part(rows / 2, deletions, turn.index);
            let (first, last) = (rows + from, rows + end);
            steps.change(
                end - from,
                format_args!("DELETE FROM {TABLE} WHERE field1>={first} AND field1<{last}"),
            );
        },
    );
    let delete_all = Operation::new("delete_all_many_keys", Kind::Write, 1, move |_, steps| {
        steps.change(rows - rows / 2, format_args!("DELETE FROM {TABLE}"));
    });
    [
        insert
            .before(table.create(&plan.maker))
            .then_holds(&count, rows),
        update.then_holds(format!("{count} WHERE field1>={rows}"), rows),
        delete.then_holds(&count, rows - rows / 2),
        delete_all.then_holds(&count, 0),
    ]
}

/// The bounds of one of `parts` parts of `rows` rows.
fn part(rows: u64, parts: u64, number: u64) -> (u64, u64) {
    (rows * number / parts, rows * (number + 1) / parts)
}

/// A value of 24 bits for a row's column, in no order: Fibonacci hashing (Knuth, "The Art of
/// Computer Programming", volume 3, section 6.4).
fn scattered(row: u64, column: u64) -> u64 {
    (row * COLUMNS + column).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40
}
