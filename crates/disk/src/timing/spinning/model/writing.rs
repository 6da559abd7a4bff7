//! Writes and discards, and when what is cached is written back.

use super::Spinning;
use crate::request::{Nanos, Tag};
use crate::timing::Event;
use crate::timing::spinning::controller::Command;

impl Spinning {
    pub(super) fn accept_write(&mut self, now: Nanos, command: Command, events: &mut Vec<Event>) {
        let (start, end) = command.span();
        self.stop_meeting(now, start, end);
        let segments = &self.segments;
        self.arm
            .learn(start, end, |from, to| segments.has(from, to));
        self.forget_read(now, start, end);
        match &mut self.write_cache {
            None => self.enqueue(command, None),
            Some(cache) if command.request.length_bytes > cache.most_bytes => {
                let replaced = cache.take(&self.geometry, start, end);
                self.enqueue(command, replaced.map(|(_, tags)| tags));
            }
            Some(_) => {
                self.stalled.push_back(command);
                self.let_in(now, events);
                self.counted.stalls += u64::from(!self.stalled.is_empty());
            }
        }
    }

    /// Writes go into the cache as far as there is room, in the order of their arrival.
    pub(super) fn let_in(&mut self, now: Nanos, events: &mut Vec<Event>) {
        while let (Some(cache), Some(&command)) = (&mut self.write_cache, self.stalled.front()) {
            if !cache.has_room(command.request.length_bytes) {
                break;
            }
            let coalesced = cache.insert(&self.geometry, command.span(), now, command.tag);
            self.counted.coalesced += u64::from(coalesced);
            self.stalled.pop_front();
            self.answer(now, command.tag, events);
        }
    }

    /// The bytes are not wanted: what of them is cached need not be written.
    pub(super) fn accept_discard(&mut self, now: Nanos, command: Command, events: &mut Vec<Event>) {
        let (start, end) = command.span();
        self.forget_read(now, start, end);
        if let Some(cache) = &mut self.write_cache {
            let replaced = cache.take(&self.geometry, start, end);
            if let Some((_, tags)) = replaced {
                self.settle(now, &tags, events);
            }
        }
        let tag = command.tag;
        events.push(Event::Stable { tag, at: now });
        self.answer(now, tag, events);
    }

    pub(super) fn settle(&mut self, now: Nanos, tags: &[Tag], events: &mut Vec<Event>) {
        let cache = self.write_cache.as_mut().expect("tags come from the cache");
        cache.settle(tags, |tag| events.push(Event::Stable { tag, at: now }));
    }

    pub(super) fn may_write_back(&self, now: Nanos) -> bool {
        let Some(cache) = self.write_cache.as_ref().filter(|cache| !cache.is_empty()) else {
            return false;
        };
        let competes = self.flushing.is_some()
            || !self.stalled.is_empty()
            || cache
                .oldest()
                .is_some_and(|oldest| now >= oldest + self.write_back.oldest_ns);
        let fills_in = self.queue.is_empty()
            && (cache.fuller_than(self.write_back.share)
                || self.controller.is_idle() && now >= self.active_at + self.write_back.idle_ns);
        competes || fills_in
    }

    /// When cached writes are due by themselves.
    pub(super) fn write_back_due(&self) -> Option<Nanos> {
        if self.arm.is_busy() {
            return None;
        }
        let cache = self.write_cache.as_ref()?;
        let old_at = cache.oldest()? + self.write_back.oldest_ns;
        if self.controller.is_idle() {
            return Some(old_at.min(self.active_at + self.write_back.idle_ns));
        }
        Some(old_at)
    }
}
