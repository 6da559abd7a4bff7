//! A write's way: interface, buffer, channel, die; and what empties the buffer, flush among it.

use std::collections::VecDeque;

use super::blocks::{NONE, Stream};
use super::buffer::Slot;
use super::die::Operation;
use super::map::Place;
use super::{Direction, Event, Flash, Step};
use crate::request::Nanos;

/// A long write enters the buffer in pieces, so that the first of it is programmed while the rest comes.
const UNITS_AT_A_TIME: u32 = 16;

/// The state of writing, beyond the buffer.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Writes that want into the buffer, in order.
    waiting: VecDeque<u32>,
    /// Dies without a page of the host's.
    idle_dies: u32,
    next_die: u32,
    linger_noted: bool,
    flush_free: Nanos,
    pub(super) flush_queued: bool,
    /// Kept between calls for their memory.
    flushed: Vec<u32>,
}

impl Progress {
    pub(super) fn new(dies: u32, flush_queued: bool) -> Self {
        Self {
            idle_dies: dies,
            flush_queued,
            ..Self::default()
        }
    }
}

impl Flash {
    pub(super) fn begin_write(&mut self, now: Nanos, id: u32) {
        if self.pending[id as usize].end == self.pending[id as usize].admitted {
            self.tell_stable(now, id);
            self.answer(now, id);
            return;
        }
        self.write.waiting.push_back(id);
        self.let_in(now);
    }

    /// Lets waiting writes into the buffer, as far as there is room.
    fn let_in(&mut self, now: Nanos) {
        while let Some(&id) = self.write.waiting.front() {
            let pending = &mut self.pending[id as usize];
            let room = self.buffer.room().min(UNITS_AT_A_TIME);
            let units = room.min(pending.end - pending.admitted);
            if units == 0 {
                return;
            }
            let (offset, end) = (pending.request.offset_bytes, pending.request.end_bytes());
            let coming = pending.admitted..pending.admitted + units;
            pending.admitted += units;
            if pending.admitted == pending.end {
                self.write.waiting.pop_front();
            }
            self.buffer.promise(units);
            let bytes = self.geometry.overlap_bytes(&coming, offset, end);
            let landed = self.interface.transfer(now, Direction::In, bytes);
            self.agenda
                .enter(landed, Step::Landed { request: id, units });
        }
    }

    pub(super) fn landed(&mut self, now: Nanos, id: u32, units: u32) {
        let pending = &mut self.pending[id as usize];
        let (offset, end) = (pending.request.offset_bytes, pending.request.end_bytes());
        let landed = pending.landed..pending.landed + units;
        pending.landed += units;
        let all = pending.landed == pending.end;
        let writer = (!self.geometry.protected).then_some(id);
        for unit in landed {
            let sectors = self.geometry.sectors_of(unit, offset, end);
            self.enter(now, unit, sectors, writer);
        }
        self.tally.units_written += u64::from(units);
        if all && self.geometry.protected {
            self.pending[id as usize].unstable = 0;
            self.tell_stable(now, id);
        }
        if all && (self.geometry.write_back || self.geometry.protected) {
            self.answer(now, id);
        }
        self.let_in(now);
        self.send_pages(now);
    }

    fn enter(&mut self, now: Nanos, unit: u32, sectors: u64, writer: Option<u32>) {
        let place = self.translation.map.get(unit);
        if let Place::Buffered(slot) = place
            && self.buffer.merge(slot, sectors, writer)
        {
            self.tally.write_buffer_hits += 1;
            return;
        }
        let held = self.translation.forget(unit, place);
        let overwrites = held || matches!(place, Place::Buffered(_));
        let slot = self.buffer.enter(now, unit, sectors, overwrites, writer);
        self.translation.map.set(unit, Place::Buffered(slot));
    }

    /// Sends pages to dies that have none, as long as there are such dies and enough to fill a page, or
    /// something that must not wait.
    pub(super) fn send_pages(&mut self, now: Nanos) {
        let units = self.geometry.units_per_page;
        while self.write.idle_dies > 0 && self.buffer.dirty() > 0 {
            let urgent = self.buffer.dirty() >= units
                || !self.geometry.write_back
                || self.buffer.is_urgent(now, self.geometry.linger_ns);
            if !urgent {
                self.note_linger();
                return;
            }
            // Otherwise one that has room is busy, and this is done again when it is not.
            let Some(die) = self.next_idle_die() else {
                return;
            };
            self.write.idle_dies -= 1;
            let page = &mut self.dies[die as usize].page;
            self.buffer.leave(units, page);
            let loaded = self.carry(now, die, self.geometry.page_ns);
            self.agenda.enter(loaded, Step::Loaded(die));
        }
    }

    /// The next die round that has no page of the host's and is not crowded.
    fn next_idle_die(&mut self) -> Option<u32> {
        for _ in 0..self.geometry.dies {
            let die = self.write.next_die;
            self.write.next_die = (die + 1) % self.geometry.dies;
            let crowded =
                self.translation.blocks.valid_on(die) > self.geometry.crowded_units_per_die;
            if self.dies[die as usize].page.is_empty() && !crowded {
                return Some(die);
            }
        }
        None
    }

