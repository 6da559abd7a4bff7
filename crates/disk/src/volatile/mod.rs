//! What a power cut can take, and what it takes: pure, without a clock.
//!
//! The contents of a disk are as they would be without a power cut: every write is applied when it
//! arrives. This account stands beside them. For each sector it records the safe bytes (the *base*)
//! and, in order of arrival, the versions that are not yet safe. A cut leaves either the base or
//! one of those versions of a sector, never a mixture and nothing else. A cut draws for each write
//! whether it was kept whole, lost whole or torn at the border of a sector; a sector then holds the
//! newest kept version.
//!
//! It costs memory in proportion to what is at risk: the bytes of each write once, whatever its sectors,
//! and what lay under it. Zeroes cost nothing, so that the discard of a whole disk is one entry.

mod choice;
mod held;
mod outage;
mod spans;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Range;

pub use choice::{Choice, Keep};
pub use outage::Outage;

use held::Held;
use spans::Spans;

/// A write's own number, ascending in order of arrival, never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WriteId(pub u64);

/// The account of one disk.
#[derive(Clone, Debug)]
pub struct Volatile {
    sector_bytes: u64,
    /// Those of which a part is at risk.
    writes: BTreeMap<WriteId, Write>,
    spans: Spans,
    at_risk: AtRisk,
    last: Option<WriteId>,
}

/// A write or discard that a cut can take.
#[derive(Clone, Debug)]
struct Write {
    stretch: Range<u64>,
    held: Held,
    answered: bool,
    /// Bytes of it that are neither stable nor under something that is.
    at_risk_bytes: u64,
}

/// The writes that a cut would choose from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtRisk {
    /// Writes and discards of which a part is at risk.
    pub writes: u64,
    /// Bytes of those parts; a sector that was written twice counts twice.
    pub bytes: u64,
    /// Those among the writes that have been answered.
    pub answered_writes: u64,
}

impl Volatile {
    /// An account for a disk with sectors of that size.
    ///
    /// # Panics
    ///
    /// With sectors of nothing.
    pub fn new(sector_bytes: u64) -> Self {
        assert!(sector_bytes > 0, "a sector has bytes");
        Self {
            sector_bytes,
            writes: BTreeMap::new(),
            spans: Spans::default(),
            at_risk: AtRisk::default(),
            last: None,
        }
    }

    /// A write has arrived; `before` is what lay there until then, with every write applied.
    ///
    /// # Panics
    ///
    /// If numbers do not ascend, the two differ in length, or they are not whole sectors.
    pub fn wrote(&mut self, id: WriteId, offset_bytes: u64, bytes: &[u8], before: &[u8]) {
        assert_eq!(bytes.len(), before.len(), "of {id:?}");
        let write = Write {
            stretch: offset_bytes..offset_bytes + bytes.len() as u64,
            held: Held::copy(bytes),
            answered: false,
            at_risk_bytes: bytes.len() as u64,
        };
        self.enter(id, write, &[(offset_bytes, before)]);
    }

    /// A discard has arrived: what is read there from now on is zeroes. `before` is what lay there until
    /// then, as pieces of whole sectors with their offsets, in ascending order; between them are zeroes.
    ///
    /// # Panics
    ///
    /// As `wrote`, and where pieces do not ascend.
    pub fn discarded(
        &mut self,
        id: WriteId,
        offset_bytes: u64,
        length_bytes: u64,
        before: &[(u64, &[u8])],
    ) {
        let mut from = offset_bytes;
        for (offset, bytes) in before {
            assert!(*offset >= from, "{offset} follows {from}");
            from = offset + bytes.len() as u64;
            self.check_whole(&(*offset..from));
        }
        let write = Write {
            stretch: offset_bytes..offset_bytes + length_bytes,
            held: Held::Zeroes,
            answered: false,
            at_risk_bytes: length_bytes,
        };
        self.enter(id, write, before);
    }

    fn enter(&mut self, id: WriteId, write: Write, before: &[(u64, &[u8])]) {
        assert!(self.last < Some(id), "{id:?} after {:?}", self.last);
        self.check_whole(&write.stretch);
        self.last = Some(id);
        if write.stretch.is_empty() {
            return;
        }
        self.spans.cover(write.stretch.clone(), id, before);
        self.at_risk.writes += 1;
        self.at_risk.bytes += write.at_risk_bytes;
        self.writes.insert(id, write);
    }

    fn check_whole(&self, stretch: &Range<u64>) {
        let whole = [stretch.start, stretch.end]
            .iter()
            .all(|border| border.is_multiple_of(self.sector_bytes));
        assert!(whole, "{stretch:?} in sectors of {}", self.sector_bytes);
    }

    /// Notes that a write was acknowledged. A power cut can still take it.
    pub fn answered(&mut self, id: WriteId) {
        if let Some(write) = self.writes.get_mut(&id)
            && !write.answered
        {
            write.answered = true;
            self.at_risk.answered_writes += 1;
        }
    }

    /// A power cut can no longer take a write, nor bring back what lies under it. Writes become stable in
    /// any order; of one that lies under a stable one there is nothing to say any more.
    pub fn stable(&mut self, id: WriteId) {
        let Some(write) = self.writes.get(&id) else {
            return;
        };
        let mut safe = Vec::new();
        self.spans
            .stable(write.stretch.clone(), id, &write.held, &mut safe);
        for (id, bytes) in safe {
            self.is_safe(id, bytes);
        }
    }

    fn is_safe(&mut self, id: WriteId, bytes: u64) {
        let write = self.writes.get_mut(&id).expect("it was at risk");
        write.at_risk_bytes -= bytes;
        self.at_risk.bytes -= bytes;
        if write.at_risk_bytes == 0 {
            self.at_risk.writes -= 1;
            self.at_risk.answered_writes -= u64::from(write.answered);
            self.writes.remove(&id);
        }
    }

    /// Everything is stable as it is now.
    pub fn settle(&mut self) {
        self.writes.clear();
        self.spans.clear();
        self.at_risk = AtRisk::default();
    }

    pub fn at_risk(&self) -> AtRisk {
        self.at_risk
    }

    /// Whether a cut could take a part of this write.
    pub fn is_at_risk(&self, id: WriteId) -> bool {
        self.writes.contains_key(&id)
    }
}
