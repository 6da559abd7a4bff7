//! What the provider lets through: I/Os a second, bytes a second, and credits for more.

use super::parameters::CloudParameters;
use crate::request::{NANOS_PER_S, Nanos, Request};

const MIB: f64 = 1_048_576.0;

#[derive(Debug)]
pub(super) struct Limits {
    io_bytes: u64,
    /// Between I/Os, while there are credits.
    io_ns: f64,
    byte_ns: f64,
    /// When the next I/O and the next byte may pass.
    next_io: f64,
    next_byte: f64,
    credit: Option<Credit>,
    /// The I/O that a request which follows may join: its kind, where it ends, the bytes it has.
    joined: Option<(Request, u64)>,
    pub(super) ios: u64,
    pub(super) merged: u64,
    pub(super) throttled: u64,
    pub(super) throttled_ns: u64,
}

#[derive(Debug)]
struct Credit {
    balance: f64,
    most: f64,
    /// Credits a nanosecond.
    growth: f64,
    counted_at: f64,
}

impl Limits {
    pub(super) fn new(parameters: &CloudParameters) -> Self {
        let base = parameters.base_iops();
        let burst = parameters
            .burst
            .as_ref()
            .filter(|burst| burst.iops.value > base);
        let fastest = burst.map_or(base, |burst| burst.iops.value);
        Self {
            io_bytes: parameters.io_bytes.value,
            io_ns: NANOS_PER_S as f64 / fastest,
            byte_ns: NANOS_PER_S as f64 / (parameters.mib_per_s.value * MIB),
            next_io: 0.0,
            next_byte: 0.0,
            credit: burst.map(|burst| Credit {
                balance: burst.credits.value,
                most: burst.most_credits.value,
                growth: base / NANOS_PER_S as f64,
                counted_at: 0.0,
            }),
            joined: None,
            ios: 0,
            merged: 0,
            throttled: 0,
            throttled_ns: 0,
        }
    }

    /// When a request that comes at `now`, after all others, is let through. Its bytes must have passed
    /// as well as its I/Os have their turn.
    pub(super) fn pass(&mut self, now: Nanos, request: Request) -> Nanos {
        let ios = self.count(request) as f64;
        let now_ns = now as f64;
        let mut turn = self.next_io.max(now_ns);
        if let Some(credit) = &mut self.credit {
            turn = credit.take(turn, ios);
        }
        self.next_io = turn + ios * self.io_ns;
        let begin = self.next_byte.max(turn);
        self.next_byte = begin + request.length_bytes as f64 * self.byte_ns;
        // Time beyond what the bytes themselves take is the limits' doing.
        let waited = begin - now_ns;
        if waited >= 1.0 {
            self.throttled += 1;
            self.throttled_ns += waited as u64;
        }
        self.next_byte.ceil() as Nanos
    }

    /// How many I/Os a request counts for, beyond those it joins.
    fn count(&mut self, request: Request) -> u64 {
        let held = match self.joined {
            Some((last, held)) if follows(last, request) => held,
            _ => 0,
        };
        let (before, after) = (
            held.div_ceil(self.io_bytes),
            (held + request.length_bytes).div_ceil(self.io_bytes),
        );
        let ios = after - before;
        self.merged += u64::from(ios == 0);
        self.ios += ios;
        // A full I/O is joined by nothing.
        let rest = (held + request.length_bytes) % self.io_bytes;
        self.joined = (rest > 0).then_some((request, rest));
        ios
    }

    pub(super) fn credits(&self) -> Option<u64> {
        self.credit.as_ref().map(|credit| credit.balance as u64)
    }
}

fn follows(last: Request, next: Request) -> bool {
    last.kind == next.kind && last.end_bytes() == next.offset_bytes
}

impl Credit {
    /// When so many credits are there, from `turn` on; takes them.
    fn take(&mut self, turn: f64, ios: f64) -> f64 {
        self.balance = (self.balance + (turn - self.counted_at) * self.growth).min(self.most);
        self.counted_at = turn;
        let missing = (ios - self.balance).max(0.0);
        let ready = turn + missing / self.growth;
        self.balance = (self.balance + missing - ios).max(0.0);
        self.counted_at = ready;
        ready
    }
}
