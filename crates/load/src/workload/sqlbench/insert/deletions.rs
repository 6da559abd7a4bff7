//! The table copied into others, then deleted row by row and by ranges.

use super::{Size, TABLE, table};
use crate::driver::Kind;
use crate::workload::sqlbench::Plan;
use crate::workload::sqlbench::operation::Operation;

const ROWS_DELETED_BY_KEY: u64 = 10_000;
/// Ranges that hold what is left then.
const RANGES: u64 = 12;

pub(super) fn operations(plan: &Plan, size: &Size) -> [Operation; 4] {
    let rows = size.rows;
    let by_key = size.of(ROWS_DELETED_BY_KEY);
    let copy = |name, copy: &'static str| {
        Operation::new(name, Kind::Write, 1, move |_, steps| {
            steps.change(
                rows,
                format_args!("INSERT INTO {copy} SELECT * FROM {TABLE}"),
            );
        })
    };
    let delete_key = Operation::new("delete_key", Kind::Write, by_key, |turn, steps| {
        let id = turn.index;
        steps.change(1, format_args!("DELETE FROM {TABLE} WHERE id3={id}"));
    });
    let bound = move |number| by_key + (rows - by_key) * number / RANGES;
    let delete_range = Operation::new("delete_range", Kind::Write, RANGES, move |turn, steps| {
        let (from, end) = (bound(turn.index), bound(turn.index + 1));
        steps.change(
            end - from,
            format_args!("DELETE FROM {TABLE} WHERE id3>={from} AND id3<{end}"),
        );
    });
    [
        copy("insert_select_1_key", "sqlbench_bench2").before(table("bench2").create(&plan.maker)),
        copy("insert_select_2_keys", "sqlbench_bench3")
            .before(table("bench3").index("id3").create(&plan.maker)),
        delete_key.then_holds(format!("SELECT COUNT(*) FROM {TABLE}"), rows - by_key),
        delete_range.then_holds(format!("SELECT COUNT(*) FROM {TABLE}"), 0),
    ]
}
