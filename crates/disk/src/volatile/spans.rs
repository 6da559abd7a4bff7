//! The disk in spans: stretches of sectors with the same versions above their base.

use std::collections::BTreeMap;
use std::ops::Range;

use super::WriteId;
use super::held::{Held, index};

/// One stretch of sectors with something at risk.
#[derive(Clone, Debug)]
pub(super) struct Span {
    pub(super) end: u64,
    /// The safe version.
    pub(super) base: Held,
    /// The versions that a cut may leave instead, in order of arrival; never empty. The disk reads
    /// as the last one.
    pub(super) versions: Vec<WriteId>,
}

/// Spans by their first byte, without overlap. The bytes between them are safe as they are.
#[derive(Clone, Debug, Default)]
pub(super) struct Spans {
    by_start: BTreeMap<u64, Span>,
}

impl Spans {
    /// Puts a version on top of a stretch. If nothing was at risk, the base is what lay there
    /// `before`: pieces in ascending order, zeroes between them.
    pub(super) fn cover(&mut self, stretch: Range<u64>, id: WriteId, before: &[(u64, &[u8])]) {
        self.split(stretch.start);
        self.split(stretch.end);
        let mut from = stretch.start;
        let mut fresh = Vec::new();
        for (start, span) in self.by_start.range_mut(stretch.clone()) {
            fresh.push(from..*start);
            span.versions.push(id);
            from = span.end;
        }
        fresh.push(from..stretch.end);
        for gap in fresh.into_iter().filter(|gap| !gap.is_empty()) {
            self.begin(gap, id, before);
        }
    }

    /// New spans with nothing at risk before: one for each piece that lay there, and for each gap.
    fn begin(&mut self, gap: Range<u64>, id: WriteId, before: &[(u64, &[u8])]) {
        let mut from = gap.start;
        let first = before.partition_point(|(offset, bytes)| offset + length(bytes) <= gap.start);
        for (offset, bytes) in &before[first..] {
            let piece = (*offset).max(gap.start)..(offset + length(bytes)).min(gap.end);
            if piece.is_empty() {
                break;
            }
            let at = index(piece.start - offset)..index(piece.end - offset);
            self.insert(from..piece.start, Held::Zeroes, id);
            self.insert(piece.clone(), Held::copy(&bytes[at]), id);
            from = piece.end;
        }
        self.insert(from..gap.end, Held::Zeroes, id);
    }

    fn insert(&mut self, stretch: Range<u64>, base: Held, id: WriteId) {
        if !stretch.is_empty() {
            let span = Span {
                end: stretch.end,
                base,
                versions: vec![id],
            };
            self.by_start.insert(stretch.start, span);
        }
    }

    /// Makes a border there.
    fn split(&mut self, at: u64) {
        let Some((start, span)) = self.by_start.range_mut(..at).next_back() else {
            return;
        };
        if span.end <= at {
            return;
        }
        let (front, back) = (at - start, span.end - at);
        let behind = Span {
            base: span.base.part(front, back),
            ..span.clone()
        };
        span.base = span.base.part(0, front);
        span.end = at;
        self.by_start.insert(at, behind);
    }

    /// A version has become safe: it becomes the base unless it lies under one that was safe
    /// before. Returns the versions that are no longer at risk, with their bytes.
    pub(super) fn stable(
        &mut self,
        stretch: Range<u64>,
        id: WriteId,
        held: &Held,
        safe: &mut Vec<(WriteId, u64)>,
    ) {
        let mut settled = Vec::new();
        for (start, span) in self.by_start.range_mut(stretch.clone()) {
            let Ok(place) = span.versions.binary_search(&id) else {
                continue;
            };
            let length = span.end - start;
            safe.extend(span.versions.drain(..=place).map(|gone| (gone, length)));
            if span.versions.is_empty() {
                settled.push(*start);
            } else {
                let base = held.part(start - stretch.start, length);
                span.base = base.apart(stretch.end - stretch.start);
            }
        }
        for start in settled {
            self.by_start.remove(&start);
        }
    }

    /// The parts of a stretch where a version is at risk.
    pub(super) fn of(&self, stretch: Range<u64>, id: WriteId) -> Vec<Range<u64>> {
        let spans = self.by_start.range(stretch);
        let mine = spans.filter(|(_, span)| span.versions.binary_search(&id).is_ok());
        mine.map(|(start, span)| *start..span.end).collect()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Range<u64>, &Span)> {
        let spans = self.by_start.iter();
        spans.map(|(start, span)| (*start..span.end, span))
    }

    pub(super) fn clear(&mut self) {
        self.by_start.clear();
    }
}

fn length(bytes: &[u8]) -> u64 {
    bytes.len() as u64
}
