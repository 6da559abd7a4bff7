//! Taking commands in: in the order of arrival, one at a time, no more than the disk's queue holds.

use std::collections::VecDeque;

use crate::request::{Kind, Nanos, Request, Tag};

/// A request inside the disk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Command {
    pub(super) tag: Tag,
    pub(super) request: Request,
    pub(super) arrived: Nanos,
}

impl Command {
    pub(super) fn span(&self) -> (u64, u64) {
        (self.request.offset_bytes, self.request.end_bytes())
    }
}

/// The controller's current step.
#[derive(Clone, Copy, Debug)]
pub(super) enum Work {
    /// Taking a command in; the bytes of a write come with it.
    Accept(Command),
    /// Sending the bytes of a read that was found in the cache.
    Send(Command),
}

#[derive(Debug, Default)]
pub(super) struct Controller {
    pub(super) overhead_ns: u64,
    interface_ns_per_byte: f64,
    pub(super) queue_depth: usize,
    /// Not yet known to the disk.
    backlog: VecDeque<Command>,
    /// The current step and its end.
    work: Option<(Nanos, Work)>,
    /// Taken in and not yet answered.
    inside: usize,
    /// Since when it could have taken in the next, had there been one.
    free_since: Nanos,
}

impl Controller {
    pub(super) fn new(overhead_ns: u64, interface_ns_per_byte: f64, queue_depth: usize) -> Self {
        Self {
            overhead_ns,
            interface_ns_per_byte,
            queue_depth,
            ..Self::default()
        }
    }

    pub(super) fn arrive(&mut self, command: Command) {
        self.backlog.push_back(command);
    }

    /// Neither a command inside nor one before the door.
    pub(super) fn is_idle(&self) -> bool {
        self.inside == 0 && self.backlog.is_empty()
    }

    pub(super) fn inside(&self) -> usize {
        self.inside
    }

    pub(super) fn next_event(&self) -> Option<Nanos> {
        self.work.map(|(at, _)| at)
    }

    /// Accepts the next command, if there is one and room for it: from its arrival on, or from when
    /// that was possible. A command may be submitted late, as long as its overhead is not over.
    pub(super) fn take_next(&mut self) {
        if self.work.is_some() || self.inside >= self.queue_depth {
            return;
        }
        let Some(command) = self.backlog.pop_front() else {
            return;
        };
        self.inside += 1;
        let bytes_ns = match command.request.kind {
            Kind::Write => self.interface_ns(command.request.length_bytes),
            _ => 0,
        };
        let begin = command.arrived.max(self.free_since);
        self.work = Some((begin + self.overhead_ns + bytes_ns, Work::Accept(command)));
    }

    /// The work that ends now.
    pub(super) fn finish(&mut self, now: Nanos) -> Work {
        self.free_since = now;
        self.work.take().expect("called at the end of a work").1
    }

    pub(super) fn send(&mut self, now: Nanos, command: Command) {
        let until = now + self.interface_ns(command.request.length_bytes);
        self.work = Some((until, Work::Send(command)));
    }

    /// A command is answered; if the queue was full or a flush held it, that makes room.
    pub(super) fn answered(&mut self, now: Nanos, was_flush: bool) {
        if was_flush || self.inside == self.queue_depth {
            self.free_since = self.free_since.max(now);
        }
        self.inside -= 1;
    }

    pub(super) fn interface_ns(&self, bytes: u64) -> u64 {
        super::geometry::whole(bytes as f64 * self.interface_ns_per_byte)
    }
}
