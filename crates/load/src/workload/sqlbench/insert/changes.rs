//! Updates: of a key and of what is not one, row by row and by ranges.

use super::{SHORT_LOOPS, Size, TABLE, WHOLE_TABLE_LOOPS};
use crate::driver::Kind;
use crate::workload::sqlbench::operation::Operation;

pub(super) fn operations(size: &Size) -> Vec<Operation> {
    vec![
        update_of_key(size),
        update_of_key_big(size),
        update_with_key(size),
        update_with_key_prefix(size),
        update_big(size),
    ]
}

/// Turns the key of every row up to a sixth of the table negative, but for row 0.
fn update_of_key(size: &Size) -> Operation {
    let turned = turned(size);
    Operation::new("update_of_key", Kind::Write, turned, |turn, steps| {
        let id = turn.index + 1;
        steps.change(
            1,
            format_args!("UPDATE {TABLE} SET id3=-{id} WHERE id3={id}"),
        );
    })
    .then_holds(format!("SELECT COUNT(*) FROM {TABLE} WHERE id3<0"), turned)
}

/// Turns the other keys by ranges, and with its last statement all of them back.
fn update_of_key_big(size: &Size) -> Operation {
    let ranges = size.of(SHORT_LOOPS);
    let (first, rows) = (turned(size) + 1, size.rows);
    let bound = move |number| first + (rows - first) * number / ranges;
    Operation::new(
        "update_of_key_big",
        Kind::Write,
        ranges + 1,
        move |turn, steps| {
            if turn.index == ranges {
                steps.change(
                    rows - 1,
                    format_args!("UPDATE {TABLE} SET id3=-id3 WHERE id3<0"),
                );
                return;
            }
            let (from, end) = (bound(turn.index), bound(turn.index + 1));
            steps.change(
                end - from,
                format_args!("UPDATE {TABLE} SET id3=-id3 WHERE id3>={from} AND id3<{end}"),
            );
        },
    )
    .alone("its last statement turns back what the others turned")
    .then_holds(format!("SELECT COUNT(*) FROM {TABLE} WHERE id3=id"), rows)
}

fn turned(size: &Size) -> u64 {
    size.part / 2
}

fn update_with_key(size: &Size) -> Operation {
    Operation::new("update_with_key", Kind::Write, size.rows, |turn, steps| {
        let id = turn.index;
        steps.change(
            1,
            format_args!("UPDATE {TABLE} SET dummy1='updated' WHERE id={id} AND id2={id}"),
        );
    })
    .then_holds(
        format!("SELECT COUNT(*) FROM {TABLE} WHERE dummy1='updated'"),
        size.rows,
    )
}

fn update_with_key_prefix(size: &Size) -> Operation {
    let part = size.part;
    let size = size.clone();
    Operation::new(
        "update_with_key_prefix",
        Kind::Write,
        part,
        move |turn, steps| {
            let id = size.any(turn.index);
            steps.change(
                1,
                format_args!("UPDATE {TABLE} SET dummy1='really updated' WHERE id={id}"),
            );
        },
    )
    .then_holds(
        format!("SELECT COUNT(*) FROM {TABLE} WHERE dummy1='really updated'"),
        part,
    )
}

fn update_big(size: &Size) -> Operation {
    let rows = size.rows;
    Operation::new(
        "update_big",
        Kind::Write,
        size.of(WHOLE_TABLE_LOOPS),
        move |turn, steps| {
            let number = turn.index;
            steps.change(
                rows,
                format_args!("UPDATE {TABLE} SET dummy1='big {number}'"),
            );
        },
    )
    .alone("each statement changes every row")
}
