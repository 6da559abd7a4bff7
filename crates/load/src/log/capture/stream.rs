//! What one side of a connection sends: bytes in their order, out of segments.

use super::ENTRY_BYTES;

/// Segments that are kept until a gap before them is filled.
const MOST_AHEAD: usize = 1000;

#[derive(Default)]
pub(super) struct Stream {
    /// The number of the next byte; `None` before the first one.
    pub(super) next: Option<u32>,
    /// Segments with their numbers, which wait for those before them.
    ahead: Vec<(u32, Vec<u8>)>,
    /// So far the other side has them all.
    acknowledged: Option<u32>,
    /// The beginning of a message.
    pub(super) begun: Vec<u8>,
}

impl Stream {
    fn distance(&self, sequence: u32) -> i32 {
        let next = self.next.unwrap_or(sequence);
        sequence.wrapping_sub(next).cast_signed()
    }

    pub(super) fn take(&mut self, sequence: u32, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.next.get_or_insert(sequence);
            self.ahead.push((sequence, bytes.to_vec()));
        }
    }

    pub(super) fn held_bytes(&self) -> usize {
        let ahead = self
            .ahead
            .iter()
            .map(|(_, bytes)| ENTRY_BYTES + bytes.len());
        self.begun.len() + ahead.sum::<usize>()
    }

    /// The bytes whose turn it is; what was sent again is passed over.
    pub(super) fn next(&mut self) -> Option<Vec<u8>> {
        let begun = |(sequence, _): &(u32, _)| self.distance(*sequence) <= 0;
        let at = self.ahead.iter().position(begun)?;
        let (sequence, mut bytes) = self.ahead.swap_remove(at);
        let known = self.distance(sequence).unsigned_abs() as usize;
        bytes.drain(..known.min(bytes.len()));
        let count = u32::try_from(bytes.len()).unwrap_or(0);
        self.next = self.next.map(|next| next.wrapping_add(count));
        Some(bytes)
    }

    /// Passes over a gap that will not be filled: the receiver has what lies behind it, or too much came since.
    pub(super) fn lost(&mut self, acknowledged: Option<u32>) -> bool {
        self.acknowledged = acknowledged.or(self.acknowledged);
        let ahead = self.ahead.iter();
        let distances = ahead.map(|(sequence, _)| self.distance(*sequence));
        let Some(gap) = distances.min().filter(|gap| *gap > 0) else {
            return false;
        };
        let has_come = acknowledged.is_some_and(|number| self.distance(number) >= gap);
        let is_lost = has_come || self.ahead.len() > MOST_AHEAD;
        if is_lost {
            self.next = self.next.map(|next| next.wrapping_add(gap.unsigned_abs()));
        }
        is_lost
    }

    /// Passes over the next gap: nothing more will come.
    pub(super) fn end(&mut self) -> bool {
        let known = self.acknowledged;
        let is_lost = self.lost(self.next.map(|next| next.wrapping_add(u32::MAX / 2)));
        self.acknowledged = known;
        is_lost
    }

    /// Whether the other side has bytes behind the last one that is here; the end takes a number, too.
    pub(super) fn is_short(&self) -> bool {
        let behind = self.acknowledged.map(|number| self.distance(number));
        behind.is_some_and(|bytes| bytes > 1)
    }
}
