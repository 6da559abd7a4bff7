//! A device, its bytes and the account of them, cut at every flush: what a user could lose.

use std::collections::BTreeSet;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::contract::{draw, pause};
use super::{History, SECTOR_BYTES};
use crate::request::{Kind, Nanos, Request, Tag};
use crate::timing::{Event, Timing};
use crate::volatile::{Choice, Keep, Volatile, WriteId};

/// What a history found of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::timing) struct Exposure {
    pub(in crate::timing) flushes: u64,
    /// Flushes after which a cut took something that was answered before the flush was asked for.
    pub(in crate::timing) broken_flushes: u64,
    /// Writes that a cut at their answer took, at least in part.
    pub(in crate::timing) exposed_answers: u64,
}

struct Watched<'a> {
    timing: &'a mut dyn Timing,
    account: Volatile,
    /// Who wrote each sector last, all writes applied; 0 where nobody did.
    sectors: Vec<u64>,
    requests: Vec<Request>,
    answered: BTreeSet<u64>,
    /// What had been answered when a flush was asked for.
    promises: Vec<Vec<u64>>,
    found: Exposure,
}

/// Runs a history and cuts the power at each answer of a flush, keeping nothing that is at risk.
pub(in crate::timing) fn exposure(timing: &mut dyn Timing, history: History) -> Exposure {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(history.seed);
    let sectors = usize::try_from(history.span_bytes / SECTOR_BYTES).expect("a small span");
    let mut watched = Watched {
        timing,
        account: Volatile::new(SECTOR_BYTES),
        sectors: vec![0; sectors],
        requests: Vec::new(),
        answered: BTreeSet::new(),
        promises: Vec::new(),
        found: Exposure::default(),
    };
    let mut now = 0;
    while watched.requests.len() < usize::try_from(history.requests).expect("few") {
        now += pause(&mut random, history.pause_ns);
        watched.advance(now);
        watched.submit(now, telling(draw(&mut random, history.span_bytes)));
    }
    while let Some(at) = watched.timing.next_event() {
        watched.advance(at);
    }
    assert_eq!(watched.account.at_risk().writes, 0, "it rests");
    watched.found
}

impl Watched<'_> {
    fn submit(&mut self, now: Nanos, request: Request) {
        // 0 is nobody's.
        self.requests.push(request);
        let number = self.requests.len() as u64;
        let promised = match request.kind {
            Kind::Flush => self.answered.iter().copied().collect(),
            _ => Vec::new(),
        };
        self.promises.push(promised);
        if request.kind == Kind::Write {
            self.write(number, request);
        }
        self.timing.submit(now, Tag(number), request);
    }

    fn write(&mut self, number: u64, request: Request) {
        let mine = &mut self.sectors[sectors_of(request)];
        let before: Vec<Vec<u8>> = mine.iter().map(|number| bytes_of(*number)).collect();
        let before = before.concat();
        let bytes = bytes_of(number).repeat(mine.len());
        mine.fill(number);
        self.account
            .wrote(WriteId(number), request.offset_bytes, &bytes, &before);
    }

    fn advance(&mut self, to: Nanos) {
        let mut events = Vec::new();
        self.timing.advance(to, &mut events);
        for event in events {
            match event {
                Event::Stable { tag, .. } => self.account.stable(WriteId(tag.0)),
                Event::Answered { tag, .. } => self.hear_answer(tag.0),
            }
        }
    }

    fn hear_answer(&mut self, number: u64) {
        let request = self.requests[index(number - 1)];
        match request.kind {
            Kind::Read | Kind::Discard => {}
            Kind::Write => {
                self.account.answered(WriteId(number));
                self.answered.insert(number);
                self.found.exposed_answers += u64::from(self.account.is_at_risk(WriteId(number)));
            }
            Kind::Flush => {
                self.found.flushes += 1;
                self.found.broken_flushes += u64::from(self.a_cut_breaks(number));
            }
        }
    }

    /// Whether some sector holds something older than what a flush promised to keep there.
    fn a_cut_breaks(&self, flush: u64) -> bool {
        let left = self.left_by_a_cut();
        let mut promised = self.promises[index(flush - 1)].iter();
        promised.any(|number| {
            let sectors = sectors_of(self.requests[index(*number - 1)]);
            left[sectors].iter().any(|left| left < number)
        })
    }

    /// Who is to be read in each sector after a cut that keeps nothing.
    fn left_by_a_cut(&self) -> Vec<u64> {
        let outage = self.account.clone().cut(Choice {
            seed: 0,
            keep: Keep::Nothing,
        });
        let mut left = self.sectors.clone();
        for (offset, bytes) in outage.patches {
            let sectors = bytes.chunks_exact(index(SECTOR_BYTES));
            for (at, sector) in (index(offset / SECTOR_BYTES)..).zip(sectors) {
                let number = sector[..8].try_into().expect("eight bytes");
                left[at] = u64::from_le_bytes(number);
            }
        }
        left
    }
}

/// Zeroes do not tell who wrote them: a write in the place of a discard.
fn telling(request: Request) -> Request {
    match request.kind {
        Kind::Discard => Request::write(request.offset_bytes, request.length_bytes),
        _ => request,
    }
}

fn sectors_of(request: Request) -> std::ops::Range<usize> {
    index(request.offset_bytes / SECTOR_BYTES)..index(request.end_bytes() / SECTOR_BYTES)
}

/// A sector says who wrote it.
fn bytes_of(number: u64) -> Vec<u8> {
    let mut bytes = number.to_le_bytes().to_vec();
    bytes.resize(index(SECTOR_BYTES), 0);
    bytes
}

fn index(number: u64) -> usize {
    usize::try_from(number).expect("a small disk")
}
