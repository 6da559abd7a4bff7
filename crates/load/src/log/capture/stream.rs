//! One direction of a connection: bytes in their order, and whole messages out of them.

use super::At;

/// Segments that are kept until a gap before them is filled.
const MOST_AHEAD: usize = 1000;

pub(super) struct Part {
    pub(super) sequence: u32,
    pub(super) bytes: Vec<u8>,
    pub(super) at: At,
}

/// Puts segments in order.
#[derive(Default)]
pub(super) struct Half {
    /// The number of the next byte; `None` before the first one.
    pub(super) next: Option<u32>,
    ahead: Vec<Part>,
}

impl Half {
    fn distance(&self, sequence: u32) -> i32 {
        let next = self.next.unwrap_or(sequence);
        sequence.wrapping_sub(next).cast_signed()
    }

    pub(super) fn take(&mut self, part: Part) {
        self.next.get_or_insert(part.sequence);
        self.ahead.push(part);
    }

    pub(super) fn held_bytes(&self) -> usize {
        self.ahead.iter().map(|part| part.bytes.len()).sum()
    }

    /// The bytes whose turn it is; what was sent again is passed over.
    pub(super) fn next(&mut self) -> Option<Part> {
        let begun = |part: &Part| self.distance(part.sequence) <= 0;
        let at = self.ahead.iter().position(begun)?;
        let mut part = self.ahead.swap_remove(at);
        let known = self.distance(part.sequence).unsigned_abs() as usize;
        part.bytes.drain(..known.min(part.bytes.len()));
        let count = u32::try_from(part.bytes.len()).unwrap_or(0);
        self.next = self.next.map(|next| next.wrapping_add(count));
        Some(part)
    }

    /// Passes over a gap that will not be filled: the receiver has what lies behind it, or too much came since.
    pub(super) fn lost(&mut self, acknowledged: Option<u32>) -> bool {
        let distances = self.ahead.iter().map(|part| self.distance(part.sequence));
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
        self.lost(self.next.map(|next| next.wrapping_add(u32::MAX / 2)))
    }
}

/// Bytes in which messages tell their length.
#[derive(Default)]
pub(super) struct Frames {
    bytes: Vec<u8>,
    at: usize,
}

impl Frames {
    pub(super) fn extend(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.at);
        self.at = 0;
        self.bytes.extend_from_slice(bytes);
    }

    pub(super) fn left_bytes(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The next whole message; `length` reads its bytes from its head.
    pub(super) fn next(
        &mut self,
        head_bytes: usize,
        length: fn(&[u8]) -> usize,
    ) -> Option<Vec<u8>> {
        let rest = &self.bytes[self.at..];
        let length = length(rest.get(..head_bytes)?).max(head_bytes);
        let frame = rest.get(..length)?.to_vec();
        self.at += length;
        Some(frame)
    }
}
