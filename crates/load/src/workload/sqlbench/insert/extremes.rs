//! Groups, extremes and counts, with the help of a key and without.

use super::{Size, TABLE, WHOLE_TABLE_LOOPS};
use crate::driver::Kind;
use crate::workload::sqlbench::operation::{Operation, which};
use crate::workload::sqlbench::steps::Steps;

/// Rounds of six questions.
const ON_KEY_ROUNDS: u64 = 2500;
/// Steps in which a bound goes over the table.
const BOUNDS: u64 = 100;
/// Different texts in `dummy1`: one for each order in which the table was filled.
const TEXTS: u64 = 3;

pub(super) fn operations(size: &Size) -> Vec<Operation> {
    let short = size.of(WHOLE_TABLE_LOOPS);
    let count_distinct = vec![
        (1, format!("SELECT COUNT(DISTINCT dummy1) FROM {TABLE}")),
        (
            TEXTS,
            format!("SELECT dummy1,COUNT(DISTINCT id) FROM {TABLE} GROUP BY dummy1"),
        ),
    ];
    vec![
        select_group(size),
        min_max("min_max_on_key", size.of(ON_KEY_ROUNDS), min_max_on_key),
        min_max("min_max", short, min_max_of_rest),
        count_below(size, "count_on_key", "id", "id"),
        count_below(size, "count", "dummy1", "id2"),
        Operation::rounds("count_distinct_big", short, count_distinct),
    ]
}

/// Sums and extremes of the whole table, and groups. The original prints eleven for the ten of a
/// round, and one more.
fn select_group(size: &Size) -> Operation {
    const FEW: u64 = 100;
    let questions = [
        (1, "SELECT COUNT(*) FROM {t}".to_owned()),
        (1, "SELECT MIN(id) FROM {t}".to_owned()),
        (1, "SELECT MAX(id) FROM {t}".to_owned()),
        (1, "SELECT SUM(id+0.0) FROM {t}".to_owned()),
        (
            1,
            "SELECT MIN(id3),MAX(id3),SUM(id3-0.0) FROM {t}".to_owned(),
        ),
        (1, "SELECT MIN(dummy1),MAX(dummy1) FROM {t}".to_owned()),
        (
            1,
            format!("SELECT COUNT(*) FROM {{t}} WHERE id>={}", 2 * size.part),
        ),
        (
            1,
            "SELECT COUNT(*),SUM(id+0.0),MIN(id),MAX(id),AVG(id-0.0) FROM {t}".to_owned(),
        ),
        (
            10,
            "SELECT id % 10 AS last_digit,COUNT(*) FROM {t} GROUP BY last_digit".to_owned(),
        ),
    ]
    .map(|(rows, sql)| (rows, sql.replace("{t}", TABLE)));
    let rounds = size.of(WHOLE_TABLE_LOOPS);
    let of_round = questions.len() + 1;
    Operation::new(
        "select_group",
        Kind::Read,
        rounds * of_round as u64,
        move |turn, steps| {
            if let Some((rows, sql)) = questions.get(which(turn.index, of_round)) {
                steps.ask(*rows, format_args!("{sql}"));
                return;
            }
            // A figure that comes to nothing, and makes each text another.
            let number = turn.index;
            steps.ask(
                FEW,
                format_args!(
                    "SELECT id,id3,dummy1 FROM {TABLE} WHERE id<{FEW}+{number}-{number} \
                     GROUP BY id,id3,dummy1 ORDER BY id DESC,id3,dummy1"
                ),
            );
        },
    )
    .printed_as(rounds * (of_round as u64 + 1) + 1)
}

/// Rounds of six queries with one row each, chosen by their number in the round and the number of
/// the round, which counts from 1.
fn min_max(name: &'static str, rounds: u64, ask: fn(u64, u64, &mut Steps)) -> Operation {
    const QUESTIONS: u64 = 6;
    Operation::new(name, Kind::Read, rounds * QUESTIONS, move |turn, steps| {
        ask(turn.index % QUESTIONS, turn.index / QUESTIONS + 1, steps);
    })
}

/// Of the whole key, and of the rows with one value of its first part.
fn min_max_on_key(question: u64, id: u64, steps: &mut Steps) {
    let ask = |steps: &mut Steps, column: &str| {
        steps.ask(
            1,
            format_args!("SELECT {column} FROM {TABLE} WHERE id={id}"),
        );
    };
    match question {
        0 => steps.ask(1, format_args!("SELECT MIN(id) FROM {TABLE}")),
        1 => steps.ask(1, format_args!("SELECT MAX(id) FROM {TABLE}")),
        2 => ask(steps, "MIN(id2)"),
        3 => ask(steps, "MAX(id2)"),
        4 => ask(steps, "MIN(dummy1)"),
        _ => ask(steps, "MAX(dummy1)"),
    }
}

/// The same without a useful key.
fn min_max_of_rest(question: u64, id: u64, steps: &mut Steps) {
    let ask = |steps: &mut Steps, column: &str| {
        steps.ask(
            1,
            format_args!("SELECT {column} FROM {TABLE} WHERE id2={id}"),
        );
    };
    match question {
        0 => steps.ask(1, format_args!("SELECT MIN(id2) FROM {TABLE}")),
        1 => steps.ask(1, format_args!("SELECT MAX(id2) FROM {TABLE}")),
        2 => ask(steps, "MIN(id3)"),
        3 => ask(steps, "MAX(id3)"),
        4 => ask(steps, "MIN(dummy1)"),
        _ => ask(steps, "MAX(dummy1)"),
    }
}

/// Counts what lies below a bound that goes over the whole table.
fn count_below(
    size: &Size,
    name: &'static str,
    column: &'static str,
    bounded: &'static str,
) -> Operation {
    let (rows, bounds) = (size.rows, size.of(BOUNDS));
    Operation::new(name, Kind::Read, bounds, move |turn, steps| {
        let bound = rows * turn.index / bounds;
        steps.ask(
            1,
            format_args!("SELECT COUNT({column}) FROM {TABLE} WHERE {bounded}<{bound}"),
        );
    })
}
