//! Parts of the table: growing ranges in order, ranges between which keys compete, and the
//! conditions joined by OR that ODBC programs like to send.

use super::{ROWS, SHORT_LOOPS, Size, TABLE};
use crate::driver::Kind;
use crate::workload::sqlbench::operation::Operation;

/// Statements of each of the two tests of OR.
const OR_STATEMENTS: u64 = 25_010;

pub(super) fn operations(size: &Size) -> Vec<Operation> {
    vec![
        growing(size, "order_by_range", "id", "id3"),
        growing(size, "order_by_key_prefix", "id", "id"),
        around(size),
        competing(size),
        joined_by_or(size, "select_range_prefix", "id"),
        joined_by_or(size, "select_range_key2", "id3"),
    ]
}

/// The i-th range holds i + 1 rows from the middle on.
fn growing(size: &Size, name: &'static str, key: &'static str, order: &'static str) -> Operation {
    let middle = size.rows / 2;
    Operation::new(
        name,
        Kind::Read,
        size.of(SHORT_LOOPS),
        move |turn, steps| {
            let grown = turn.index + 1;
            let end = middle + grown;
            steps.ask(
                grown + 1,
                format_args!(
                    "SELECT {ROWS} FROM {TABLE} WHERE {key}>={middle} AND {key}<={end} ORDER BY {order}"
                ),
            );
        },
    )
}

/// The i-th range holds 2 i rows around the middle, found and ordered by the second key.
fn around(size: &Size) -> Operation {
    let middle = size.rows / 2;
    Operation::new(
        "order_by_key2_diff",
        Kind::Read,
        size.of(SHORT_LOOPS),
        move |turn, steps| {
            let grown = turn.index + 1;
            let (from, end) = (middle - grown, middle + grown);
            steps.ask(
                2 * grown,
                format_args!(
                    "SELECT {ROWS} FROM {TABLE} WHERE id3>={from} AND id3<{end} ORDER BY id3"
                ),
            );
        },
    )
}

/// Two rows, which the second key finds at once and the first among a third of the table.
fn competing(size: &Size) -> Operation {
    let loops = size.of(SHORT_LOOPS);
    let size = size.clone();
    Operation::new("select_diff_key", Kind::Read, loops, move |turn, steps| {
        let from = size.spread(turn.index, loops, 2);
        let (far, next) = (from + size.part, from + 1);
        steps.ask(
            2,
            format_args!(
                "SELECT {ROWS} FROM {TABLE} WHERE id>={from} AND id<={far} AND id3>={from} AND id3<={next}"
            ),
        );
    })
}

fn joined_by_or(size: &Size, name: &'static str, key: &'static str) -> Operation {
    const SPAN: u64 = 20;
    let turns = size.of(OR_STATEMENTS);
    let size = size.clone();
    Operation::new(name, Kind::Read, turns, move |turn, steps| {
        let a = size.spread(turn.index, turns, SPAN);
        let (b, c, d) = (a + 5, a + 10, a + 15);
        let select = format_args!("SELECT {ROWS} FROM {TABLE} WHERE");
        match turn.index % 5 {
            0 => steps.ask(1, format_args!("{select} {key}={a}")),
            1 => steps.ask(2, format_args!("{select} {key}={a} OR {key}={b}")),
            2 => steps.ask(
                4,
                format_args!("{select} {key}={a} OR {key}={b} OR {key}={c} OR {key}={d}"),
            ),
            3 => steps.ask(
                6,
                format_args!("{select} {key}={a} OR ({key}>={b} AND {key}<{c})"),
            ),
            _ => steps.ask(
                10,
                format_args!("{select} ({key}>={a} AND {key}<{b}) OR ({key}>={c} AND {key}<{d})"),
            ),
        }
    })
}
