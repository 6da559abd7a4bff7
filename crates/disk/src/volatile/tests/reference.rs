//! A tiny disk of a few sectors, and what a power cut may leave of it: the law, written down once more
//! in the plainest way.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::volatile::{AtRisk, Keep};

pub(super) const SECTOR_BYTES: usize = 8;

/// What happens to a disk. Writes and discards are counted together, from 1, in order of arrival; 0 is
/// what lay there at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Write { first: usize, sectors: usize },
    Discard { first: usize, sectors: usize },
    Answered(usize),
    Stable(usize),
}

/// The bytes of a sector by who wrote it: a byte of one is never that of another, nor of another place.
pub(super) fn bytes_of(write: usize, sector: usize) -> [u8; SECTOR_BYTES] {
    let write = u8::try_from(write).expect("a short history");
    let sector = u8::try_from(sector).expect("a small disk");
    std::array::from_fn(|at| match at % 2 {
        0 => 0x80 | write,
        _ => 0x80 | sector << 3 | u8::try_from(at).expect("a small sector"),
    })
}

/// What a cut is said to have done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) kept: Keep,
    pub(super) at_risk: AtRisk,
    pub(super) kept_bytes: u64,
    pub(super) lost_bytes: u64,
    pub(super) torn_writes: u64,
}

/// Of each sector, whose version is safe, and whose are above it.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    sectors: Vec<Vec<usize>>,
    discards: Vec<bool>,
    answered: Vec<bool>,
}

impl Reference {
    pub(super) fn of(sectors: usize, history: &[Step]) -> Self {
        let mut reference = Self {
            sectors: vec![vec![0]; sectors],
            discards: vec![false],
            answered: vec![true],
        };
        for step in history {
            reference.take(*step);
        }
        reference
    }

    pub(super) fn take(&mut self, step: Step) {
        match step {
            Step::Write { first, sectors } => self.enter(first, sectors, false),
            Step::Discard { first, sectors } => self.enter(first, sectors, true),
            Step::Answered(write) => self.answered[write] = true,
            Step::Stable(write) => {
                for versions in &mut self.sectors {
                    if let Some(place) = versions.iter().position(|version| *version == write) {
                        versions.drain(..place);
                    }
                }
            }
        }
    }

    fn enter(&mut self, first: usize, sectors: usize, is_discard: bool) {
        let write = self.discards.len();
        self.discards.push(is_discard);
        self.answered.push(false);
        for versions in &mut self.sectors[first..first + sectors] {
            versions.push(write);
        }
    }

    /// Those of which something is at risk, in order of arrival.
    pub(super) fn at_risk(&self) -> Vec<usize> {
        let all = 1..self.discards.len();
        all.filter(|write| {
            self.sectors
                .iter()
                .any(|versions| versions[1..].contains(write))
        })
        .collect()
    }

    fn sectors_at_risk(&self, write: usize) -> Vec<usize> {
        let sectors = 0..self.sectors.len();
        sectors
            .filter(|sector| self.sectors[*sector][1..].contains(&write))
            .collect()
    }

    pub(super) fn version(&self, write: usize, sector: usize) -> [u8; SECTOR_BYTES] {
        if self.discards[write] {
            [0; SECTOR_BYTES]
        } else {
            bytes_of(write, sector)
        }
    }

    /// How many images there may be, if nothing is discarded.
    pub(super) fn permitted_images(&self) -> usize {
        self.sectors.iter().map(Vec::len).product()
    }

    /// Holds what a cut left, and what is said of it, to the law.
    pub(super) fn judge(&self, image: &[u8], told: &Told) -> Result<(), String> {
        let holds = self.holds(image)?;
        self.judge_numbers(told)?;
        self.judge_policy(&holds, told.kept)?;
        self.judge_tears(&holds, told.torn_writes)
    }

    /// Whose version each sector may be taken for: only versions that a cut may leave.
    fn holds(&self, image: &[u8]) -> Result<Vec<Vec<usize>>, String> {
        let sectors = image.chunks(SECTOR_BYTES).zip(&self.sectors).enumerate();
        sectors
            .map(|(sector, (bytes, versions))| {
                let mine = versions.iter().copied();
                let mine: Vec<usize> = mine
                    .filter(|write| self.version(*write, sector) == bytes)
                    .collect();
                if mine.is_empty() {
                    return Err(format!(
                        "sector {sector} holds {bytes:x?}, not one of {versions:?}"
                    ));
                }
                Ok(mine)
            })
            .collect()
    }

