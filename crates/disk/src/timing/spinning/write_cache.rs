//! Writes that are answered and not yet on the platter.
//!
//! Cached extents never overlap. A write over a cached one replaces it and takes over its tags,
//! because the replaced write is stable no sooner than the new bytes. A cached write that was
//! replaced in part lies in several extents, and is stable when the last of them is.

use std::collections::HashMap;

use smallvec::SmallVec;

use super::geometry::Geometry;
use super::queue::{Queue, View};
use crate::request::{Nanos, Tag};

/// The writes with bytes in an extent. Most extents have one, and that costs no allocation.
pub(super) type Tags = SmallVec<[Tag; 1]>;

/// A run of cached bytes.
#[derive(Debug)]
pub(super) struct Extent {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) arrived: Nanos,
    pub(super) tags: Tags,
}

impl Extent {
    fn bytes(&self) -> u64 {
        self.end - self.start
    }
}

/// The cached extents, in no order, and their limits.
#[derive(Debug)]
pub(super) struct WriteCache {
    pub(super) most_bytes: u64,
    most_commands: usize,
    settle_ns: f64,
    sector_bytes: u64,
    queue: Queue<Extent>,
    /// Start and end of each, by its index in the queue.
    spans: Vec<(u64, u64)>,
    bytes: u64,
    /// The extent that is being written: it still takes room, and reads still find it.
    under_way: Option<(u64, u64)>,
    /// In how many extents a write is, where in more than one.
    pieces: HashMap<Tag, usize>,
    oldest: Option<Nanos>,
}

impl WriteCache {
    pub(super) fn new(
        most_bytes: u64,
        most_commands: usize,
        settle_ns: f64,
        sector_bytes: u64,
        ageing: f64,
    ) -> Self {
        Self {
            most_bytes,
            most_commands,
            settle_ns,
            sector_bytes,
            queue: Queue::new(ageing),
            spans: Vec::new(),
            bytes: 0,
            under_way: None,
            pieces: HashMap::new(),
            oldest: None,
        }
    }

    /// No extent waits to be written; one may be in progress.
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// When the first of what waits arrived.
    pub(super) fn oldest(&self) -> Option<Nanos> {
        self.oldest
    }

    fn commands(&self) -> usize {
        self.queue.len() + usize::from(self.under_way.is_some())
    }

    fn all_bytes(&self) -> u64 {
        self.bytes + self.under_way.map_or(0, |(start, end)| end - start)
    }

    pub(super) fn has_room(&self, bytes: u64) -> bool {
        self.commands() < self.most_commands && self.all_bytes() + bytes <= self.most_bytes
    }

    /// Whether more than this share of the room is taken, in bytes or in commands.
    pub(super) fn fuller_than(&self, share: f64) -> bool {
        self.all_bytes() as f64 > share * self.most_bytes as f64
            || self.commands() as f64 > share * self.most_commands as f64
    }

    /// Whether all of a range is cached.
    pub(super) fn holds(&self, start: u64, end: u64) -> bool {
        let overlap = |&(from, to): &(u64, u64)| to.min(end).saturating_sub(from.max(start));
        // Cached extents do not overlap, so their parts of the range add up. The extent in progress
        // may have been replaced since, and counts only alone.
        let cached: u64 = self.spans.iter().map(overlap).sum();
        cached == end - start
            || self
                .under_way
                .iter()
                .any(|span| overlap(span) == end - start)
    }

    /// Caches a write. Whatever it covers is replaced; says whether anything was.
    pub(super) fn insert(
        &mut self,
        geometry: &Geometry,
        (start, end): (u64, u64),
        arrived: Nanos,
        tag: Tag,
    ) -> bool {
        let replaced = self.take(geometry, start, end);
        let (arrived, tags, coalesced) = match replaced {
            // It stays as old as the oldest byte it stands for, or a page that is written again and
            // again would never reach the platter.
            Some((oldest, mut tags)) => {
                tags.push(tag);
                (oldest.min(arrived), tags, true)
            }
            None => (arrived, Tags::from([tag]), false),
        };
        self.add(
            geometry,
            Extent {
                start,
                end,
                arrived,
                tags,
            },
        );
        coalesced
    }

