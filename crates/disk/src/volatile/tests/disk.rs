//! A disk of bytes with its account, as whoever serves one keeps it; and the same with a mistake in it.

use super::reference::{SECTOR_BYTES, Step, Told, bytes_of};
use crate::volatile::{Choice, Keep, Outage, Volatile, WriteId};

/// A mistake that a cache could make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bug {
    /// Every other write that became stable is still at risk: a flush was forgotten.
    ForgetsAFlush,
    /// Where something was lost, half a sector is of one version and half of another.
    TearsWithinASector,
    /// A write that another has replaced reaches the medium after it.
    LetsAWriteOvertake,
    /// What is lost leaves zeroes, not what lay there.
    LosesWhatLayBelow,
    /// A version lands in the sector beside its own.
    MissesTheSector,
    /// Any subset, where a prefix is wanted.
    ForgetsTheOrder,
    /// What survived is more than what is told.
    KeepsMoreThanNothing,
    /// Torn writes are passed off as whole.
    HidesTears,
    /// Answers are not counted.
    ForgetsAnswers,
}

pub(super) const BUGS: [Bug; 9] = [
    Bug::ForgetsAFlush,
    Bug::TearsWithinASector,
    Bug::LetsAWriteOvertake,
    Bug::LosesWhatLayBelow,
    Bug::MissesTheSector,
    Bug::ForgetsTheOrder,
    Bug::KeepsMoreThanNothing,
    Bug::HidesTears,
    Bug::ForgetsAnswers,
];

pub(super) struct Disk {
    /// With every write applied.
    pub(super) contents: Vec<u8>,
    pub(super) account: Volatile,
    bug: Option<Bug>,
    /// First byte and bytes of each write.
    writes: Vec<(usize, Vec<u8>)>,
    stable: Vec<bool>,
}

impl Disk {
    pub(super) fn after(sectors: usize, history: &[Step], bug: Option<Bug>) -> Self {
        let contents: Vec<u8> = (0..sectors)
            .flat_map(|sector| bytes_of(0, sector))
            .collect();
        let mut disk = Self {
            writes: vec![(0, contents.clone())],
            stable: vec![true],
            contents,
            account: Volatile::new(SECTOR_BYTES as u64),
            bug,
        };
        for step in history {
            disk.take(*step);
        }
        disk
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Write { first, sectors } => self.write(first, sectors),
            Step::Discard { first, sectors } => self.discard(first, sectors),
            Step::Answered(_) if self.bug == Some(Bug::ForgetsAnswers) => {}
            Step::Answered(write) => self.account.answered(WriteId(write as u64)),
            Step::Stable(write) => self.becomes_stable(write),
        }
    }

    fn write(&mut self, first: usize, sectors: usize) {
        let number = self.writes.len();
        let bytes: Vec<u8> = (first..first + sectors)
            .flat_map(|sector| bytes_of(number, sector))
            .collect();
        let at = first * SECTOR_BYTES;
        let before = self.contents[at..at + bytes.len()].to_vec();
        self.account
            .wrote(WriteId(number as u64), at as u64, &bytes, &before);
        self.applies(at, bytes);
    }

    fn discard(&mut self, first: usize, sectors: usize) {
        let (at, length) = (first * SECTOR_BYTES, sectors * SECTOR_BYTES);
        // As thin contents tell: only the sectors that hold something.
        let held = self.contents[at..at + length].chunks(SECTOR_BYTES);
        let held: Vec<(u64, &[u8])> = (first..)
            .map(|sector| (sector * SECTOR_BYTES) as u64)
            .zip(held)
            .filter(|(_, bytes)| bytes.iter().any(|byte| *byte != 0))
            .collect();
        let id = WriteId(self.writes.len() as u64);
        self.account.discarded(id, at as u64, length as u64, &held);
        self.applies(at, vec![0; length]);
    }

    fn applies(&mut self, at: usize, bytes: Vec<u8>) {
        self.contents[at..at + bytes.len()].copy_from_slice(&bytes);
        self.writes.push((at, bytes));
        self.stable.push(false);
    }

    fn becomes_stable(&mut self, write: usize) {
        let id = WriteId(write as u64);
        if self.bug == Some(Bug::ForgetsAFlush) && write.is_multiple_of(2) {
            return;
        }
        let is_late = !self.stable[write] && !self.account.is_at_risk(id);
        if self.bug == Some(Bug::LetsAWriteOvertake) && is_late {
            let (at, bytes) = &self.writes[write];
            self.contents[*at..*at + bytes.len()].copy_from_slice(bytes);
        }
        self.stable[write] = true;
        self.account.stable(id);
    }

    /// What is on the medium after a cut, and what is told of it.
    pub(super) fn cut(mut self, seed: u64, keep: Keep) -> (Vec<u8>, Told) {
        let wanted = match (self.bug, keep) {
            (Some(Bug::ForgetsTheOrder), Keep::Prefix) => Keep::Subset,
            (Some(Bug::KeepsMoreThanNothing), Keep::Nothing) => Keep::Prefix,
            _ => keep,
        };
        let mut outage = self.account.cut(Choice { seed, keep: wanted });
        self.spoil(&mut outage);
        let mut told = Told {
            kept: outage.kept,
            at_risk: outage.at_risk,
            kept_bytes: outage.kept_bytes,
            lost_bytes: outage.lost_bytes,
            torn_writes: outage.torn_writes,
        };
        if wanted != keep {
            told.kept = keep;
        }
        let mut image = self.contents;
        let mut from = 0;
        for (offset, bytes) in &outage.patches {
            let at = usize::try_from(*offset).expect("a small disk");
            assert!(at >= from && !bytes.is_empty(), "{:?}", outage.patches);
            assert_eq!((at % SECTOR_BYTES, bytes.len() % SECTOR_BYTES), (0, 0));
            from = at + bytes.len();
            image[at..from].copy_from_slice(bytes);
        }
        (image, told)
    }

    fn spoil(&self, outage: &mut Outage) {
        match self.bug {
            Some(Bug::TearsWithinASector) => {
                if let Some((offset, bytes)) = outage.patches.first_mut() {
                    let at = usize::try_from(*offset).expect("a small disk");
                    let half = SECTOR_BYTES / 2;
                    bytes[..half].copy_from_slice(&self.contents[at..at + half]);
                }
            }
            Some(Bug::LosesWhatLayBelow) => {
                for (_, bytes) in &mut outage.patches {
                    bytes.fill(0);
                }
            }
            Some(Bug::MissesTheSector) => {
                if let Some((_, bytes)) = outage.patches.first_mut() {
                    bytes.rotate_left(SECTOR_BYTES);
                }
            }
            Some(Bug::HidesTears) => outage.torn_writes = 0,
            _ => {}
        }
    }
}
