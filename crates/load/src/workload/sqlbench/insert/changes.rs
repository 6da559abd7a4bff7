//! Updates: of a key and of what is not one, row by row and by ranges.

use super::{SHORT_LOOPS, Size, TABLE, WHOLE_TABLE_LOOPS};
use crate::driver::{Dialect, Kind};
use crate::workload::sqlbench::Plan;
use crate::workload::sqlbench::operation::Operation;

pub(super) fn operations(plan: &Plan, size: &Size) -> Vec<Operation> {
    let dialect = plan.dialect();
    vec![
        update_of_key(size),
        update_of_key_big(dialect, size),
        update_with_key(size),
        update_with_key_prefix(dialect, size),
        update_big(size),
    ]
}

/// Rows that an UPDATE finds and leaves as they are: MySQL does not count them as changed.
fn unchanged(dialect: Dialect, rows: u64) -> u64 {
    match dialect {
        Dialect::Mysql => 0,
        Dialect::Postgres | Dialect::Sqlite => rows,
    }
}

/// Turns the second key of half of the last third negative, row by row.
fn update_of_key(size: &Size) -> Operation {
    let turned = size.turned();
    let size = size.clone();
    Operation::new("update_of_key", Kind::Write, turned, move |turn, steps| {
        let id = size.in_last_third(turn.index);
        steps.change(
            1,
            format_args!("UPDATE {TABLE} SET id3=-{id} WHERE id3={id}"),
        );
    })
    .then_holds(format!("SELECT COUNT(*) FROM {TABLE} WHERE id3<0"), turned)
}

/// Turns the first third in ranges that all begin at 0 and grow, and what is left of it; then the
/// second third at once. The last statement makes all of them positive again, and a twentieth.
fn update_of_key_big(dialect: Dialect, size: &Size) -> Operation {
    let (part, turned) = (size.part, size.turned());
    let step = part / size.of(SHORT_LOOPS) + 1;
    let growing = part.div_ceil(step);
    // Row 0 is in each range that begins there, and nothing is its opposite.
    let zero = unchanged(dialect, 1);
    let twentieth = match dialect {
        Dialect::Mysql | Dialect::Postgres => "FLOOR((0-id3)/20)",
        // Its division is one of whole numbers.
        Dialect::Sqlite => "(0-id3)/20",
    };
    let negative = format!("UPDATE {TABLE} SET id3=0-id3 WHERE");
    Operation::new(
        "update_of_key_big",
        Kind::Write,
        growing + 3,
        move |turn, steps| {
            let number = turn.index;
            if number < growing {
                let new = if number == 0 { 0 } else { step };
                let last = number * step;
                steps.change(
                    new + zero,
                    format_args!("{negative} id3>=0 AND id3<={last}"),
                );
            } else if number == growing {
                let rest = part - 1 - (growing - 1) * step;
                steps.change(
                    rest + zero,
                    format_args!("{negative} id3>=0 AND id3<{part}"),
                );
            } else if number == growing + 1 {
                let end = 2 * part;
                steps.change(part, format_args!("{negative} id3>={part} AND id3<{end}"));
            } else {
                steps.change(
                    2 * part - 1 + turned,
                    format_args!("UPDATE {TABLE} SET id3={twentieth} WHERE id3<0"),
                );
            }
        },
    )
    .alone("its last statement turns back what the others turned")
    .then_holds(
        format!("SELECT COUNT(*) FROM {TABLE} WHERE id3=id"),
        1 + part - turned,
    )
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

/// Every third row, which holds the same text already.
fn update_with_key_prefix(dialect: Dialect, size: &Size) -> Operation {
    let affected = unchanged(dialect, 1);
    Operation::new(
        "update_with_key_prefix",
        Kind::Write,
        size.part,
        move |turn, steps| {
            let id = 3 * turn.index + 1;
            steps.change(
                affected,
                format_args!("UPDATE {TABLE} SET dummy1='updated' WHERE id={id}"),
            );
        },
    )
    // The only writer that the original estimates: what it writes is read by none.
    .cut_by_limit(true)
    .then_holds(
        format!("SELECT COUNT(*) FROM {TABLE} WHERE dummy1='updated'"),
        size.rows,
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
                format_args!("UPDATE {TABLE} SET dummy1='updated {number}'"),
            );
        },
    )
    .alone("each statement changes every row")
}
