//! The sectors of the platter, which are read and written whole, and those whose contents the disk
//! has.

use std::collections::VecDeque;

/// The sector most recently written in part; it need not be read again.
#[derive(Debug)]
pub(super) struct Sectors {
    sector_bytes: u64,
    most: usize,
    known: VecDeque<u64>,
}

impl Sectors {
    pub(super) fn new(sector_bytes: u64, most: usize) -> Self {
        Self {
            sector_bytes,
            most,
            known: VecDeque::new(),
        }
    }

    /// The numbers of the sectors that a range covers only in part: none, its first, its last, or
    /// both.
    pub(super) fn written_in_part(
        &self,
        start: u64,
        end: u64,
    ) -> impl Iterator<Item = u64> + use<> {
        let sector_of = |edge: u64| {
            (!edge.is_multiple_of(self.sector_bytes)).then_some(edge / self.sector_bytes)
        };
        let (first, last) = (sector_of(start), sector_of(end));
        first.into_iter().chain(last.filter(|_| first != last))
    }

    pub(super) fn span(&self, sector: u64) -> (u64, u64) {
        let start = sector * self.sector_bytes;
        (start, start + self.sector_bytes)
    }

    /// The contents of a sector are known from now on; says whether that is new.
    pub(super) fn learn(&mut self, sector: u64) -> bool {
        let known = self.known.iter().position(|&known| known == sector);
        if let Some(index) = known {
            self.known.remove(index);
        }
        self.known.push_back(sector);
        if self.known.len() > self.most {
            self.known.pop_front();
        }
        known.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_within_a_sector_are_parts() {
        let sectors = Sectors::new(4096, 2);
        let parts = |start, end| sectors.written_in_part(start, end).collect::<Vec<_>>();
        assert!(parts(4096, 8192).is_empty());
        assert_eq!(parts(4096, 4608), [1]);
        assert_eq!(parts(4608, 5120), [1]);
        assert_eq!(parts(4608, 12_800), [1, 3]);
        assert_eq!(sectors.span(3), (12_288, 16_384));
    }

    #[test]
    fn the_latest_are_known() {
        let mut sectors = Sectors::new(4096, 2);
        assert!(sectors.learn(7));
        assert!(sectors.learn(8));
        assert!(!sectors.learn(7));
        assert!(sectors.learn(9));
        assert!(!sectors.learn(7), "8 was the oldest");
        assert!(sectors.learn(8));
    }

    #[test]
    fn a_disk_without_segments_knows_none() {
        let mut sectors = Sectors::new(4096, 0);
        assert!(sectors.learn(7) && sectors.learn(7));
    }
}
