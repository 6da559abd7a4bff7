//! Chooses the lines to cache: those that are read again, but not long streams.

use std::collections::VecDeque;

use crate::request::Request;
use crate::timing::parts::NumberMap;

/// How often reads missed each line outside the cache. It remembers as many lines as the cache
/// holds, and forgets the one that it met first.
pub(super) struct Misses {
    enough: u32,
    most: usize,
    counts: NumberMap<u32>,
    order: VecDeque<u64>,
}

const MOST_REMEMBERED: usize = 1 << 20;

impl Misses {
    pub(super) fn new(enough: u32, lines: usize) -> Self {
        Self {
            enough,
            most: lines.clamp(1, MOST_REMEMBERED),
            counts: NumberMap::default(),
            order: VecDeque::new(),
        }
    }

    pub(super) fn count(&mut self, line: u64) {
        if self.enough == 1 {
            return;
        }
        let count = self.counts.entry(line).or_insert_with(|| {
            self.order.push_back(line);
            0
        });
        *count = count.saturating_add(1);
        // A line that entered the cache keeps its empty place in the order until its turn.
        while self.order.len() > self.most {
            let first = self.order.pop_front().expect("more than none");
            self.counts.remove(&first);
        }
    }

    pub(super) fn enough(&self, line: u64) -> bool {
        self.enough == 1
            || self
                .counts
                .get(&line)
                .is_some_and(|count| *count >= self.enough)
    }

    pub(super) fn forget(&mut self, line: u64) {
        self.counts.remove(&line);
    }
}

/// Sequences of requests, to tell a scan from data worth keeping.
pub(super) struct Streams {
    bypass_bytes: u64,
    /// The end and the length of each of the latest streams.
    ends: VecDeque<(u64, u64)>,
}

const STREAMS: usize = 16;

impl Streams {
    pub(super) fn new(bypass_bytes: u64) -> Self {
        Self {
            bypass_bytes,
            ends: VecDeque::with_capacity(STREAMS),
        }
    }

    /// Takes the request into its stream; whether that is long enough to go past the cache.
    pub(super) fn follow(&mut self, request: Request) -> bool {
        if self.bypass_bytes == 0 {
            return false;
        }
        let found = self
            .ends
            .iter()
            .position(|(end, _)| *end == request.offset_bytes);
        let before = match found {
            Some(index) => self.ends.remove(index).map_or(0, |(_, length)| length),
            None => 0,
        };
        let length = before + request.length_bytes;
        if self.ends.len() == STREAMS {
            self.ends.pop_front();
        }
        self.ends.push_back((request.end_bytes(), length));
        length >= self.bypass_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_that_were_missed_often_enough_are_let_in() {
        let mut misses = Misses::new(2, 4);
        misses.count(7);
        assert!(!misses.enough(7));
        misses.count(7);
        assert!(misses.enough(7));
        misses.forget(7);
        assert!(!misses.enough(7));
    }

    #[test]
    fn no_more_is_remembered_than_the_cache_has_lines() {
        let mut misses = Misses::new(3, 4);
        for line in 0..1000 {
            misses.count(line);
            misses.forget(line / 2);
        }
        assert!(misses.order.len() <= 4);
        assert!(misses.counts.len() <= 4);
    }

    #[test]
    fn a_stream_is_known_by_its_length_among_others() {
        let mut streams = Streams::new(64 * 1024);
        for number in 0..3 {
            assert!(!streams.follow(Request::read(number * 16_384, 16_384)));
            assert!(!streams.follow(Request::read((1 << 30) + number * 40_960, 4096)));
        }
        assert!(streams.follow(Request::read(3 * 16_384, 16_384)));
        assert!(!streams.follow(Request::read(0, 16_384)));
    }
}
