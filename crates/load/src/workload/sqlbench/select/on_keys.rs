//! Extremes and counts that a key's prefix answers; region and group change with every turn.

use super::rows::{GROUPS, REGIONS, letter};
use super::{LONG_LOOPS, TABLE};
use crate::driver::Kind;
use crate::workload::sqlbench::Plan;
use crate::workload::sqlbench::operation::{Operation, which};

/// The query and its condition; `R` stands for the turn's region and `G` for its group.
type Question = (&'static str, &'static str);

const EXTREMES: [Question; 7] = [
    ("MIN(region)", ""),
    ("MAX(region)", ""),
    ("MIN(region),MAX(region)", ""),
    ("MIN(rev_idn)", "region='R'"),
    ("MAX(grp)", "region='R'"),
    ("MAX(idn)", "region='R' AND grp=G"),
    ("MAX(region)", "region<'R'"),
];

const COUNTS: [Question; 5] = [
    ("COUNT(*)", "region='R'"),
    ("COUNT(*)", "region='R' AND grp=G"),
    ("COUNT(*)", "region>'R'"),
    ("COUNT(*)", "region<='R'"),
    ("COUNT(*)", "region='R' AND grp>G"),
];

pub(super) fn operations(plan: &Plan) -> [Operation; 2] {
    [
        operation(plan, "min_max_on_key", &EXTREMES),
        operation(plan, "count_on_key", &COUNTS),
    ]
}

fn operation(plan: &Plan, name: &'static str, questions: &'static [Question]) -> Operation {
    let asked = questions.len() as u64;
    let turns = plan.scale.of(LONG_LOOPS) * asked;
    Operation::new(name, Kind::Read, turns, move |turn, steps| {
        let (round, question) = (turn.index / asked, which(turn.index, questions.len()));
        let (columns, condition) = questions[question];
        if condition.is_empty() {
            steps.ask(1, format_args!("SELECT {columns} FROM {TABLE}"));
            return;
        }
        let condition = fill(condition, round % REGIONS, 3 * round % GROUPS);
        steps.ask(
            1,
            format_args!("SELECT {columns} FROM {TABLE} WHERE {condition}"),
        );
    })
}

fn fill(condition: &str, region: u64, grp: u64) -> String {
    let mut region_letter = [0];
    let region = letter(region).encode_utf8(&mut region_letter);
    condition
        .replace('R', region)
        .replace('G', &grp.to_string())
}
