//! Outer joins of the table with itself, and rows by lists of their keys.

use super::{ROWS, SHORT_LOOPS, Size, TABLE, WHOLE_TABLE_LOOPS};
use crate::driver::Kind;
use crate::workload::sqlbench::Plan;
use crate::workload::sqlbench::operation::Operation;

/// Keys in a list, one length after the other.
const LIST_LENGTHS: [u64; 3] = [10, 100, 1000];

pub(super) fn operations(plan: &Plan, size: &Size) -> Vec<Operation> {
    let join = |name, condition: &str| {
        let sql = format!(
            "SELECT COUNT(a.dummy1),COUNT(b.dummy1) FROM {TABLE} a LEFT OUTER JOIN {TABLE} b ON ({condition}"
        );
        Operation::query(name, size.of(WHOLE_TABLE_LOOPS), 1, &sql)
    };
    vec![
        join("outer_join_on_key", "a.id=b.id)"),
        join("outer_join", "a.id2=b.id3)"),
        join("outer_join_found", "a.id2=b.id3) WHERE b.id3 IS NOT NULL"),
        outer_join_not_found(size),
        by_lists(plan, size, "select_in", |list| {
            format!("SELECT {ROWS} FROM {TABLE} WHERE id IN ({list})")
        }),
        by_lists(plan, size, "select_join_in", |list| {
            format!(
                "SELECT a.id,b.id2 FROM {TABLE} a,{TABLE} b WHERE a.id=b.id3 AND a.id IN ({list})"
            )
        }),
    ]
}

/// Partners that are not there are sought for one part of the table in each statement: the row
/// that says how many were without one is the answer.
fn outer_join_not_found(size: &Size) -> Operation {
    let loops = size.of(SHORT_LOOPS);
    let size = size.clone();
    Operation::new(
        "outer_join_not_found",
        Kind::Read,
        loops,
        move |turn, steps| {
            let length = size.rows / 100;
            let from = size.spread(turn.index, loops, length);
            let (end, rows) = (from + length, size.rows);
            steps.ask(
                1,
                format_args!(
                    "SELECT COUNT(a.dummy1) FROM {TABLE} a LEFT OUTER JOIN {TABLE} b ON (b.id3=a.id2+{rows}) \
                     WHERE a.id>={from} AND a.id<{end} AND b.id3 IS NULL"
                ),
            );
        },
    )
}

fn by_lists(plan: &Plan, size: &Size, name: &'static str, sql: fn(&str) -> String) -> Operation {
    let lists: Vec<_> = LIST_LENGTHS
        .iter()
        .map(|full| {
            let length = (*full).min(size.part);
            let ids: Vec<_> = (0..length)
                .map(|index| size.any(index).to_string())
                .collect();
            (length, sql(&ids.join(",")))
        })
        .collect();
    let loops = size.of(SHORT_LOOPS);
    Operation::new(
        name,
        Kind::Read,
        loops * lists.len() as u64,
        move |turn, steps| {
            // All of one length, then all of the next.
            let which = usize::try_from(turn.index / loops).unwrap_or(0);
            let (rows, sql) = &lists[which];
            steps.ask(*rows, format_args!("{sql}"));
        },
    )
    .skipped_because(plan.is_myisam().then(|| {
        "the original has no such figure with MyISAM tables, and totals are to be comparable".into()
    }))
}
