//! A table with keys on nearly all of its columns: filled, its primary key changed, emptied.

use std::fmt::Write;

use super::Size;
use crate::driver::Kind;
use crate::workload::sqlbench::operation::Operation;
use crate::workload::sqlbench::{Plan, sixteen};

const TABLE: &str = "sqlbench_many_keys";
const KEY_UPDATES: u64 = 256;
const DELETIONS: u64 = 128;
/// Different values in `field_search`.
const SEARCHED: u64 = 128;

pub(super) fn operations(plan: &Plan, size: &Size) -> [Operation; 4] {
    let table = sixteen::table("many_keys", plan.dialect(), &["field_search"], 6);
    let table = sixteen::index_from(table.index("field_search"), 3);
    let count = format!("SELECT COUNT(*) FROM {TABLE}");
    let rows = size.part;
    let (updates, deletions) = (size.of(KEY_UPDATES), size.of(DELETIONS));
    let left = rows - found(rows, deletions);
    [
        insert_key(size)
            .before(table.create(&plan.maker))
            .then_holds(&count, rows),
        for_each_value(
            "update_of_primary_key_many_keys",
            rows,
            updates,
            "UPDATE {t} SET field5=1",
        )
        .then_holds(format!("{count} WHERE field5=1"), found(rows, updates)),
        for_each_value("delete_big_many_keys", rows, deletions, "DELETE FROM {t}")
            .then_holds(&count, left),
        delete_all(left).then_holds(&count, 0),
    ]
}

/// Changes the rows with each of the first values in `field_search`; the second half of those that
/// the updates look for has no rows.
fn for_each_value(name: &'static str, rows: u64, values: u64, sql: &str) -> Operation {
    let sql = sql.replace("{t}", TABLE);
    Operation::new(name, Kind::Write, values, move |turn, steps| {
        let value = turn.index;
        steps.change(
            with_value(rows, value),
            format_args!("{sql} WHERE field_search={value}"),
        );
    })
}

/// At the original's size nothing is left for it. The original's clock for it still runs from the
/// loop before; here it is this statement's alone.
fn delete_all(left: u64) -> Operation {
    Operation::new("delete_all_many_keys", Kind::Write, 1, move |_, steps| {
        steps.change(left, format_args!("DELETE FROM {TABLE} WHERE field1>0"));
    })
}

/// Rows with one of that many values in `field_search`.
fn found(rows: u64, values: u64) -> u64 {
    (0..values).map(|value| with_value(rows, value)).sum()
}

/// Rows with this value in `field_search`.
fn with_value(rows: u64, value: u64) -> u64 {
    if value >= SEARCHED {
        return 0;
    }
    rows / SEARCHED + u64::from(value < rows % SEARCHED)
}

fn insert_key(size: &Size) -> Operation {
    let rows = size.part;
    let size = size.clone();
    Operation::new("insert_key", Kind::Write, rows, move |turn, steps| {
        let searched = turn.index % SEARCHED;
        let small = turn.index % 32_768;
        let any = size.part + size.any(turn.index);
        let mut values =
            format!("{searched},{searched},{any},{small},'ABCDEF{any}',0,{any},{any}.0");
        for _ in sixteen::FIRST_SHORT..=sixteen::COLUMNS {
            // Writing to memory cannot fail.
            let _ = write!(values, ",'{any}'");
        }
        steps.change(1, format_args!("INSERT INTO {TABLE} VALUES ({values})"));
    })
}