    fn judge_numbers(&self, told: &Told) -> Result<(), String> {
        let writes = self.at_risk();
        let sectors = writes
            .iter()
            .map(|write| self.sectors_at_risk(*write).len());
        let wanted = AtRisk {
            writes: writes.len() as u64,
            bytes: (sectors.sum::<usize>() * SECTOR_BYTES) as u64,
            answered_writes: writes.iter().filter(|write| self.answered[**write]).count() as u64,
        };
        if told.at_risk != wanted {
            return Err(format!("{wanted:?} is told as {:?}", told.at_risk));
        }
        if told.kept_bytes + told.lost_bytes != wanted.bytes {
            return Err(format!("{wanted:?} is divided as {told:?}"));
        }
        Ok(())
    }

    fn judge_policy(&self, holds: &[Vec<usize>], kept: Keep) -> Result<(), String> {
        let all_hold = |wanted: &dyn Fn(&[usize]) -> usize| {
            let sectors = holds.iter().zip(&self.sectors);
            sectors
                .map(|(mine, versions)| (mine, wanted(versions)))
                .all(|(mine, wanted)| mine.contains(&wanted))
        };
        let obeys = match kept {
            Keep::Nothing => all_hold(&|versions| versions[0]),
            Keep::All => all_hold(&|versions| versions[versions.len() - 1]),
            Keep::Prefix => self.is_prefix(holds),
            Keep::Subset => true,
            Keep::Random => return Err("nothing was drawn".to_owned()),
        };
        obeys
            .then_some(())
            .ok_or_else(|| format!("{holds:?} is not {kept:?} of {:?}", self.sectors))
    }

    /// Whether it is all that came before some sector of some write, in order of arrival.
    fn is_prefix(&self, holds: &[Vec<usize>]) -> bool {
        let mut reached: Vec<usize> = self.sectors.iter().map(|versions| versions[0]).collect();
        let explains = |reached: &[usize]| {
            let mut sectors = reached.iter().zip(holds);
            sectors.all(|(write, mine)| mine.contains(write))
        };
        if explains(&reached) {
            return true;
        }
        for write in self.at_risk() {
            for sector in self.sectors_at_risk(write) {
                reached[sector] = write;
                if explains(&reached) {
                    return true;
                }
            }
        }
        false
    }

    /// Whether so many torn writes explain it, with all others kept or lost whole. Only for few writes.
    fn judge_tears(&self, holds: &[Vec<usize>], torn: u64) -> Result<(), String> {
        let writes = self.at_risk();
        if writes.len() > 6 {
            return Ok(());
        }
        let ways = 3_usize.pow(u32::try_from(writes.len()).expect("few"));
        let explained = (0..ways).any(|way| {
            // Digits of three: 0 lost, 1 kept, 2 torn.
            let fate = |write: usize| {
                let place = writes.iter().position(|mine| *mine == write);
                place.map(|place| way / 3_usize.pow(u32::try_from(place).expect("few")) % 3)
            };
            let torn_here = writes.iter().filter(|write| fate(**write) == Some(2));
            torn_here.count() as u64 <= torn && self.explains(holds, &fate)
        });
        explained
            .then_some(())
            .ok_or_else(|| format!("{holds:?} of {:?} has more than {torn} tears", self.sectors))
    }

    fn explains(&self, holds: &[Vec<usize>], fate: &dyn Fn(usize) -> Option<usize>) -> bool {
        let mut sectors = holds.iter().zip(&self.sectors);
        sectors.all(|(mine, versions)| {
            mine.iter().any(|held| {
                let place = versions.iter().position(|version| version == held);
                let place = place.expect("a version of the sector");
                let is_there = place == 0 || fate(*held) != Some(0);
                let hidden = versions[place + 1..].iter();
                is_there && hidden.map(|write| fate(*write)).all(|fate| fate != Some(1))
            })
        })
    }
}

/// A random history over some sectors: writes become stable in any order, twice, or never.
pub(super) fn draw(sectors: usize, steps: usize, seed: u64) -> Vec<Step> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut writes = 0;
    let history = (0..steps).map(|_| {
        let kind = if writes == 0 {
            0
        } else {
            random.random_range(0..10)
        };
        match kind {
            0..=4 => {
                writes += 1;
                let first = random.random_range(0..sectors);
                let most = (sectors - first).min(4);
                let sectors = random.random_range(1..=most);
                if kind == 4 {
                    Step::Discard { first, sectors }
                } else {
                    Step::Write { first, sectors }
                }
            }
            5..=6 => Step::Answered(random.random_range(1..=writes)),
            _ => Step::Stable(random.random_range(1..=writes)),
        }
    });
    history.collect()
}
