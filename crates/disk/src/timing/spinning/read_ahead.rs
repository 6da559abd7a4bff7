//! The disk's read cache: a few segments, each a run of addresses that one stream uses.

/// One run of addresses in the cache.
#[derive(Clone, Copy, Debug, Default)]
struct Segment {
    start: u64,
    end: u64,
    last_use: u64,
}

/// The segments; the least recently used one is replaced.
#[derive(Debug)]
pub(super) struct Segments {
    most: usize,
    pub(super) segment_bytes: u64,
    list: Vec<Segment>,
    uses: u64,
}

impl Segments {
    pub(super) fn new(most: usize, segment_bytes: u64) -> Self {
        Self {
            most,
            segment_bytes,
            list: Vec::with_capacity(most),
            uses: 0,
        }
    }

    /// Whether all of a range is in one segment.
    pub(super) fn has(&self, start: u64, end: u64) -> bool {
        self.list
            .iter()
            .any(|segment| segment.start <= start && end <= segment.end)
    }

    /// The end of the segment that holds all of a range.
    pub(super) fn holds(&mut self, start: u64, end: u64) -> Option<u64> {
        self.uses += 1;
        let uses = self.uses;
        self.list
            .iter_mut()
            .find(|segment| segment.start <= start && end <= segment.end)
            .map(|segment| {
                segment.last_use = uses;
                segment.end
            })
    }

    /// Adds bytes read from the platter. A segment that ends where they begin, or within them,
    /// grows and drops its oldest bytes; otherwise they begin a new one.
    pub(super) fn keep(&mut self, start: u64, end: u64) {
        if self.segment_bytes == 0 || start >= end {
            return;
        }
        self.uses += 1;
        let grown = self
            .list
            .iter()
            .position(|segment| segment.start <= start && start <= segment.end);
        let (index, start) = match grown {
            Some(index) => (index, self.list[index].start),
            None => (self.vacate(), start),
        };
        let segment = &mut self.list[index];
        segment.end = if grown.is_some() {
            segment.end.max(end)
        } else {
            end
        };
        segment.start = start.max(segment.end.saturating_sub(self.segment_bytes));
        segment.last_use = self.uses;
    }

    /// A segment to fill anew.
    fn vacate(&mut self) -> usize {
        if self.list.len() < self.most {
            self.list.push(Segment::default());
            return self.list.len() - 1;
        }
        let oldest = self
            .list
            .iter()
            .enumerate()
            .min_by_key(|(_, segment)| segment.last_use);
        oldest.expect("at least one segment").0
    }

    /// The bytes are written anew: what was read of them is worth nothing.
    pub(super) fn forget(&mut self, start: u64, end: u64) {
        self.list
            .retain(|segment| segment.end <= start || end <= segment.start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_grows_with_its_stream_and_lets_go_of_its_oldest() {
        let mut segments = Segments::new(2, 100);
        segments.keep(1000, 1060);
        segments.keep(1060, 1150);
        assert_eq!(segments.holds(1050, 1150), Some(1150));
        assert_eq!(segments.holds(1049, 1060), None, "100 bytes are kept");
    }

    #[test]
    fn the_least_recently_used_gives_way() {
        let mut segments = Segments::new(2, 100);
        segments.keep(0, 10);
        segments.keep(500, 510);
        assert!(segments.holds(0, 10).is_some());
        segments.keep(900, 910);
        assert!(segments.holds(500, 510).is_none());
        assert!(segments.holds(0, 10).is_some());
    }

    #[test]
    fn a_write_makes_what_was_read_worthless() {
        let mut segments = Segments::new(2, 100);
        segments.keep(0, 50);
        segments.forget(50, 60);
        assert!(segments.holds(0, 50).is_some(), "a neighbour does no harm");
        segments.forget(49, 50);
        assert!(segments.holds(0, 50).is_none());
    }

    #[test]
    fn a_disk_without_room_keeps_nothing() {
        let mut segments = Segments::new(2, 0);
        segments.keep(0, 50);
        assert!(segments.holds(0, 1).is_none());
    }
}
