//! Memory as a disk: a constant latency and a constant rate of bytes. With neither it takes no time, and what is
//! left is the way to it.

use serde::{Deserialize, Serialize};

use super::agenda::Agenda;
use super::{Event, Timing};
use crate::device::{self, Build, Figure, Properties, check_capacity, within};
use crate::request::{Kind, Nanos, Request, Tag, nanos_of_us, transfer_nanos};

/// Main memory used as a disk: every request takes the same time, and bytes share one rate. A power cut
/// takes everything.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryParameters {
    pub capacity_bytes: Figure<u64>,
    pub latency_us: Figure<f64>,
    /// Of all requests together.
    pub mb_per_s: Figure<f64>,
}

impl device::Kind for MemoryParameters {
    fn check(&self) -> Result<(), String> {
        check_capacity(self.capacity_bytes.value, 512)?;
        within!(self; 0.0, 1e7 => latency_us; 1.0, 1e7 => mb_per_s);
        Ok(())
    }

    fn build(&self, _build: Build) -> Box<dyn Timing> {
        Box::new(Memory::new(self))
    }

    fn properties(&self) -> Properties {
        Properties {
            survives_without_power: false,
            ..Properties::solid_state()
        }
    }
}

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
        Box::new(Memory::without_delay(self.capacity_bytes.value))
    }

    fn properties(&self) -> Properties {
        Properties::solid_state()
    }
}

/// Memory that runs.
#[derive(Debug)]
pub struct Memory {
    capacity_bytes: u64,
    latency_ns: Nanos,
    mb_per_s: f64,
    free_at: Nanos,
    /// Answers, and whether the request changes what is stored.
    agenda: Agenda<(Tag, bool)>,
}

impl Memory {
    /// The parameters must have passed their `check`.
    pub fn new(parameters: &MemoryParameters) -> Self {
        Self {
            latency_ns: nanos_of_us(parameters.latency_us.value),
            mb_per_s: parameters.mb_per_s.value,
            ..Self::without_delay(parameters.capacity_bytes.value)
        }
    }

    /// Answers everything at once, and everything is stable at once.
    pub fn without_delay(capacity_bytes: u64) -> Self {
        Self {
            capacity_bytes,
            latency_ns: 0,
            mb_per_s: f64::INFINITY,
            free_at: 0,
            agenda: Agenda::new(),
        }
    }
}

impl Timing for Memory {
    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        let bytes = match request.kind {
            Kind::Read | Kind::Write => request.length_bytes,
            Kind::Flush | Kind::Discard => 0,
        };
        let moves_ns = transfer_nanos(bytes, self.mb_per_s);
        self.free_at = self.free_at.max(now) + moves_ns;
        let answered = self.free_at.max(now) + self.latency_ns;
        let changes = matches!(request.kind, Kind::Write | Kind::Discard);
        self.agenda.enter(answered, (tag, changes));
    }

    fn head_start(&self) -> Nanos {
        self.latency_ns
    }

    fn next_event(&self) -> Option<Nanos> {
        self.agenda.next()
    }

    fn advance(&mut self, now: Nanos, events: &mut Vec<Event>) {
        while let Some((at, (tag, changes))) = self.agenda.due_at(now) {
            if changes {
                events.push(Event::Stable { tag, at });
            }
            events.push(Event::Answered { tag, at });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Kind as _;

    fn memory() -> MemoryParameters {
        MemoryParameters {
            capacity_bytes: Figure::assumed(1 << 20),
            latency_us: Figure::assumed(2.0),
            mb_per_s: Figure::assumed(4096.0),
        }
    }

    #[test]
    fn requests_share_the_bytes_a_second_and_not_the_latency() {
        let mut memory = Memory::new(&memory());
        memory.submit(0, Tag(0), Request::write(0, 4096));
        memory.submit(0, Tag(1), Request::read(0, 4096));
        let mut events = Vec::new();
        memory.advance(10_000, &mut events);
        assert_eq!(
            events,
            [
                Event::Stable {
                    tag: Tag(0),
                    at: 3000
                },
                Event::Answered {
                    tag: Tag(0),
                    at: 3000
                },
                Event::Answered {
                    tag: Tag(1),
                    at: 4000
                },
            ]
        );
        assert_eq!(memory.next_event(), None);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        assert_eq!(memory().check(), Ok(()));
        for (name, wrong) in [
            (
                "capacity_bytes",
                MemoryParameters {
                    capacity_bytes: Figure::assumed(0),
                    ..memory()
                },
            ),
            (
                "latency_us",
                MemoryParameters {
                    latency_us: Figure::assumed(-1.0),
                    ..memory()
                },
            ),
            (
                "mb_per_s",
                MemoryParameters {
                    mb_per_s: Figure::assumed(f64::NAN),
                    ..memory()
                },
            ),
        ] {
            assert!(wrong.check().expect_err(name).contains(name));
        }
    }
}
