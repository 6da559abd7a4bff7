//! Reads: from the cache, from the stream under the head, or by the arm; and when the head reads ahead.

use super::Spinning;
use crate::request::Nanos;
use crate::timing::spinning::arm::State;
use crate::timing::spinning::controller::Command;

impl Spinning {
    pub(super) fn accept_read(&mut self, now: Nanos, command: Command) {
        let (start, end) = command.span();
        if let State::Streaming(stream) = self.arm.state {
            let reached = stream.reached(&self.geometry, now);
            self.segments.keep(stream.from, reached);
            let begun = start <= reached
                && (stream.from <= start || self.segments.holds(start, reached).is_some());
            if begun && reached < end && !stream.has_stopped(reached) {
                self.counted.read_ahead_hits += 1;
                self.arm.read_on(&self.geometry, now, stream, command);
                return;
            }
        }
        if self
            .write_cache
            .as_ref()
            .is_some_and(|cache| cache.holds(start, end))
        {
            self.counted.cache_hits += 1;
            self.controller.send(now, command);
        } else if let Some(segment_end) = self.segments.holds(start, end) {
            self.counted.cache_hits += 1;
            self.counted.read_ahead_hits += 1;
            self.keep_ahead(now, end, segment_end);
            self.controller.send(now, command);
        } else {
            self.enqueue(command, None);
        }
    }

    /// A read was found in a segment: the head stays ahead of the host, if it has nothing else to do.
    fn keep_ahead(&mut self, now: Nanos, host_end: u64, segment_end: u64) {
        let segment_bytes = self.segments.segment_bytes;
        let limit = host_end + segment_bytes;
        match self.arm.state {
            State::Busy { .. } => {}
            State::Streaming(stream)
                if !stream.has_stopped(stream.reached(&self.geometry, now)) =>
            {
                self.arm.extend(limit, self.geometry.capacity_bytes);
            }
            // It stopped when the segment was full, and goes on when half of it is used up.
            State::Streaming(_) | State::Resting => {
                if segment_end - host_end < segment_bytes / 2 {
                    self.stop_streaming(now);
                    self.arm.stream(&self.geometry, now, segment_end, limit);
                }
            }
        }
    }

    /// Bytes of a range that were read, or are being read ahead, are no longer valid.
    pub(super) fn forget_read(&mut self, now: Nanos, start: u64, end: u64) {
        self.stop_meeting(now, start, end);
        self.segments.forget(start, end);
    }

    /// A stream that reads or will read some of a range ends here.
    pub(super) fn stop_meeting(&mut self, now: Nanos, start: u64, end: u64) {
        if let State::Streaming(stream) = self.arm.state
            && stream.meets(start, end)
        {
            self.stop_streaming(now);
        }
    }

    pub(super) fn stop_streaming(&mut self, now: Nanos) {
        if let State::Streaming(stream) = self.arm.state {
            let reached = stream.reached(&self.geometry, now);
            self.segments.keep(stream.from, reached);
            self.arm.stop(&self.geometry, reached);
        }
    }
}
