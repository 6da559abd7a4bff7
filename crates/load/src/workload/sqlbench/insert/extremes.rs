//! Groups, extremes and counts, with the help of a key and without.

use super::{LOOPS, Size, TABLE, WHOLE_TABLE_LOOPS};
use crate::workload::sqlbench::operation::Operation;

pub(super) fn operations(size: &Size) -> Vec<Operation> {
    let (middle, last) = (size.rows / 2, size.rows - 1);
    let short = size.of(WHOLE_TABLE_LOOPS);
    let one_row = |questions: &[&str]| -> Vec<_> {
        questions
            .iter()
            .map(|question| {
                let question = question
                    .replace("{middle}", &middle.to_string())
                    .replace("{last}", &last.to_string());
                (1, question.replace("{t}", TABLE))
            })
            .collect()
    };
    let min_max_on_key = one_row(&[
        "SELECT MIN(id) FROM {t}",
        "SELECT MAX(id) FROM {t}",
        "SELECT MIN(id3),MAX(id3) FROM {t}",
        "SELECT MAX(id2) FROM {t} WHERE id={middle}",
        "SELECT MIN(id3) FROM {t} WHERE id3>={middle}",
        "SELECT MAX(id) FROM {t} WHERE id<{last}",
    ]);
    let min_max = one_row(&[
        "SELECT MIN(id2) FROM {t}",
        "SELECT MAX(id2) FROM {t}",
        "SELECT MIN(id2),MAX(id2) FROM {t}",
        "SELECT MIN(dummy1) FROM {t}",
        "SELECT MAX(dummy1) FROM {t}",
        "SELECT MAX(id2) FROM {t} WHERE id2<{middle}",
    ]);
    let count_on_key = one_row(&[
        "SELECT COUNT(*) FROM {t} WHERE id>={middle}",
        "SELECT COUNT(*) FROM {t} WHERE id3>={middle}",
        "SELECT COUNT(id) FROM {t} WHERE id<{middle}",
        "SELECT COUNT(*) FROM {t} WHERE id>0 AND id<{last}",
        "SELECT COUNT(id3) FROM {t} WHERE id3<{middle}",
    ]);
    let count = one_row(&[
        "SELECT COUNT(*) FROM {t} WHERE id2>={middle}",
        "SELECT COUNT(id2) FROM {t} WHERE id2<{middle}",
        "SELECT COUNT(dummy1) FROM {t}",
        "SELECT COUNT(*) FROM {t} WHERE dummy1>'A'",
        "SELECT COUNT(*) FROM {t} WHERE id2>0 AND id2<{last}",
    ]);
    let count_distinct = one_row(&[
        "SELECT COUNT(DISTINCT dummy1) FROM {t}",
        "SELECT COUNT(DISTINCT id2) FROM {t}",
    ]);
    vec![
        select_group(size),
        Operation::rounds("min_max_on_key", size.of(2500), min_max_on_key),
        Operation::rounds("min_max", short, min_max),
        Operation::rounds("count_on_key", size.of(20), count_on_key),
        Operation::rounds("count", size.of(20), count),
        Operation::rounds("count_distinct_big", short, count_distinct),
    ]
}

/// A tenth of the loops over parts of the table, some over all of it in one group, and one with a
/// group for each row.
fn select_group(size: &Size) -> Operation {
    let in_parts = size.of(LOOPS / 10);
    let of_all = size.of(WHOLE_TABLE_LOOPS);
    let size = size.clone();
    let functions = "COUNT(*),SUM(id),MIN(id2),MAX(id3),AVG(id3)";
    Operation::new(
        "select_group",
        crate::driver::Kind::Read,
        in_parts + of_all + 1,
        move |turn, steps| {
            if turn.index < in_parts {
                let length = size.rows / 100;
                let from = size.spread(turn.index, in_parts, length);
                let end = from + length;
                steps.ask(
                    1,
                    format_args!(
                        "SELECT dummy1,{functions} FROM {TABLE} WHERE id>={from} AND id<{end} GROUP BY dummy1"
                    ),
                );
            } else if turn.index < in_parts + of_all {
                steps.ask(
                    1,
                    format_args!("SELECT dummy1,{functions} FROM {TABLE} GROUP BY dummy1"),
                );
            } else {
                steps.ask(
                    size.rows,
                    format_args!("SELECT id3,COUNT(*) FROM {TABLE} GROUP BY id3"),
                );
            }
        },
    )
}
