//! The table copied into others, then deleted row by row and by ranges.

use super::{Size, TABLE, table};
use crate::driver::Kind;
use crate::workload::sqlbench::Plan;
use crate::workload::sqlbench::operation::Operation;

/// Rows of the last third for each that is deleted by its key.
const ONE_OF: u64 = 10;
/// Ranges over the first third.
const RANGES: u64 = 10;

pub(super) fn operations(plan: &Plan, size: &Size) -> [Operation; 4] {
    let rows = size.rows;
    let copy = |name, copy: &'static str| {
        Operation::new(name, Kind::Write, 1, move |_, steps| {
            steps.change(
                rows,
                format_args!("INSERT INTO {copy} SELECT * FROM {TABLE}"),
            );
        })
    };
    [
        copy("insert_select_1_key", "sqlbench_bench2").before(table("bench2").create(&plan.maker)),
        copy("insert_select_2_keys", "sqlbench_bench3")
            .before(table("bench3").index("id3").create(&plan.maker)),
        delete_key(size),
        delete_range(size),
    ]
}

/// Deletes by key. The updates have removed half of the keys, so half of the statements find nothing.
fn delete_key(size: &Size) -> Operation {
    let found = deleted_by_key(size).count() as u64;
    let (turned, rows) = (size.turned(), size.rows);
    let turns = size.part.div_ceil(ONE_OF);
    let size = size.clone();
    Operation::new("delete_key", Kind::Write, turns, move |turn, steps| {
        let number = ONE_OF * turn.index;
        let id = size.in_last_third(number);
        steps.change(
            u64::from(number >= turned),
            format_args!("DELETE FROM {TABLE} WHERE id3={id}"),
        );
    })
    .then_holds(format!("SELECT COUNT(*) FROM {TABLE}"), rows - found)
}

/// The rows that `delete_key` finds.
fn deleted_by_key(size: &Size) -> impl Iterator<Item = u64> {
    let numbers = (0..size.part.div_ceil(ONE_OF)).map(|turn| ONE_OF * turn);
    numbers
        .filter(|&number| number >= size.turned())
        .map(|number| size.in_last_third(number))
}

/// Ranges of the second key that all begin at 0 and grow, one of the first, and the rest. The
/// original prints one less than there are.
fn delete_range(size: &Size) -> Operation {
    let (part, rows) = (size.part, size.rows);
    let mut conditions: Vec<_> = (0..=RANGES)
        .map(|number| format!("id3>=0 AND id3<={}", part * number / RANGES))
        .collect();
    conditions.push(format!("id>={part} AND id<={}", 2 * part));
    conditions.push(format!("id3<{rows}"));
    let affected = deleted_by_ranges(size);
    let deletions: Vec<_> = affected.into_iter().zip(conditions).collect();
    let count = deletions.len() as u64;
    Operation::new("delete_range", Kind::Write, count, move |turn, steps| {
        let number = usize::try_from(turn.index).unwrap_or(0);
        let (affected, condition) = &deletions[number];
        steps.change(
            *affected,
            format_args!("DELETE FROM {TABLE} WHERE {condition}"),
        );
    })
    .printed_as(count - 1)
    .alone("each range holds the one before it")
    .then_holds(format!("SELECT COUNT(*) FROM {TABLE}"), 0)
}

/// Number of rows that each of the ranges still finds.
fn deleted_by_ranges(size: &Size) -> Vec<u64> {
    let mut left = second_keys(size);
    let mut counts = Vec::new();
    let mut delete = |is_deleted: &dyn Fn(u64, u64) -> bool| {
        let before = left.len();
        left.retain(|&(id, id3)| !is_deleted(id, id3));
        counts.push((before - left.len()) as u64);
    };
    for number in 0..=RANGES {
        delete(&|_, id3| id3 <= size.part * number / RANGES);
    }
    delete(&|id, _| (size.part..=2 * size.part).contains(&id));
    delete(&|_, _| true);
    counts
}

/// The keys of each row that is left: the updates have made a twentieth of most of the second.
fn second_keys(size: &Size) -> Vec<(u64, u64)> {
    let mut keys: Vec<_> = (0..size.rows)
        .map(|id| (id, if id < 2 * size.part { id / 20 } else { id }))
        .collect();
    let mut change = |id: u64, id3| {
        if let Some(key) = usize::try_from(id)
            .ok()
            .and_then(|place| keys.get_mut(place))
        {
            key.1 = id3;
        }
    };
    for number in 0..size.turned() {
        let id = size.in_last_third(number);
        change(id, id / 20);
    }
    let deleted: std::collections::HashSet<_> = deleted_by_key(size).collect();
    keys.retain(|(id, _)| !deleted.contains(id));
    keys
}
