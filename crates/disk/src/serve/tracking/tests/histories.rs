//! Seeded histories of requests, on contents that run full, in sectors of all sizes: what a cut leaves is
//! what a plain model permits, and what a replay of the log leaves.

use std::path::Path;

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use tempfile::TempDir;

use super::super::*;
use crate::account::log::replay;
use crate::contents::{Image, Store};
use crate::volatile::Keep;

/// Not whole sectors, nor whole blocks, of any size that is tried.
const SIZE_BYTES: u64 = 20 * 16_384 + 512;
const BLOCK: u64 = 4096;

fn medium(sector_bytes: u64) -> Medium {
    Medium {
        size_bytes: SIZE_BYTES,
        sector_bytes,
        survives: true,
    }
}

fn all(contents: &Contents) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(SIZE_BYTES).expect("small")];
    contents.read(0, &mut bytes).expect("read");
    bytes
}

fn unlimited(bytes: &[u8]) -> Contents {
    let mut contents = Contents::new(SIZE_BYTES, Store::memory(u64::MAX), None);
    contents.write(0, bytes).expect("room");
    contents
}

/// What each sector may hold after a cut: the last that was safe, and what came since.
struct Permitted {
    sector: usize,
    sectors: Vec<Vec<(u64, Vec<u8>)>>,
}

impl Permitted {
    fn new(sector_bytes: u64, bytes: &[u8]) -> Self {
        let sector = usize::try_from(sector_bytes).expect("small");
        let sectors = bytes.chunks(sector);
        Self {
            sector,
            sectors: sectors.map(|held| vec![(0, held.to_vec())]).collect(),
        }
    }

    fn changed(&mut self, number: u64, from: u64, length: u64, bytes: &[u8]) {
        let touched = from / self.sector as u64..(from + length).div_ceil(self.sector as u64);
        for at in touched.map(|at| usize::try_from(at).expect("small")) {
            let held = bytes.chunks(self.sector).nth(at).expect("on the disk");
            self.sectors[at].push((number, held.to_vec()));
        }
    }

    fn stable(&mut self, number: u64) {
        for versions in &mut self.sectors {
            if let Some(place) = versions.iter().rposition(|(of, _)| *of == number) {
                versions.drain(..place);
            }
        }
    }

    fn check(&self, bytes: &[u8]) {
        for (at, held) in bytes.chunks(self.sector).enumerate() {
            let known = self.sectors[at].iter().any(|(_, version)| version == held);
            assert!(known, "sector {at} holds what was never to be there");
        }
    }
}

struct History {
    random: Xoshiro256PlusPlus,
    tracking: Tracking,
    contents: Contents,
    permitted: Permitted,
    open: Vec<Ticket>,
    failed: u64,
}

impl History {
    fn step(&mut self) {
        match self.random.random_range(0..12) {
            0 => self.tell(),
            1 if self.random.random_bool(0.2) => {
                self.tracking.untimed(Kind::Flush, None, 1);
                let open = std::mem::take(&mut self.open);
                for ticket in open {
                    self.permitted.stable(ticket.number);
                }
            }
            2 => drop(self.tracking.asked(Record::Read, Request::read(0, 512), 1)),
            3..6 => self.request(true),
            _ => self.request(false),
        }
    }

    /// Something becomes safe, in any order.
    fn tell(&mut self) {
        if self.open.is_empty() {
            return;
        }
        let ticket = self
            .open
            .swap_remove(self.random.random_range(0..self.open.len()));
        self.tracking.stable(ticket, 1);
        self.tracking.answered(ticket, 1);
        self.permitted.stable(ticket.number);
    }

    /// Some of them lie beyond the end, and for some there is no room.
    fn request(&mut self, discard: bool) {
        let from = self.random.random_range(0..SIZE_BYTES);
        let longest = [600, 9_000, 60_000][self.random.random_range(0..3)];
        let length = self.random.random_range(1..=longest);
        let before = all(&self.contents);
        let (ticket, outcome) = if discard {
            self.tracking.discard(&mut self.contents, from, length, 1)
        } else {
            let mut bytes = vec![0; usize::try_from(length).expect("small")];
            self.random.fill_bytes(&mut bytes);
            self.tracking.write(&mut self.contents, from, &bytes, 1)
        };
        let ticket = ticket.expect("it is tracked");
        let after = all(&self.contents);
        if outcome.is_ok() {
            let length = length.min(SIZE_BYTES - from);
            self.permitted.changed(ticket.number, from, length, &after);
            self.open.push(ticket);
            return;
        }
        self.failed += 1;
        if ticket.writes == 0 {
            assert!(before == after, "it failed and changed something");
        } else {
            // The pieces of a discard that were done are safe at once.
            self.permitted = Permitted {
                sectors: std::mem::take(&mut self.permitted.sectors),
                ..Permitted::new(self.permitted.sector as u64, &[])
            };
            for (at, (was, is)) in before
                .chunks(self.permitted.sector)
                .zip(after.chunks(self.permitted.sector))
                .enumerate()
            {
                if was != is {
                    self.permitted.sectors[at] = vec![(ticket.number, is.to_vec())];
                }
            }
        }
    }
}

fn check_replay(log: &Path, base: &[u8], left: &[u8], survivors: &Survivors) {
    let mut contents = unlimited(base);
    let log = File::open(log).expect("the log");
    let replayed = replay(&log, &mut contents).expect("replayed");
    assert_eq!(replayed.survivors, *survivors);
    assert_eq!(replayed.logged, *survivors);
    assert!(all(&contents) == left, "a replay leaves other bytes");
}