    fn note_linger(&mut self) {
        if self.write.linger_noted {
            return;
        }
        if let Some(ends) = self.buffer.patience_ends(self.geometry.linger_ns) {
            self.write.linger_noted = true;
            self.agenda.enter(ends, Step::Linger);
        }
    }

    pub(super) fn linger(&mut self, now: Nanos) {
        self.write.linger_noted = false;
        self.send_pages(now);
    }

    pub(super) fn start_program(&mut self, now: Nanos, number: u32) -> bool {
        if !self.dies[number as usize].loaded
            || !self.translation.blocks.has_room(number, Stream::Host)
        {
            return false;
        }
        let die = &self.dies[number as usize];
        let modifies = die.page.iter().any(|slot| {
            let slot = self.buffer.slot(*slot);
            slot.overwrites && slot.sectors != self.geometry.whole_unit
        });
        let mut takes_ns = self.geometry.program_ns;
        if modifies {
            self.tally.reads_to_modify += 1;
            takes_ns += self.geometry.read_ns[1];
        }
        self.tally.programs += 1;
        self.owe(number);
        self.start(now, number, Operation::Program, takes_ns);
        true
    }

    /// A page is in the flash: its units are stable, its slots free.
    pub(super) fn programmed(&mut self, now: Nanos, number: u32) {
        let die = &mut self.dies[number as usize];
        die.loaded = false;
        let mut page = std::mem::take(&mut die.page);
        let padding = self.geometry.units_per_page - page.len() as u32;
        self.tally.units_programmed += page.len() as u64;
        self.tally.units_padded += u64::from(padding);
        let mut flushed = std::mem::take(&mut self.write.flushed);
        for id in page.drain(..) {
            let slot = self.buffer.free(id, &mut flushed);
            self.settle(number, id, &slot);
            self.unit_is_stable(now, slot);
        }
        self.translation.pad(number, Stream::Host, padding);
        self.dies[number as usize].page = page;
        self.write.idle_dies += 1;
        self.answer_flushes(now, flushed);
        self.let_in(now);
        self.send_pages(now);
    }

    /// Gives a programmed unit its place, unless it was written or discarded again meanwhile.
    fn settle(&mut self, die: u32, id: u32, slot: &Slot) {
        let blocks = &mut self.translation.blocks;
        if self.translation.map.get(slot.unit) == Place::Buffered(id) {
            let location = blocks.append(die, Stream::Host, slot.unit);
            blocks.add_valid(blocks.block_of(location));
            self.translation.map.set(slot.unit, Place::Flash(location));
        } else {
            blocks.append(die, Stream::Host, NONE);
        }
    }

    fn unit_is_stable(&mut self, now: Nanos, slot: Slot) {
        for id in slot.writers {
            self.pending[id as usize].unstable -= 1;
            if self.pending[id as usize].unstable == 0 {
                self.tell_stable(now, id);
                if self.pending[id as usize].answered {
                    self.pending.remove(id as usize);
                } else if !self.geometry.write_back {
                    self.answer(now, id);
                }
            }
        }
    }

    fn tell_stable(&mut self, now: Nanos, id: u32) {
        let tag = self.pending[id as usize].tag;
        self.told.push(Event::Stable { tag, at: now });
    }

    pub(super) fn begin_flush(&mut self, now: Nanos, id: u32) {
        if !(self.geometry.flush_drains && self.buffer.flush(id)) {
            self.finish_flush(now, id);
            return;
        }
        self.send_pages(now);
    }

    fn answer_flushes(&mut self, now: Nanos, mut flushed: Vec<u32>) {
        for id in flushed.drain(..) {
            self.finish_flush(now, id);
        }
        self.write.flushed = flushed;
    }

    fn finish_flush(&mut self, now: Nanos, id: u32) {
        self.write.flush_free = self.write.flush_free.max(now) + self.geometry.flush_ns;
        self.agenda.enter(self.write.flush_free, Step::Answer(id));
    }

    /// Removes units from the map; the discard is stable when it is answered. A partly discarded
    /// unit stays.
    pub(super) fn discard(&mut self, now: Nanos, id: u32) {
        let request = self.pending[id as usize].request;
        let unit_bytes = self.geometry.unit_bytes;
        let first = request.offset_bytes.div_ceil(unit_bytes) as u32;
        let end = (request.end_bytes() / unit_bytes) as u32;
        if first < end {
            self.discard_buffered(now, first..end);
            self.translation.discard(first..end);
        }
        self.pending[id as usize].unstable = 0;
        self.tell_stable(now, id);
        self.answer(now, id);
        self.let_in(now);
    }

    fn discard_buffered(&mut self, now: Nanos, units: std::ops::Range<u32>) {
        let mut flushed = std::mem::take(&mut self.write.flushed);
        for slot_id in self.buffer.slots_within(&units) {
            let unit = self.buffer.slot(slot_id).unit;
            if self.translation.map.get(unit) != Place::Buffered(slot_id) {
                continue;
            }
            self.translation.map.set(unit, Place::Nowhere);
            if let Some(slot) = self.buffer.drop_dirty(slot_id, &mut flushed) {
                self.unit_is_stable(now, slot);
            }
        }
        self.answer_flushes(now, flushed);
    }
}
