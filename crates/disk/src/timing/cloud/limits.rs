//! The provider's limits: I/Os a second, bytes a second, and credits for more.

use super::parameters::CloudParameters;
use crate::request::{Kind, NANOS_PER_S, Nanos, Request};

const MIB: f64 = 1_048_576.0;

#[derive(Debug, Default)]
pub(super) struct Limits {
    io_bytes: u64,
    flush_ios: u64,
    /// Whether an I/O takes its time before its bytes take theirs. Otherwise they take it side by side.
    in_turn: bool,
    /// Between I/Os, while there are credits; of reads, and of all else.
    io_ns: [f64; 2],
    byte_ns: [f64; 2],
    /// When the next I/O and the next byte may pass.
    next_io: f64,
    next_byte: f64,
    credit: Option<Credit>,
    /// The I/O that a request which follows may join.
    open: Option<Open>,
    pub(super) ios: u64,
    pub(super) merged: u64,
    pub(super) throttled: u64,
    pub(super) throttled_ns: u64,
}

/// An I/O that is not full.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// Its last request.
    last: Request,
    held_bytes: u64,
    /// When it is let through; what comes then or later is an I/O of its own.
    until: Nanos,
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
        let rate = parameters.mib_per_s.value;
        let writes = (
            parameters
                .write_iops
                .as_ref()
                .map_or(fastest, |iops| iops.value),
            parameters
                .write_mib_per_s
                .as_ref()
                .map_or(rate, |rate| rate.value),
        );
        Self {
            io_bytes: parameters.io_bytes.value,
            flush_ios: parameters.flush_ios.value,
            in_turn: parameters.batches.value,
            io_ns: [fastest, writes.0].map(|iops| NANOS_PER_S as f64 / iops),
            byte_ns: [rate, writes.1].map(|rate| NANOS_PER_S as f64 / (rate * MIB)),
            credit: burst.map(|burst| Credit {
                balance: burst.credits.value,
                most: burst.most_credits.value,
                growth: base / NANOS_PER_S as f64,
                counted_at: 0.0,
            }),
            ..Self::default()
        }
    }

    /// When a request that comes at `now`, after all others, is let through. Its bytes must have passed
    /// as well as its I/Os have their turn; what joins an I/O goes with it.
    pub(super) fn pass(&mut self, now: Nanos, request: Request) -> Nanos {
        let held_bytes = self.joined_bytes(now, request);
        let all_bytes = held_bytes + request.length_bytes;
        let ios = all_bytes.div_ceil(self.io_bytes) - held_bytes.div_ceil(self.io_bytes);
        let now_ns = now as f64;
        let turn = self.turn(now_ns, request.kind, ios);
        let begin = self
            .next_byte
            .max(if self.in_turn { self.next_io } else { turn });
        self.next_byte =
            begin + request.length_bytes as f64 * self.byte_ns[limited_as(request.kind)];
        // Time beyond what the bytes themselves take is the limits' doing.
        self.count_wait(if self.in_turn { turn } else { begin } - now_ns);
        let passed = self.next_byte.ceil() as Nanos;
        self.merged += u64::from(ios == 0);
        // A full I/O is joined by nothing.
        let held_bytes = all_bytes % self.io_bytes;
        self.open = (held_bytes > 0).then_some(Open {
            last: request,
            held_bytes,
            until: passed,
        });
        passed
    }

    /// The bytes of the I/O that a request joins; none if it begins one.
    fn joined_bytes(&self, now: Nanos, request: Request) -> u64 {
        match self.open {
            Some(open) if now < open.until && follows(open.last, request) => open.held_bytes,
            _ => 0,
        }
    }

    /// When a flush that comes at `now` is let through. Requests after it do not merge with those before it.
    pub(super) fn flush(&mut self, now: Nanos) -> Nanos {
        self.open = None;
        let turn = self.turn(now as f64, Kind::Flush, self.flush_ios);
        self.count_wait(turn - now as f64);
        turn.ceil() as Nanos
    }

    /// The moment, from `now` on, at which that many I/Os have their turn; takes it.
    fn turn(&mut self, now: f64, kind: Kind, ios: u64) -> f64 {
        if ios == 0 {
            return now;
        }
        let mut turn = now.max(self.next_io);
        if let Some(credit) = &mut self.credit {
            turn = credit.take(turn, ios as f64);
        }
        self.next_io = turn + ios as f64 * self.io_ns[limited_as(kind)];
        self.ios += ios;
        turn
    }

    fn count_wait(&mut self, waited: f64) {
        if waited >= 1.0 {
            self.throttled += 1;
            self.throttled_ns += waited as u64;
        }
    }

    pub(super) fn credits(&self) -> Option<u64> {
        self.credit.as_ref().map(|credit| credit.balance as u64)
    }
}

fn limited_as(kind: Kind) -> usize {
    usize::from(kind != Kind::Read)
}

fn follows(last: Request, next: Request) -> bool {
    last.kind == next.kind && last.end_bytes() == next.offset_bytes
}

impl Credit {
    /// The moment, from `turn` on, at which that many credits are there; takes them.
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
