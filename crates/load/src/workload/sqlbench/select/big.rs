//! Questions by parts of keys, and by hundreds of ranges at once.

use std::collections::BTreeSet;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::rows::{GROUPS, REGIONS, count, letter};
use super::{SHORT_LOOPS, TABLE};
use crate::driver::Kind;
use crate::workload::sqlbench::Plan;
use crate::workload::sqlbench::operation::{Operation, which};

/// Regions asked for: one more than there are, so that some questions find nothing.
const ASKED_REGIONS: u64 = REGIONS + 1;
/// Conditions of a range question, as many as the original gives a MySQL server.
const CONDITIONS: usize = 500;
/// Rounds of the four range questions with OR.
const ROUNDS: u64 = 10;
/// Pairs of region and group that conditions are drawn from: about 243 of them come up, as in the
/// original.
const PAIRS: u64 = 300;

/// A question and the rows of its answer.
type Question = (u64, String);

/// Seven look-ups by parts of the keys; the last is by none.
pub(super) fn look_ups(plan: &Plan, rows: u64) -> Operation {
    let loops = plan.scale.of(SHORT_LOOPS);
    let questions = (0..loops).flat_map(|turn| look_ups_of(turn, rows));
    Operation::rounds("select_big", 1, questions.collect())
}

fn look_ups_of(turn: u64, rows: u64) -> [Question; 7] {
    let (grp, region) = (11 * turn % GROUPS, turn % ASKED_REGIONS);
    let letter = letter(region);
    [
        (
            count(rows, |row| row.region == region),
            format!("region='{letter}'"),
        ),
        (
            count(rows, |row| row.region == region && row.idn == turn),
            format!("region='{letter}' AND idn={turn}"),
        ),
        (
            count(rows, |row| row.region == region && row.rev_idn == turn),
            format!("region='{letter}' AND rev_idn={turn}"),
        ),
        (
            count(rows, |row| row.region == region && row.grp == grp),
            format!("region='{letter}' AND grp={grp}"),
        ),
        (
            count(rows, |row| (1..=2).contains(&row.region) && row.grp == grp),
            format!("region>='B' AND region<='C' AND grp={grp}"),
        ),
        (
            count(rows, |row| (1..=4).contains(&row.region) && row.grp == grp),
            format!("region>='B' AND region<='E' AND grp={grp}"),
        ),
        (count(rows, |row| row.grp == grp), format!("grp={grp}")),
    ]
    .map(|(found, condition)| (found, format!("SELECT idn FROM {TABLE} WHERE {condition}")))
}

/// Groups of a region by hundreds of conditions: first as a list, then ten rounds of four
/// questions with OR.
pub(super) fn ranges(plan: &Plan, rows: u64) -> Operation {
    let loops = plan.scale.of(SHORT_LOOPS);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let all: Vec<_> = (0..loops)
        .map(|turn| Conditions::draw(turn % ASKED_REGIONS, &mut random).questions(rows))
        .collect();
    let to_each = 1 + 4 * ROUNDS;
    Operation::new(
        "select_range",
        Kind::Read,
        loops * to_each,
        move |turn, steps| {
            let (list, alternatives) = &all[which(turn.index / to_each, all.len())];
            let (found, sql) = match (turn.index % to_each).checked_sub(1) {
                None => list,
                Some(later) => &alternatives[which(later, 4)],
            };
            steps.ask(*found, format_args!("{sql}"));
        },
    )
}

/// The region of the queries, and pairs of region and group, the first of which is always the same.
struct Conditions {
    region: u64,
    pairs: Vec<(u64, u64)>,
}

impl Conditions {
    fn draw(region: u64, random: &mut Xoshiro256PlusPlus) -> Self {
        let drawn = (1..CONDITIONS).map(|_| {
            let pair = random.random_range(0..PAIRS);
            (pair % REGIONS, pair % GROUPS)
        });
        Self {
            region,
            pairs: std::iter::once((0, 1)).chain(drawn).collect(),
        }
    }

    fn questions(&self, rows: u64) -> (Question, [Question; 4]) {
        let join = |item: &dyn Fn(&(u64, u64)) -> String, between| {
            let items: Vec<_> = self.pairs.iter().map(item).collect();
            items.join(between)
        };
        let list = join(&|(_, grp)| grp.to_string(), ",");
        let groups = join(&|(_, grp)| format!("grp={grp}"), " OR ");
        let pairs = join(
            &|&(region, grp)| format!("region='{}' AND grp={grp}", letter(region)),
            " OR ",
        );
        let asked_groups: BTreeSet<_> = self.pairs.iter().map(|&(_, grp)| grp).collect();
        let asked_pairs: BTreeSet<_> = self.pairs.iter().copied().collect();
        let asked = |grp| asked_groups.contains(&grp);
        let in_region = count(rows, |row| row.region == self.region && asked(row.grp));
        let letter = letter(self.region);
        let select = |condition| format!("SELECT * FROM {TABLE} WHERE {condition}");
        let of_region = format!("region='{letter}' AND ({groups})");
        let alternatives = [
            (in_region, of_region.clone()),
            (
                count(rows, |row| asked_pairs.contains(&(row.region, row.grp))),
                pairs,
            ),
            (
                count(rows, |row| {
                    row.region == self.region && asked(row.grp) && row.idn < 50
                }),
                format!("({of_region}) AND idn<50"),
            ),
            (
                count(rows, |row| {
                    let is_asked = row.region == self.region && asked(row.grp);
                    (is_asked || (row.region == 0 && row.grp < 10)) && row.region <= 1
                }),
                format!("(({of_region}) OR (region='A' AND grp<10)) AND region<='B'"),
            ),
        ];
        (
            (
                in_region,
                select(format!("region='{letter}' AND (grp IN ({list}))")),
            ),
            alternatives.map(|(found, condition)| (found, select(condition))),
        )
    }
}
