//! Parts of the table: growing ranges in order, either of two keys, and the conditions joined by
//! OR that ODBC programs like to send.

use super::shapes::SHAPES;
use super::{SHORT_LOOPS, Size, TABLE};
use crate::driver::Kind;
use crate::workload::sqlbench::operation::{Operation, which};

/// Rounds through the lists of keys.
const LIST_ROUNDS: u64 = 334;
/// Keys in the lists of a round: none but key 1 in the first.
const LIST_LENGTHS: [u64; 5] = [1, 12, 24, 36, 48];
/// The ways in which each list is asked for.
const WAYS: u64 = 3;

pub(super) fn operations(size: &Size) -> Vec<Operation> {
    vec![
        growing(size, "order_by_range", "id3"),
        growing(size, "order_by_key_prefix", "id"),
        by_second_key(size),
        either_key(size),
        joined_by_or(size, "select_range_prefix", "id"),
        joined_by_or(size, "select_range_key2", "id3"),
    ]
}

/// Start of the range with this number, counted from 1: they are spread over the first third.
fn start(size: &Size, ranges: u64, number: u64) -> u64 {
    size.part / ranges * number
}

/// The i-th range, from 1, holds i + 1 rows.
fn growing(size: &Size, name: &'static str, order: &'static str) -> Operation {
    let ranges = size.of(SHORT_LOOPS);
    let size = size.clone();
    Operation::new(name, Kind::Read, ranges, move |turn, steps| {
        let number = turn.index + 1;
        let from = start(&size, ranges, number);
        let end = from + number;
        steps.ask(
            number + 1,
            format_args!(
                "SELECT dummy1 FROM {TABLE} WHERE id>={from} AND id<={end} ORDER BY {order}"
            ),
        );
    })
}

/// Ranges of one length, found and ordered by the second key.
fn by_second_key(size: &Size) -> Operation {
    let ranges = size.of(SHORT_LOOPS);
    let size = size.clone();
    Operation::new(
        "order_by_key2_diff",
        Kind::Read,
        ranges,
        move |turn, steps| {
            let from = start(&size, ranges, turn.index + 1);
            let end = from + ranges;
            steps.ask(
                ranges + 1,
                format_args!(
                    "SELECT id2 FROM {TABLE} WHERE id3>={from} AND id3<={end} ORDER BY id3"
                ),
            );
        },
    )
}

/// Two rows, each by another key: a server that uses one key to a table reads all of it.
fn either_key(size: &Size) -> Operation {
    let loops = size.of(SHORT_LOOPS);
    let size = size.clone();
    Operation::new("select_diff_key", Kind::Read, loops, move |turn, steps| {
        let (one, other) = (turn.index + 1, size.part + size.any(turn.index));
        steps.ask(
            2,
            format_args!("SELECT id2 FROM {TABLE} WHERE id={one} OR id3={other}"),
        );
    })
}

/// First lists of keys: joined by OR, as IN, and by OR in a range of few. Then ranges in all
/// shapes; the original prints twice as many as it runs.
fn joined_by_or(size: &Size, name: &'static str, key: &'static str) -> Operation {
    let lists = size.of(LIST_ROUNDS) * LIST_LENGTHS.len() as u64 * WAYS;
    let ranges = size.of(SHORT_LOOPS) * SHAPES.len() as u64;
    let shapes: Vec<_> = SHAPES
        .iter()
        .map(|shape| (shape.rows, shape.condition(key, size)))
        .collect();
    let size = size.clone();
    Operation::new(name, Kind::Read, lists + ranges, move |turn, steps| {
        let (rows, condition) = match turn.index.checked_sub(lists) {
            None => list(&size, key, turn.index),
            Some(number) => shapes[which(number, shapes.len())].clone(),
        };
        steps.ask(
            rows,
            format_args!("SELECT * FROM {TABLE} WHERE {condition}"),
        );
    })
    .printed_as(lists + 2 * ranges)
}

/// A list of keys as a condition, and how many rows it finds.
fn list(size: &Size, key: &str, number: u64) -> (u64, String) {
    let list = number / WAYS;
    let length = LIST_LENGTHS[which(list, LIST_LENGTHS.len())];
    let first = list * LIST_LENGTHS[LIST_LENGTHS.len() - 1];
    let mut keys = vec![1];
    keys.extend((1..length).map(|place| size.any(first + place)));
    let joined = |separator: &str| {
        let keys: Vec<_> = keys.iter().map(u64::to_string).collect();
        keys.join(separator)
    };
    let by_or = || format!("{key}={}", joined(&format!(" OR {key}=")));
    let condition = match number % WAYS {
        0 => by_or(),
        1 => format!("{key} IN ({})", joined(",")),
        _ => format!("({}) AND {key}<10", by_or()),
    };
    // Keys of a list are different, but that 1 may come again.
    keys.sort_unstable();
    keys.dedup();
    let in_range = |id: &&u64| number % WAYS != 2 || **id < 10;
    (keys.iter().filter(in_range).count() as u64, condition)
}