/// Cut after cut: how many requests failed, and how many writes were torn.
fn live(sector_bytes: u64, seed: u64, limit_bytes: u64) -> (u64, u64) {
    let folder = TempDir::new().expect("a folder");
    let mut contents = Contents::new(SIZE_BYTES, Store::memory(limit_bytes), None);
    contents.write(0, &vec![9; 70_000]).expect("room");
    contents.snapshot("first").expect("kept");
    let mut history = History {
        random: Xoshiro256PlusPlus::seed_from_u64(seed),
        tracking: Tracking::new(Clock::start(1), medium(sector_bytes)),
        permitted: Permitted::new(sector_bytes, &[]),
        contents,
        open: Vec::new(),
        failed: 0,
    };
    let mut torn = 0;
    for round in 0..3 {
        let log = folder.path().join(format!("log-{round}"));
        let base = all(&history.contents);
        let file = File::create_new(&log).expect("a new file");
        let begun = history.tracking.begin(&history.contents, "any", Some(file));
        begun.expect("begun");
        history.permitted = Permitted::new(sector_bytes, &base);
        history.open.clear();
        for _ in 0..40 {
            history.step();
        }
        let choice = Choice {
            seed,
            keep: Keep::Random,
        };
        let survivors = cut(&history.tracking, &mut history.contents, choice).expect("cut");
        let left = all(&history.contents);
        history.permitted.check(&left);
        check_replay(&log, &base, &left, &survivors);
        torn += survivors.torn_writes;
    }
    (history.failed, torn)
}

fn cut(tracking: &Tracking, contents: &mut Contents, choice: Choice) -> anyhow::Result<Survivors> {
    let (survivors, log) = tracking.cut(contents, choice, 1)?;
    finish(log);
    Ok(survivors)
}

#[test]
fn a_cut_leaves_what_is_permitted_and_a_replay_leaves_the_same() {
    let (mut failed_for_room, mut torn) = (0, 0);
    for sector_bytes in [512, 4096, 16_384] {
        for seed in 0..6 {
            let (outside, torn_here) = live(sector_bytes, seed, u64::MAX);
            // The same requests on little room.
            let (failed, _) = live(sector_bytes, seed, 40 * BLOCK);
            failed_for_room += failed.saturating_sub(outside);
            torn += torn_here;
        }
    }
    assert!(failed_for_room > 0, "there was room for all");
    assert!(torn > 0, "nothing was torn");
}

fn full(tracking: &Tracking) -> Contents {
    let mut contents = Contents::new(SIZE_BYTES, Store::memory(16 * BLOCK), None);
    contents.write(0, &vec![1; 16 * 4096]).expect("room");
    tracking.begin(&contents, "any", None).expect("begun");
    contents
}

const NOTHING: Choice = Choice {
    seed: 1,
    keep: Keep::Nothing,
};

#[test]
fn what_was_safe_comes_back_though_its_room_was_taken() {
    let tracking = Tracking::new(Clock::start(1), medium(512));
    let mut contents = full(&tracking);
    let before = all(&contents);
    let (_, outcome) = tracking.discard(&mut contents, 0, 8 * BLOCK, 1);
    outcome.expect("discarded");
    let (_, outcome) = tracking.write(&mut contents, 16 * BLOCK, &vec![2; 8 * 4096], 1);
    outcome.expect("room");
    cut(&tracking, &mut contents, NOTHING).expect("cut");
    assert!(all(&contents) == before);
    tracking.check_survivors().expect("they are there");
}

#[test]
fn a_write_that_fails_leaves_what_was_there_and_what_is_at_risk_of_it() {
    let tracking = Tracking::new(Clock::start(1), medium(512));
    let mut contents = full(&tracking);
    let before = all(&contents);
    let (_, outcome) = tracking.write(&mut contents, 15 * BLOCK, &[2; 4096], 1);
    outcome.expect("room");
    let written = all(&contents);
    let at_risk = || {
        let state = tracking.state.lock();
        state.account.as_ref().map(Account::at_risk)
    };
    let of_the_first = at_risk();
    assert_eq!(of_the_first.expect("it is tracked").writes, 1);
    for (from, bytes) in [(15 * BLOCK, &[3; 8192][..]), (SIZE_BYTES - 1, &[3; 2])] {
        let (ticket, outcome) = tracking.write(&mut contents, from, bytes, 1);
        outcome.expect_err("no room");
        assert_eq!(ticket.expect("tracked").writes, 0);
        assert!(all(&contents) == written);
        assert_eq!(at_risk(), of_the_first);
    }
    cut(&tracking, &mut contents, NOTHING).expect("cut");
    assert!(all(&contents) == before);
}

#[test]
fn the_bytes_of_a_cut_that_failed_are_nobodys() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("image");
    std::fs::write(&path, vec![7; 65_536]).expect("written");
    let image = Image::open(&path, u64::MAX).expect("opened");
    let mut contents = Contents::new(SIZE_BYTES, Store::memory(u64::MAX), Some(image));
    let tracking = Tracking::new(Clock::start(1), medium(16_384));
    tracking.begin(&contents, "any", None).expect("begun");
    let (_, outcome) = tracking.write(&mut contents, 0, &[1; 512], 1);
    outcome.expect("room");
    let file = std::fs::File::options().write(true).open(&path);
    file.expect("opened").set_len(0).expect("cut short");
    cut(&tracking, &mut contents, NOTHING).expect_err("its image has gone");
    let said = tracking.check_survivors().expect_err("neither").to_string();
    assert!(said.contains("restore a snapshot"), "{said}");
    tracking.renew();
    tracking.check_survivors().expect("other bytes");
}
