//! Sectors that cannot be read until they are written.

use std::ops::Range;

/// Stretches of a disk, apart from each other, in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unreadable {
    stretches: Vec<Range<u64>>,
}

impl Unreadable {
    #[must_use]
    pub fn of(stretch: Range<u64>) -> Self {
        Self {
            stretches: vec![stretch],
        }
    }

    /// Whether a read of this range meets such a sector.
    #[must_use]
    pub fn meets(&self, read: Range<u64>) -> bool {
        let mut stretches = self.stretches.iter();
        stretches.any(|bad| bad.start < read.end && read.start < bad.end)
    }

    /// Written sectors can be read again.
    pub fn written(&mut self, write: Range<u64>) {
        if !self.meets(write.clone()) {
            return;
        }
        let left = self.stretches.drain(..).flat_map(|bad| {
            [
                bad.start..bad.end.min(write.start),
                bad.start.max(write.end)..bad.end,
            ]
        });
        let left = left.filter(|bad| !bad.is_empty());
        self.stretches = left.collect();
    }
}
