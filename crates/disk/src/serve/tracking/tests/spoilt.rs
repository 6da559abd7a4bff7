//! Sectors that cannot be read, over writes and cuts.

use super::super::*;
use crate::contents::Store;
use crate::volatile::Keep;

const SECTOR: u64 = 512;

fn tracked() -> (Tracking, Contents) {
    let size_bytes = 64 * SECTOR;
    let medium = Medium {
        size_bytes,
        sector_bytes: SECTOR,
        survives: true,
        has_head: true,
    };
    let tracking = Tracking::new(Clock::start(1), medium);
    let contents = Contents::new(size_bytes, Store::memory(size_bytes), None);
    tracking.begin(&contents, "a disk", None).expect("begun");
    (tracking, contents)
}

fn write(tracking: &Tracking, contents: &mut Contents, sector: u64, byte: u8) -> Ticket {
    let (from, bytes) = (sector * SECTOR, [byte; 512]);
    assert!(tracking.may_write(from..from + SECTOR));
    let (ticket, outcome) = tracking.write(contents, from, &bytes, 0);
    outcome.expect("written");
    tracking.rewritten(ticket, from..from + SECTOR);
    ticket.expect("a number")
}

fn cut(tracking: &Tracking, contents: &mut Contents, keep: Keep) {
    let choice = Choice {
        seed: 1,
        keep,
        unreadable: false,
    };
    tracking.cut(contents, choice, 0).expect("cut");
}

fn unreadable(tracking: &Tracking) -> Vec<u64> {
    let sectors = 0..64;
    let unreadable = |at: &u64| tracking.is_unreadable(at * SECTOR, SECTOR);
    sectors.filter(unreadable).collect()
}

#[test]
fn a_cut_makes_no_sector_good() {
    let (tracking, mut contents) = tracked();
    tracking.set_unreadable(&[3 * SECTOR]);
    write(&tracking, &mut contents, 7, 1);
    for keep in [Keep::Nothing, Keep::All, Keep::Subset] {
        cut(&tracking, &mut contents, keep);
        assert_eq!(unreadable(&tracking), [3]);
    }
}

#[test]
fn a_sector_is_as_good_as_the_write_that_made_it_so() {
    for (keep, stable, again, bad) in [
        (Keep::All, None, false, false),
        (Keep::Nothing, None, false, true),
        (Keep::Nothing, None, true, true),
        (Keep::Nothing, Some(0), false, false),
        (Keep::Nothing, Some(0), true, false),
        // A later write that is stable, too, has made it good.
        (Keep::Nothing, Some(1), true, false),
    ] {
        let (tracking, mut contents) = tracked();
        tracking.set_unreadable(&[3 * SECTOR]);
        let mut tickets = vec![write(&tracking, &mut contents, 3, 1)];
        if again {
            tickets.push(write(&tracking, &mut contents, 3, 2));
        }
        assert!(unreadable(&tracking).is_empty());
        if let Some(nth) = stable {
            let told: &Ticket = &tickets[nth];
            tracking.stable(*told, 0);
        }
        cut(&tracking, &mut contents, keep);
        assert_eq!(
            unreadable(&tracking) == [3],
            bad,
            "{keep:?}, {stable:?} of {tickets:?}"
        );
        // What was good before the cut is no matter of the next one.
        write(&tracking, &mut contents, 3, 3);
        cut(&tracking, &mut contents, Keep::All);
        cut(&tracking, &mut contents, Keep::Nothing);
        assert!(unreadable(&tracking).is_empty());
    }
}

#[test]
fn a_discard_makes_good_what_it_has_as_a_whole_until_a_cut_takes_it() {
    let (tracking, mut contents) = tracked();
    tracking.set_unreadable(&[3 * SECTOR]);
    for (from, end, may) in [(1000, 1600, false), (1000, 2100, true)] {
        assert_eq!(tracking.may_write(from..end), may);
    }
    let (ticket, outcome) = tracking.discard(&mut contents, 1000, 1100, 0);
    outcome.expect("discarded");
    tracking.rewritten(ticket, 1000..2100);
    assert!(unreadable(&tracking).is_empty());
    cut(&tracking, &mut contents, Keep::Nothing);
    assert_eq!(unreadable(&tracking), [3]);
}
