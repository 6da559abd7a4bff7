//! Chooses what to cache: no long streams.

use std::collections::VecDeque;

use crate::request::Request;

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
