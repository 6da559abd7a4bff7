//! The arm: where it is, what it does, how long that takes.

use super::controller::Command;
use super::geometry::{Geometry, whole};
use super::sectors::Sectors;
use super::write_cache::{Extent, Tags};
use crate::request::Nanos;

/// An operation that moves bytes between platter and cache.
#[derive(Debug)]
pub(super) enum Operation {
    Read(Command),
    /// A write that is answered when it is on the platter, and the tags of the cached writes that it
    /// replaced.
    WriteThrough(Command, Option<Tags>),
    WriteBack(Extent),
}

impl Operation {
    pub(super) fn span(&self) -> (u64, u64) {
        match self {
            Self::Read(command) | Self::WriteThrough(command, _) => command.span(),
            Self::WriteBack(extent) => (extent.start, extent.end),
        }
    }

    fn is_write(&self) -> bool {
        !matches!(self, Self::Read(_))
    }
}

/// Reading on with nothing else to do; any command ends it at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    /// The first byte, and when it passes the head.
    pub(super) from: u64,
    from_turns: f64,
    since: Nanos,
    /// The segment is full; the head rests there until the host has caught up.
    limit: u64,
}

#[derive(Debug)]
pub(super) enum State {
    Resting,
    Streaming(Stream),
    Busy { until: Nanos, operation: Operation },
}

/// Counters of the arm since the disk was switched on; times are in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Travels {
    pub(super) seeks: u64,
    pub(super) seek_ns: u64,
    pub(super) rotation_ns: u64,
    pub(super) busy_ns: u64,
}

#[derive(Debug)]
pub(super) struct Arm {
    pub(super) state: State,
    /// Position of the head, in turns of the spiral, at the end of the current operation.
    pub(super) head: f64,
    pub(super) travels: Travels,
    settle_ns: f64,
    sectors: Sectors,
}

impl Arm {
    pub(super) fn new(settle_ns: f64, sectors: Sectors) -> Self {
        Self {
            state: State::Resting,
            head: 0.0,
            travels: Travels::default(),
            settle_ns,
            sectors,
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        matches!(self.state, State::Busy { .. })
    }

    pub(super) fn next_event(&self) -> Option<Nanos> {
        match self.state {
            State::Busy { until, .. } => Some(until),
            _ => None,
        }
    }

    /// Goes for an operation: seek, wait, transfer. A read's bytes leave over the interface while they
    /// come off the platter; the interface is the faster of the two.
    pub(super) fn begin(&mut self, geometry: &Geometry, now: Nanos, operation: Operation) {
        let (start, end) = operation.span();
        let settle_ns = if operation.is_write() {
            self.settle_ns
        } else {
            0.0
        };
        let (from, to) = (geometry.turns_before(start), geometry.turns_before(end));
        let positioning = geometry.positioning(now, self.head, from, settle_ns);
        let mut transfer_ns = (to - from) * geometry.revolution_ns;
        if operation.is_write() {
            transfer_ns += self.partial_sector_ns(geometry, start, end);
        }
        let took = whole((positioning.seek_ns + positioning.wait_ns + transfer_ns).max(0.0));
        if positioning.seek_ns > 0.0 {
            self.travels.seeks += 1;
            self.travels.seek_ns += whole(positioning.seek_ns);
        }
        self.travels.rotation_ns += whole(positioning.wait_ns.max(0.0));
        self.travels.busy_ns += took;
        self.head = to;
        self.state = State::Busy {
            until: now + took,
            operation,
        };
    }

    /// A sector that is written in part is read first, unless it is known, and written when it comes
    /// round again.
    fn partial_sector_ns(&mut self, geometry: &Geometry, start: u64, end: u64) -> f64 {
        let mut reads = false;
        for sector in self.sectors.written_in_part(start, end) {
            reads |= self.sectors.learn(sector);
        }
        if reads { geometry.revolution_ns } else { 0.0 }
    }

    /// The sectors that a write has in part were read before it.
    pub(super) fn learn(&mut self, start: u64, end: u64, was_read: impl Fn(u64, u64) -> bool) {
        for sector in self.sectors.written_in_part(start, end) {
            let (from, to) = self.sectors.span(sector);
            if was_read(from, to) {
                self.sectors.learn(sector);
            }
        }
    }

    /// Ends the operation under way.
    pub(super) fn finish(&mut self) -> Operation {
        match std::mem::replace(&mut self.state, State::Resting) {
            State::Busy { operation, .. } => operation,
            _ => unreachable!("called at the end of an operation"),
        }
    }

    /// A read that the stream is about to reach: it reads on to the read's end.
    pub(super) fn read_on(
        &mut self,
        geometry: &Geometry,
        now: Nanos,
        stream: Stream,
        command: Command,
    ) {
        let (_, end) = command.span();
        let turns = geometry.turns_before(end);
        let transfer_ns = (turns - stream.from_turns) * geometry.revolution_ns;
        let until = (stream.since + whole(transfer_ns)).max(now);
        self.travels.busy_ns += until - now;
        self.head = turns;
        self.state = State::Busy {
            until,
            operation: Operation::Read(command),
        };
    }

    /// Reads ahead from a byte to a limit, from where the head is and from now.
    pub(super) fn stream(&mut self, geometry: &Geometry, now: Nanos, from: u64, limit: u64) {
        let limit = limit.min(geometry.capacity_bytes);
        if from >= limit {
            return;
        }
        let from_turns = geometry.turns_before(from);
        let positioning = geometry.positioning(now, self.head, from_turns, 0.0);
        // Slightly before now where rounding says that the head has just passed it.
        let since_ns = now as f64 + positioning.seek_ns + positioning.wait_ns;
        self.head = from_turns;
        self.state = State::Streaming(Stream {
            from,
            from_turns,
            since: whole(since_ns),
            limit,
        });
    }

    /// The host has moved on: the stream may go further. It has not stopped if this comes in time.
    pub(super) fn extend(&mut self, limit: u64, capacity_bytes: u64) {
        if let State::Streaming(stream) = &mut self.state {
            stream.limit = stream.limit.max(limit.min(capacity_bytes));
        }
    }

    /// Stops reading ahead after `reached`.
    pub(super) fn stop(&mut self, geometry: &Geometry, reached: u64) {
        self.head = geometry.turns_before(reached);
        self.state = State::Resting;
    }
}

impl Stream {
    /// Whether the arm reads, or will read, a part of a range.
    pub(super) fn meets(&self, start: u64, end: u64) -> bool {
        start < self.limit && self.from < end
    }

    /// The first byte that has not yet come off the platter.
    pub(super) fn reached(&self, geometry: &Geometry, now: Nanos) -> u64 {
        let passed_ns = now.saturating_sub(self.since) as f64;
        geometry
            .byte_after(self.from_turns + passed_ns / geometry.revolution_ns)
            .clamp(self.from, self.limit)
    }

    pub(super) fn has_stopped(&self, reached: u64) -> bool {
        reached == self.limit
    }
}