    fn add(&mut self, geometry: &Geometry, extent: Extent) {
        self.bytes += extent.bytes();
        self.oldest = Some(
            self.oldest
                .map_or(extent.arrived, |at| at.min(extent.arrived)),
        );
        self.spans.push((extent.start, extent.end));
        let turns = geometry.turns_before(extent.start);
        self.queue
            .push(turns, self.settle_ns, extent.arrived, extent);
    }

    fn remove(&mut self, index: usize) -> Extent {
        let extent = self.queue.swap_remove(index);
        self.spans.swap_remove(index);
        self.bytes -= extent.bytes();
        if self.oldest == Some(extent.arrived) {
            self.oldest = self.queue.items().iter().map(|left| left.arrived).min();
        }
        extent
    }

    /// Takes a range out of the cache, and the tags of all that had bytes there with the time of the
    /// oldest; what lies outside the range stays. The caller now has the piece of each tag.
    pub(super) fn take(
        &mut self,
        geometry: &Geometry,
        start: u64,
        end: u64,
    ) -> Option<(Nanos, Tags)> {
        let mut taken: Option<(Nanos, Tags)> = None;
        let mut index = 0;
        let mut left_over = Vec::new();
        while index < self.spans.len() {
            let (from, to) = self.spans[index];
            if to <= start || end <= from {
                index += 1;
                continue;
            }
            let extent = self.remove(index);
            let sides = [(from, start), (end, to)].map(|(a, b)| (a < b).then_some((a, b)));
            for (a, b) in sides.into_iter().flatten() {
                left_over.push(Extent {
                    start: a,
                    end: b,
                    arrived: extent.arrived,
                    tags: extent.tags.clone(),
                });
            }
            let more = sides.iter().flatten().count();
            self.join(&mut taken, extent, more);
        }
        for extent in left_over {
            self.add(geometry, extent);
        }
        taken
    }

    /// Adds an extent's tags to those taken, each once, and counts the pieces that each is now in:
    /// one here, and `left_over` more.
    fn join(&mut self, taken: &mut Option<(Nanos, Tags)>, extent: Extent, left_over: usize) {
        let Some((oldest, tags)) = taken else {
            for &tag in extent.tags.iter().filter(|_| left_over > 0) {
                *self.pieces.entry(tag).or_insert(1) += left_over;
            }
            *taken = Some((extent.arrived, extent.tags));
            return;
        };
        *oldest = (*oldest).min(extent.arrived);
        for tag in extent.tags {
            let known = self.pieces.contains_key(&tag) && tags.contains(&tag);
            if !known {
                tags.push(tag);
            }
            if known || left_over > 0 {
                let pieces = self.pieces.entry(tag).or_insert(1);
                *pieces = *pieces + left_over - usize::from(known);
            }
        }
    }

    /// Counts off one piece of each write, which has reached the platter. Calls `stable` for each
    /// write that has no piece left to write.
    pub(super) fn settle(&mut self, tags: &[Tag], mut stable: impl FnMut(Tag)) {
        if self.pieces.is_empty() {
            tags.iter().copied().for_each(stable);
            return;
        }
        for &tag in tags {
            match self.pieces.get_mut(&tag) {
                Some(pieces) if *pieces > 1 => *pieces -= 1,
                _ => {
                    self.pieces.remove(&tag);
                    stable(tag);
                }
            }
        }
    }

    /// The extent that comes next, and its cost.
    pub(super) fn best(&mut self, view: View) -> Option<(usize, f64)> {
        self.queue.best(view)
    }

    /// Takes an extent to be written, with its neighbours if it ends within a sector; `written`
    /// frees its room.
    pub(super) fn begin(&mut self, index: usize) -> Extent {
        let mut extent = self.remove(index);
        while !extent.start.is_multiple_of(self.sector_bytes)
            && let Some(index) = self.spans.iter().position(|span| span.1 == extent.start)
        {
            let before = self.remove(index);
            extent.start = before.start;
            extent.tags.extend(before.tags);
        }
        while !extent.end.is_multiple_of(self.sector_bytes)
            && let Some(index) = self.spans.iter().position(|span| span.0 == extent.end)
        {
            let after = self.remove(index);
            extent.end = after.end;
            extent.tags.extend(after.tags);
        }
        self.under_way = Some((extent.start, extent.end));
        extent
    }

    pub(super) fn written(&mut self) {
        self.under_way = None;
    }
}
