//! The account held to a tiny reference: every image is what was safe and a permitted choice of the
//! rest, sector by sector. And the reference held to mistakes that are planted.

mod disk;
mod reference;

use std::collections::{BTreeMap, BTreeSet};

use super::{AtRisk, Choice, Keep, Outage, Volatile, WriteId};
use disk::{BUGS, Bug, Disk};
use reference::{Reference, Step, draw};

const POLICIES: [Keep; 4] = [Keep::Nothing, Keep::All, Keep::Subset, Keep::Prefix];

/// Cuts a disk after a history; what is wrong with what is left.
fn try_one(
    sectors: usize,
    history: &[Step],
    bug: Option<Bug>,
    seed: u64,
    keep: Keep,
) -> Result<(), String> {
    let (image, told) = Disk::after(sectors, history, bug).cut(seed, keep);
    let reference = Reference::of(sectors, history);
    let judged = reference.judge(&image, &told);
    judged.map_err(|why| format!("{history:?}, {keep:?} with seed {seed}: {why}"))
}

/// What is wrong with the first of many random histories in which something is.
fn try_many(bug: Option<Bug>, histories: u64) -> Result<(), String> {
    let tempers = (0..histories).zip([2, 5, 8].into_iter().cycle());
    for ((seed, sectors), steps) in tempers.zip((4..44).cycle()) {
        let history = draw(sectors, steps, seed);
        for keep in POLICIES.into_iter().chain([Keep::Random]) {
            try_one(sectors, &history, bug, seed, keep)?;
        }
    }
    Ok(())
}

#[test]
fn every_image_is_what_was_safe_and_a_permitted_choice_of_the_rest() {
    try_many(None, 1_000).expect("no mistake was planted");
}

#[test]
fn mistakes_that_are_planted_are_seen() {
    for bug in BUGS {
        let found = try_many(Some(bug), 1_000).expect_err("it goes unseen");
        println!("{bug:?}: {found}");
    }
}

/// Every write of a part of a disk, a discard, and every write that becomes stable.
fn next_steps(sectors: usize, history: &[Step]) -> Vec<Step> {
    let mut steps = Vec::new();
    for first in 0..sectors {
        let lengths = 1..=sectors - first;
        steps.extend(lengths.map(|sectors| Step::Write { first, sectors }));
    }
    steps.push(Step::Discard {
        first: 1,
        sectors: sectors - 1,
    });
    let is_write = |step: &&Step| matches!(step, Step::Write { .. } | Step::Discard { .. });
    let writes = history.iter().filter(is_write).count();
    let stable = (1..=writes).map(Step::Stable);
    steps.extend(stable.filter(|step| !history.contains(step)));
    steps
}

#[test]
fn of_short_histories_all_are_tried() {
    const SECTORS: usize = 3;
    const SEEDS: u64 = 2;
    let mut histories = vec![Vec::new()];
    for _ in 0..4 {
        let longer = histories.iter().flat_map(|history: &Vec<Step>| {
            let steps = next_steps(SECTORS, history);
            steps.into_iter().map(|step| {
                let mut longer = history.clone();
                longer.push(step);
                longer
            })
        });
        histories = longer.collect();
        for history in &histories {
            for keep in POLICIES {
                for seed in 0..SEEDS {
                    try_one(SECTORS, history, None, seed, keep).expect("no mistake");
                }
            }
        }
    }
    assert!(histories.len() > 4_000, "{}", histories.len());
}

/// A cut may leave whatever is permitted: it is no easier on a database than a disk would be.
#[test]
fn all_that_is_permitted_happens() {
    let histories = [
        vec![write(0, 3)],
        vec![write(0, 2), write(1, 2)],
        vec![write(0, 3), Step::Stable(1), write(0, 2), write(1, 1)],
        vec![write(0, 3), write(0, 3)],
    ];
    for history in histories {
        let permitted = Reference::of(3, &history).permitted_images();
        let mut images = BTreeSet::new();
        for seed in 0..20_000 {
            images.insert(Disk::after(3, &history, None).cut(seed, Keep::Subset).0);
            if images.len() == permitted {
                break;
            }
        }
        assert_eq!(images.len(), permitted, "of {history:?}");
    }
}

fn write(first: usize, sectors: usize) -> Step {
    Step::Write { first, sectors }
}

