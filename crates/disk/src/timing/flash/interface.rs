//! The way between host and controller: how many commands, how fast their bytes.

use std::collections::VecDeque;

use super::parameters::FlashParameters;
use crate::request::{Kind, Nanos, nanos_of_us, transfer_nanos};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    In = 0,
    Out = 1,
}

#[derive(Debug, Default)]
pub(super) struct Interface {
    pub(super) queue_depth: u32,
    under_way: u32,
    /// Commands the drive has not taken, and whether each must be alone.
    outside: VecDeque<(u32, bool)>,
    /// A command that tolerates no other is under way.
    exclusive: bool,
    controller_free: Nanos,
    /// For reads, and for everything else.
    command_ns: [Nanos; 2],
    wire_free: [Nanos; 2],
    full_duplex: bool,
    mb_per_s: f64,
}

impl Interface {
    pub(super) fn new(parameters: &FlashParameters) -> Self {
        Self {
            queue_depth: parameters.queue_depth.value,
            command_ns: [
                nanos_of_us(parameters.read_command_us.value),
                nanos_of_us(parameters.write_command_us.value),
            ],
            full_duplex: parameters.full_duplex.value,
            mb_per_s: parameters.interface_mb_per_s.value,
            ..Self::default()
        }
    }

    pub(super) fn arrive(&mut self, request: u32, alone: bool) {
        self.outside.push_back((request, alone));
    }

    /// The next command that the drive takes, in order of arrival.
    pub(super) fn take(&mut self) -> Option<u32> {
        let (request, alone) = *self.outside.front()?;
        let closed = if alone {
            self.under_way > 0
        } else {
            self.under_way >= self.queue_depth
        };
        if self.exclusive || closed {
            return None;
        }
        self.outside.pop_front();
        self.under_way += 1;
        self.exclusive = alone;
        Some(request)
    }

    pub(super) fn answer(&mut self) {
        self.under_way -= 1;
        self.exclusive = false;
    }

    /// When the controller begins with a command that came at `now`.
    pub(super) fn command(&mut self, now: Nanos, kind: Kind) -> Nanos {
        let start = self.controller_free.max(now);
        self.controller_free = start + self.command_ns[usize::from(kind != Kind::Read)];
        start
    }

    /// The moment at which that many bytes, ready at `now`, have passed.
    pub(super) fn transfer(&mut self, now: Nanos, direction: Direction, bytes: u64) -> Nanos {
        let wire = if self.full_duplex {
            direction as usize
        } else {
            0
        };
        let end = self.wire_free[wire].max(now) + transfer_nanos(bytes, self.mb_per_s);
        self.wire_free[wire] = end;
        end
    }
}
