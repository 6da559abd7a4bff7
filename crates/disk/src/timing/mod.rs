//! When a disk answers: pure models, driven from outside, without bytes and without a clock.
//!
//! A model is an event simulation of one device. Its driver (the server with the clock, a
//! simulation with a counter, another model that is built of it) follows one protocol:
//!
//! 1. `advance(now)` before anything is submitted at `now`;
//! 2. `submit(now, …)` any number of requests;
//! 3. `advance` again when `next_event` says so; it may say `now`.
//!
//! The same parameters, seed and calls give the same events, always.

pub(crate) mod agenda;
mod bridge;
mod cache;
mod cloud;
mod flash;
mod memory;
mod parts;
mod spinning;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod withholding;

use std::collections::BTreeMap;

pub use bridge::{Bridge, BridgeParameters};
pub use cache::{Cache, CacheParameters};
pub use cloud::{Burst, Cloud, CloudParameters, IopsLimit};
pub use flash::{Flash, FlashParameters, FlushHabit, Preconditioning};
pub use memory::{Memory, MemoryParameters, NullParameters};
pub use spinning::{Spinning, SpinningParameters};
pub use withholding::Withholding;

use crate::request::{Nanos, Request, Tag};

/// An event of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The request is answered. Exactly once for each request.
    Answered { tag: Tag, at: Nanos },
    /// A power cut can no longer take the bytes of this write (or discard). Exactly once for each,
    /// before or after its answer; a write that another has replaced in the cache is stable with it.
    /// A flush of an honest device is answered after all that it covers is stable.
    Stable { tag: Tag, at: Nanos },
}

impl Event {
    pub fn at(&self) -> Nanos {
        match *self {
            Self::Answered { at, .. } | Self::Stable { at, .. } => at,
        }
    }
}

/// Counters since the device was switched on, by name with the unit last: `seeks`, `cache_hits`,
/// `busy_us`. A composed device prefixes those of its parts: `back.seeks`.
pub type Counters = BTreeMap<String, u64>;

fn counted<const N: usize>(counts: [(&str, u64); N]) -> Counters {
    counts.map(|(name, count)| (name.to_owned(), count)).into()
}

/// The same with the requests of each kind, in the order of `Kind`.
fn counted_with<const N: usize>(requests: [u64; 4], counts: [(&str, u64); N]) -> Counters {
    let kinds = ["reads", "writes", "flushes", "discards"].map(str::to_owned);
    let mut counters = counted(counts);
    counters.extend(kinds.into_iter().zip(requests));
    counters
}

/// One device's timing.
pub trait Timing: Send {
    /// Bytes that can be addressed.
    fn capacity_bytes(&self) -> u64;

    /// Takes a request that arrives at `now`, no earlier than any moment that was named before; by
    /// `head_start` earlier than that at most.
    fn submit(&mut self, now: Nanos, tag: Tag, request: Request);

    /// Time after a request's arrival in which it meets no other request: the constant time that
    /// each command takes at first. A driver that sends answers early runs the device ahead of the
    /// clock by the cost of the path. With a head start it can still submit the next request at its
    /// true arrival. A late submission must cause no event before a moment that was already passed.
    fn head_start(&self) -> Nanos {
        0
    }

    /// Requests that the device takes at a time; those beyond wait before it, in order of arrival.
    /// `None` for a device built of devices, which has no single queue, and one that takes any number.
    fn queue_depth(&self) -> Option<u32> {
        None
    }

    /// The next moment at which something happens by itself; `None` while the device rests. Never
    /// later than its next event; it may be a moment without an event.
    fn next_event(&self) -> Option<Nanos>;

    /// Goes on to `now` and appends what happened until then (`now` included), in order of time.
    fn advance(&mut self, now: Nanos, events: &mut Vec<Event>);

    fn counters(&self) -> Counters {
        Counters::new()
    }
}