#[test]
fn a_random_cut_keeps_in_each_of_the_ways() {
    let history = [write(0, 2), write(3, 4), write(1, 3)];
    let mut kept = BTreeMap::new();
    for seed in 0..400 {
        let (_, told) = Disk::after(8, &history, None).cut(seed, Keep::Random);
        *kept.entry(format!("{:?}", told.kept)).or_insert(0) += 1;
    }
    assert_eq!(kept.len(), 4, "{kept:?}");
    assert!(kept.values().all(|times| *times > 60), "{kept:?}");
}

fn cut(history: &[Step], seed: u64, keep: Keep) -> Outage {
    let mut disk = Disk::after(8, history, None);
    let outage = disk.account.cut(Choice { seed, keep });
    assert_eq!(disk.account.at_risk(), AtRisk::default(), "after a cut");
    assert_eq!(disk.account.spans.iter().count(), 0);
    outage
}

#[test]
fn the_same_choice_has_the_same_outcome_and_another_seed_another() {
    let outcomes: BTreeSet<String> = (0..50)
        .map(|seed| {
            let history = draw(8, 30, 11);
            let outage = cut(&history, seed, Keep::Subset);
            assert_eq!(outage, cut(&history, seed, Keep::Subset));
            format!("{outage:?}")
        })
        .collect();
    assert!(outcomes.len() > 10, "{}", outcomes.len());
}

/// The account is as large as what is at risk, and every version in it is one of those.
#[test]
fn nothing_is_kept_of_what_is_safe() {
    for seed in 0..500 {
        let history = draw(8, 60, seed);
        let account = Disk::after(8, &history, None).account;
        let mut spans_end = 0;
        let mut bytes = BTreeMap::new();
        for (stretch, span) in account.spans.iter() {
            assert!(stretch.start >= spans_end && !stretch.is_empty());
            assert!(span.versions.is_sorted() && !span.versions.is_empty());
            spans_end = stretch.end;
            for id in &span.versions {
                *bytes.entry(*id).or_insert(0) += stretch.end - stretch.start;
            }
        }
        let writes = account.writes.iter();
        let wanted: BTreeMap<WriteId, u64> = writes
            .map(|(id, write)| (*id, write.at_risk_bytes))
            .collect();
        assert_eq!(bytes, wanted, "{history:?}");
        assert!(!wanted.values().any(|bytes| *bytes == 0));
    }
}

#[test]
fn the_discard_of_a_large_disk_costs_what_lay_there() {
    const TEBI: u64 = 1 << 40;
    let held = [(TEBI / 2, &[7_u8; 8192][..])];
    for seed in 0..50 {
        let mut account = Volatile::new(4096);
        account.discarded(WriteId(0), 0, TEBI, &held);
        account.wrote(WriteId(1), TEBI / 2 + 4096, &[9; 4096], &[0; 4096]);
        assert_eq!(account.at_risk().bytes, TEBI + 4096);
        let outage = account.cut(Choice {
            seed,
            keep: Keep::Subset,
        });
        let patched: usize = outage.patches.iter().map(|(_, bytes)| bytes.len()).sum();
        assert!(patched <= 8192, "{patched}");
        assert_eq!(outage.kept_bytes + outage.lost_bytes, TEBI + 4096);
    }
}

#[test]
fn settled_is_as_it_reads() {
    let mut disk = Disk::after(4, &[write(0, 4), write(1, 2)], None);
    disk.account.settle();
    assert_eq!(disk.account.at_risk(), AtRisk::default());
    let before = disk.contents.clone();
    let (image, told) = disk.cut(3, Keep::Nothing);
    assert_eq!((image, told.lost_bytes), (before, 0));
}

#[test]
#[should_panic(expected = "WriteId(4) after")]
fn numbers_ascend() {
    let mut account = Volatile::new(512);
    account.wrote(WriteId(4), 0, &[1; 512], &[0; 512]);
    account.wrote(WriteId(4), 512, &[1; 512], &[0; 512]);
}

#[test]
#[should_panic(expected = "in sectors of 4096")]
fn a_part_of_a_sector_is_no_write() {
    Volatile::new(4096).wrote(WriteId(0), 512, &[1; 4096], &[0; 4096]);
}

#[test]
#[should_panic(expected = "follows")]
fn pieces_below_a_discard_ascend() {
    let pieces = [(512, &[1; 512][..]), (0, &[1; 512][..])];
    Volatile::new(512).discarded(WriteId(0), 0, 4096, &pieces);
}
