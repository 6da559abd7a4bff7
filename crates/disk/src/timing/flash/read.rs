//! A read's way: buffer or dies, channels, interface.

use super::die::{Operation, Piece};
use super::map::Place;
use super::{Direction, Flash, Step};
use crate::request::Nanos;

impl Flash {
    /// Splits a read into what the buffer holds and one piece for each page of each die.
    pub(super) fn begin_read(&mut self, now: Nanos, id: u32) {
        let request = self.pending[id as usize].request;
        let (offset, end) = (request.offset_bytes, request.end_bytes());
        let mut buffered_bytes = 0;
        self.pieces.clear();
        for unit in self.geometry.units_of(offset, end) {
            let bytes = self.geometry.overlap_bytes(&(unit..unit + 1), offset, end);
            let place = self.translation.map.get(unit);
            if self.is_in_buffer(unit, place, offset, end) {
                buffered_bytes += bytes;
                continue;
            }
            let (die, page) = self.translation.page_of(unit, place);
            match self.pieces.last_mut() {
                Some((last_die, last_page, last_bytes))
                    if (*last_die, *last_page) == (die, page) =>
                {
                    *last_bytes += bytes as u32;
                }
                _ => self.pieces.push((die, page, bytes as u32)),
            }
        }
        let passed = if buffered_bytes > 0 {
            self.tally.read_buffer_hits += 1;
            self.interface.transfer(now, Direction::Out, buffered_bytes)
        } else {
            now
        };
        let pending = &mut self.pending[id as usize];
        (pending.passed, pending.pieces) = (passed, self.pieces.len() as u32);
        if self.pieces.is_empty() {
            self.agenda.enter(passed, Step::Answer(id));
        }
        for nth in 0..self.pieces.len() {
            let (die, page, bytes) = self.pieces[nth];
            let kind = (page & 1) as u8;
            self.dies[die as usize].reads.push_back(Piece {
                request: id,
                bytes,
                kind,
            });
            self.keep_busy(now, die);
        }
    }

    /// Whether the buffer holds all sectors of the unit that the read needs.
    fn is_in_buffer(&self, unit: u32, place: Place, offset: u64, end: u64) -> bool {
        let Place::Buffered(slot) = place else {
            return false;
        };
        let wanted = self.geometry.sectors_of(unit, offset, end);
        self.buffer.slot(slot).sectors & wanted == wanted
    }

    pub(super) fn start_read(&mut self, now: Nanos, number: u32) -> bool {
        let die = &mut self.dies[number as usize];
        let Some(piece) = die.reads.pop_front() else {
            return false;
        };
        die.reads_in_a_row += 1;
        self.tally.page_reads += 1;
        let takes_ns = self.geometry.read_ns[piece.kind as usize];
        self.start(now, number, Operation::Read(piece), takes_ns);
        true
    }

    /// The cells are in the register: on to the channel.
    pub(super) fn sensed(&mut self, now: Nanos, die: u32, piece: Piece) {
        let takes_ns = self.geometry.channel_ns(u64::from(piece.bytes));
        let end = self.carry(now, die, takes_ns);
        let Piece { request, bytes, .. } = piece;
        self.agenda.enter(end, Step::Fetched { request, bytes });
    }

    pub(super) fn fetched(&mut self, now: Nanos, id: u32, bytes: u32) {
        let passed = self
            .interface
            .transfer(now, Direction::Out, u64::from(bytes));
        let pending = &mut self.pending[id as usize];
        pending.passed = pending.passed.max(passed);
        pending.pieces -= 1;
        if pending.pieces == 0 {
            let passed = pending.passed;
            self.agenda.enter(passed, Step::Answer(id));
        }
    }
}
