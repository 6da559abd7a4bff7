//! The cut itself.

use std::collections::BTreeMap;
use std::ops::Range;

use super::choice::{Candidate, Choice, Fate, Keep, Lot};
use super::held::Held;
use super::spans::Span;
use super::{AtRisk, Volatile, WriteId};

/// The result of a cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    /// As drawn: never `Random`.
    pub kept: Keep,
    /// Offset and bytes of what differs from the contents with every write applied; in ascending order,
    /// apart from each other, in whole sectors.
    pub patches: Vec<(u64, Vec<u8>)>,
    /// The choice that the cut had.
    pub at_risk: AtRisk,
    /// Bytes at risk that were kept, even if a later kept version hides them.
    pub kept_bytes: u64,
    pub lost_bytes: u64,
    /// Writes of which some sectors were kept and some were lost.
    pub torn_writes: u64,
}

impl Volatile {
    /// The power fails. Afterwards nothing is at risk: what was kept is stable, the rest is gone.
    ///
    /// The same calls and the same choice have the same outcome, always.
    pub fn cut(&mut self, choice: Choice) -> Outage {
        let mut lot = Lot::new(choice.seed, self.sector_bytes);
        let kept = lot.policy(choice.keep);
        let candidates = self.candidates();
        let fates = lot.fates(kept, &candidates);
        let kept_bytes = candidates.iter().map(|write| kept_of(write, &fates)).sum();
        let torn = fates.values().filter(|fate| matches!(fate, Fate::Torn(_)));
        let patches = self.patches(&fates);
        let outage = Outage {
            kept,
            patches,
            at_risk: self.at_risk,
            kept_bytes,
            lost_bytes: self.at_risk.bytes - kept_bytes,
            torn_writes: torn.count() as u64,
        };
        self.settle();
        outage
    }

    fn candidates(&self) -> Vec<Candidate> {
        let writes = self.writes.iter();
        writes
            .map(|(id, write)| Candidate {
                id: *id,
                parts: self.spans.of(write.stretch.clone(), *id),
            })
            .collect()
    }

    fn patches(&self, fates: &BTreeMap<WriteId, Fate>) -> Vec<(u64, Vec<u8>)> {
        let mut patches = Vec::new();
        for (stretch, span) in self.spans.iter() {
            let mut pieces = self.pieces(stretch, span, fates);
            pieces.sort_by_key(|(piece, _)| piece.start);
            for (piece, held) in pieces {
                append(&mut patches, &piece, &held);
            }
        }
        patches
    }

    /// The bytes of a span after the cut, if they differ from what it reads as now.
    fn pieces(
        &self,
        stretch: Range<u64>,
        span: &Span,
        fates: &BTreeMap<WriteId, Fate>,
    ) -> Vec<(Range<u64>, Held)> {
        let newest = *span.versions.last().expect("a span has versions");
        let reads_zeroes = self.writes[&newest].held.is_zeroes();
        let mut pieces = Vec::new();
        let mut open = vec![stretch.clone()];
        for id in span.versions.iter().rev() {
            let (reached, below) = divide(&open, &fates[id]);
            let write = &self.writes[id];
            if *id != newest {
                pieces.extend(reached.into_iter().map(|part| {
                    let held = write
                        .held
                        .part(part.start - write.stretch.start, part.end - part.start);
                    (part, held)
                }));
            }
            open = below;
        }
        pieces.extend(open.into_iter().map(|part| {
            let held = span
                .base
                .part(part.start - stretch.start, part.end - part.start);
            (part, held)
        }));
        // Zeroes over zeroes change nothing, and may be as long as the disk.
        pieces.retain(|(_, held)| !(reads_zeroes && held.is_zeroes()));
        pieces
    }
}

fn kept_of(write: &Candidate, fates: &BTreeMap<WriteId, Fate>) -> u64 {
    match &fates[&write.id] {
        Fate::Kept => write.bytes(),
        Fate::Lost => 0,
        Fate::Torn(parts) => parts.iter().map(|part| part.end - part.start).sum(),
    }
}

/// Splits parts of the disk into those that a write reached and those that it did not.
fn divide(open: &[Range<u64>], fate: &Fate) -> (Vec<Range<u64>>, Vec<Range<u64>>) {
    let kept = match fate {
        Fate::Kept => return (open.to_vec(), Vec::new()),
        Fate::Lost => return (Vec::new(), open.to_vec()),
        Fate::Torn(kept) => kept,
    };
    let (mut reached, mut below) = (Vec::new(), Vec::new());
    for part in open {
        let mut from = part.start;
        let first = kept.partition_point(|kept| kept.end <= part.start);
        for kept in kept[first..]
            .iter()
            .take_while(|kept| kept.start < part.end)
        {
            let both = kept.start.max(part.start)..kept.end.min(part.end);
            below.push(from..both.start);
            from = both.end;
            reached.push(both);
        }
        below.push(from..part.end);
    }
    below.retain(|part| !part.is_empty());
    (reached, below)
}

fn append(patches: &mut Vec<(u64, Vec<u8>)>, piece: &Range<u64>, held: &Held) {
    let length = piece.end - piece.start;
    match patches.last_mut() {
        Some((offset, bytes)) if *offset + bytes.len() as u64 == piece.start => {
            held.append_to(length, bytes);
        }
        _ => {
            let mut bytes = Vec::new();
            held.append_to(length, &mut bytes);
            patches.push((piece.start, bytes));
        }
    }
}
