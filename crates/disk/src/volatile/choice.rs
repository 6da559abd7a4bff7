//! The choice of what survives a cut: drawn from a seed, write by write.

use std::collections::BTreeMap;
use std::ops::Range;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::WriteId;

/// Which of the writes at risk are on the medium after a cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Keep {
    /// One of the others, drawn
    #[default]
    Random,
    /// None of them
    Nothing,
    /// All of them: as if the disk had had the time to write
    All,
    /// Each by itself, some of them torn
    Subset,
    /// Those that arrived first; the next one is torn
    Prefix,
}

/// The way in which a cut chooses. The same choice from the same account has the same outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::Args)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// Seed of the choice of what survives
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Which of the writes that are not safe yet survive; `all`: only the operating system stopped
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    pub keep: Keep,
}

/// For a subset, the share of writes that are torn, if they have more than one sector.
const TORN: f64 = 0.25;
/// A write of more sectors than these is torn at one place only: a discard may be as large as the disk.
const SECTORS_DRAWN_SINGLY: u64 = 8192;

/// The fate of a write.
#[derive(Clone, Debug)]
pub(super) enum Fate {
    Kept,
    Lost,
    /// Only these parts of the disk were reached, in ascending order.
    Torn(Vec<Range<u64>>),
}

/// A write that a cut can take, and where on the disk it can.
pub(super) struct Candidate {
    pub(super) id: WriteId,
    pub(super) parts: Vec<Range<u64>>,
}

impl Candidate {
    pub(super) fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.end - part.start).sum()
    }

    /// The place on the disk of a byte at risk, by its number.
    fn place(&self, mut nth: u64) -> u64 {
        for part in &self.parts {
            let length = part.end - part.start;
            if nth < length {
                return part.start + nth;
            }
            nth -= length;
        }
        unreachable!("a byte of the write")
    }
}

/// The draws of one cut.
pub(super) struct Lot {
    random: Xoshiro256PlusPlus,
    sector_bytes: u64,
}

impl Lot {
    pub(super) fn new(seed: u64, sector_bytes: u64) -> Self {
        Self {
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            sector_bytes,
        }
    }

    pub(super) fn policy(&mut self, keep: Keep) -> Keep {
        const DRAWN: [Keep; 4] = [Keep::Nothing, Keep::All, Keep::Subset, Keep::Prefix];
        match keep {
            Keep::Random => DRAWN[self.random.random_range(0..DRAWN.len())],
            given => given,
        }
    }

    /// The fate of each write, in order of arrival.
    pub(super) fn fates(&mut self, policy: Keep, writes: &[Candidate]) -> BTreeMap<WriteId, Fate> {
        let fates: Vec<Fate> = match policy {
            Keep::Nothing => writes.iter().map(|_| Fate::Lost).collect(),
            Keep::All => writes.iter().map(|_| Fate::Kept).collect(),
            Keep::Prefix => self.prefix(writes),
            Keep::Subset | Keep::Random => self.subset(writes),
        };
        writes.iter().map(|write| write.id).zip(fates).collect()
    }

    /// All before some moment, and of the one after it a first part.
    fn prefix(&mut self, writes: &[Candidate]) -> Vec<Fate> {
        let whole = self.random.random_range(0..=writes.len());
        let fates = writes.iter().enumerate();
        fates
            .map(|(place, write)| match place.cmp(&whole) {
                std::cmp::Ordering::Less => Fate::Kept,
                std::cmp::Ordering::Equal if self.sectors(write) > 1 => {
                    self.torn_at_one_place(write)
                }
                _ => Fate::Lost,
            })
            .collect()
    }

    /// Each write on its own. The probability of being kept differs from cut to cut, so that some
    /// cuts lose one write of many and some keep one of many.
    fn subset(&mut self, writes: &[Candidate]) -> Vec<Fate> {
        let likely: f64 = self.random.random();
        let fates = writes.iter();
        fates
            .map(|write| {
                if self.sectors(write) > 1 && self.random.random_bool(TORN) {
                    self.torn(write)
                } else if self.random.random_bool(likely) {
                    Fate::Kept
                } else {
                    Fate::Lost
                }
            })
            .collect()
    }

    /// Some sectors are kept and some are lost: a first part, or any.
    fn torn(&mut self, write: &Candidate) -> Fate {
        let anywhere = self.random.random_bool(0.5);
        if anywhere && self.sectors(write) <= SECTORS_DRAWN_SINGLY {
            self.torn_anywhere(write)
        } else {
            self.torn_at_one_place(write)
        }
    }

    fn torn_at_one_place(&mut self, write: &Candidate) -> Fate {
        let kept = self.random.random_range(1..self.sectors(write));
        let border = write.place(kept * self.sector_bytes);
        let parts = write.parts.iter();
        let before = parts.map(|part| part.start..part.end.min(border));
        Fate::Torn(before.filter(|part| !part.is_empty()).collect())
    }

    fn torn_anywhere(&mut self, write: &Candidate) -> Fate {
        let count = self.sectors(write);
        let mut kept: Vec<bool> = (0..count).map(|_| self.random.random()).collect();
        // One of two sectors that are drawn is kept and the other lost, whatever the coins say.
        let (first, other) = (
            self.random.random_range(0..kept.len()),
            self.random.random_range(1..kept.len()),
        );
        let second = (first + other) % kept.len();
        kept[first] = true;
        kept[second] = false;
        let mut parts: Vec<Range<u64>> = Vec::new();
        for (nth, _) in (0..count).zip(kept).filter(|(_, kept)| *kept) {
            let start = write.place(nth * self.sector_bytes);
            match parts.last_mut() {
                Some(last) if last.end == start => last.end += self.sector_bytes,
                _ => parts.push(start..start + self.sector_bytes),
            }
        }
        Fate::Torn(parts)
    }

    fn sectors(&self, write: &Candidate) -> u64 {
        write.bytes() / self.sector_bytes
    }
}
