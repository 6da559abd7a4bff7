//! The device that takes no time: what is left is the way to it.

use serde::{Deserialize, Serialize};

use super::{Event, Timing};
use crate::device::{self, Build, Figure, Properties, check_capacity};
use crate::request::{Kind, Nanos, Request, Tag};

/// A device without any delay.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NullParameters {
    pub capacity_bytes: Figure<u64>,
}

impl device::Kind for NullParameters {
    fn check(&self) -> Result<(), String> {
        check_capacity(self.capacity_bytes.value, 512)
    }

    fn build(&self, _build: Build) -> Box<dyn Timing> {
        Box::new(Null::new(self.capacity_bytes.value))
    }

    fn properties(&self) -> Properties {
        Properties::solid_state()
    }
}

/// Answers everything at once, and everything is stable at once.
#[derive(Debug)]
pub struct Null {
    capacity_bytes: u64,
    pending: Vec<Event>,
}

impl Null {
    #[must_use]
    pub fn new(capacity_bytes: u64) -> Self {
        Self {
            capacity_bytes,
            pending: Vec::new(),
        }
    }
}

impl Timing for Null {
    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        if matches!(request.kind, Kind::Write | Kind::Discard) {
            self.pending.push(Event::Stable { tag, at: now });
        }
        self.pending.push(Event::Answered { tag, at: now });
    }

    fn next_event(&self) -> Option<Nanos> {
        self.pending.first().map(Event::at)
    }

    fn advance(&mut self, _now: Nanos, events: &mut Vec<Event>) {
        events.append(&mut self.pending);
    }
}
