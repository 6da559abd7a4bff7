//! The write buffer: what was written and is not programmed yet, a slot a unit.

use std::collections::VecDeque;
use std::ops::Range;

use slab::Slab;
use smallvec::SmallVec;

use crate::request::Nanos;

/// One unit in the buffer.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) unit: u32,
    /// The sectors that were written; the others must be read before the unit is programmed.
    pub(super) sectors: u64,
    /// The unit held other data before.
    pub(super) overwrites: bool,
    entered: Nanos,
    /// Its place in the queue, which no other use of the slot has.
    number: u64,
    /// Flushes of this number and later ones wait for it.
    epoch: u64,
    /// It is on its way into the flash: what is written to the unit now takes a new slot.
    leaving: bool,
    /// The writes that are stable when it is programmed: mostly one; overwriting in the buffer makes more.
    pub(super) writers: SmallVec<[u32; 1]>,
}

#[derive(Debug)]
struct Waiting {
    flush: u32,
    epoch: u64,
    slots: u32,
}

#[derive(Debug, Default)]
pub(super) struct Buffer {
    units: u32,
    /// Slots in use and promised.
    taken: u32,
    slots: Slab<Slot>,
    /// Slots that are not leaving yet, the oldest first; dropped ones are skipped when they come up.
    queue: VecDeque<(u32, u64)>,
    /// Entries of the queue that still exist.
    dirty: u32,
    numbered: u64,
    epoch: u64,
    flushes: VecDeque<Waiting>,
}

impl Buffer {
    pub(super) fn new(units: u32) -> Self {
        Self {
            units,
            ..Self::default()
        }
    }

    pub(super) fn room(&self) -> u32 {
        self.units - self.taken
    }

    pub(super) fn promise(&mut self, units: u32) {
        self.taken += units;
    }

    pub(super) fn slot(&self, slot: u32) -> &Slot {
        &self.slots[slot as usize]
    }

    /// Writes into a slot that is there, if it is not leaving; gives the promised room back.
    pub(super) fn merge(&mut self, slot: u32, sectors: u64, writer: Option<u32>) -> bool {
        let slot = &mut self.slots[slot as usize];
        if slot.leaving {
            return false;
        }
        slot.sectors |= sectors;
        slot.writers.extend(writer);
        self.taken -= 1;
        true
    }

    /// Fills promised room.
    pub(super) fn enter(
        &mut self,
        now: Nanos,
        unit: u32,
        sectors: u64,
        overwrites: bool,
        writer: Option<u32>,
    ) -> u32 {
        self.numbered += 1;
        let slot = self.slots.insert(Slot {
            unit,
            sectors,
            overwrites,
            entered: now,
            number: self.numbered,
            epoch: self.epoch,
            leaving: false,
            writers: writer.into_iter().collect(),
        });
        self.queue.push_back((slot as u32, self.numbered));
        self.dirty += 1;
        slot as u32
    }

    /// Slots that could leave.
    pub(super) fn dirty(&self) -> u32 {
        self.dirty
    }

    /// Whether the oldest entry must be written now: because of a flush, or its age.
    pub(super) fn is_urgent(&mut self, now: Nanos, linger_ns: Nanos) -> bool {
        let awaited = self.flushes.back().map(|flush| flush.epoch);
        self.oldest().is_some_and(|slot| {
            awaited.is_some_and(|epoch| slot.epoch <= epoch) || slot.entered + linger_ns <= now
        })
    }

    /// When the oldest will have waited long enough.
    pub(super) fn patience_ends(&mut self, linger_ns: Nanos) -> Option<Nanos> {
        self.oldest().map(|slot| slot.entered + linger_ns)
    }

    fn oldest(&mut self) -> Option<&Slot> {
        while let Some((slot, number)) = self.queue.front() {
            let held = self.slots.get(*slot as usize);
            if held.is_some_and(|held| held.number == *number) {
                return held;
            }
            self.queue.pop_front();
        }
        None
    }

    /// Moves up to that many of the oldest slots to `page`.
    pub(super) fn leave(&mut self, most: u32, page: &mut Vec<u32>) {
        while page.len() < most as usize && self.oldest().is_some() {
            let (slot, _) = self.queue.pop_front().expect("the oldest");
            self.slots[slot as usize].leaving = true;
            self.dirty -= 1;
            page.push(slot);
        }
    }

    /// The slots that hold one of these units.
    pub(super) fn slots_within(&self, units: &Range<u32>) -> Vec<u32> {
        let within = self
            .slots
            .iter()
            .filter(|(_, slot)| units.contains(&slot.unit));
        within.map(|(id, _)| id as u32).collect()
    }

    /// The slot is programmed: its room is free. Flushes that waited for it alone are appended.
    pub(super) fn free(&mut self, slot: u32, flushed: &mut Vec<u32>) -> Slot {
        let slot = self.take(slot, flushed);
        debug_assert!(slot.leaving);
        slot
    }

    /// The slot's bytes are no longer wanted; `None` if it is leaving already.
    pub(super) fn drop_dirty(&mut self, slot: u32, flushed: &mut Vec<u32>) -> Option<Slot> {
        if self.slots[slot as usize].leaving {
            return None;
        }
        self.dirty -= 1;
        Some(self.take(slot, flushed))
    }

    fn take(&mut self, slot: u32, flushed: &mut Vec<u32>) -> Slot {
        self.taken -= 1;
        let slot = self.slots.remove(slot as usize);
        for flush in &mut self.flushes {
            if slot.epoch <= flush.epoch {
                flush.slots -= 1;
            }
        }
        // An earlier flush never waits for more than a later one.
        while self.flushes.front().is_some_and(|flush| flush.slots == 0) {
            flushed.extend(self.flushes.pop_front().map(|flush| flush.flush));
        }
        slot
    }

    /// A flush waits for all that is in the buffer now; `false` if nothing is.
    pub(super) fn flush(&mut self, flush: u32) -> bool {
        let slots = self.slots.len() as u32;
        if slots == 0 {
            return false;
        }
        self.flushes.push_back(Waiting {
            flush,
            epoch: self.epoch,
            slots,
        });
        self.epoch += 1;
        true
    }
}
