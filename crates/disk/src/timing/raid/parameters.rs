//! Parameters of an array: `[device.raid]`, and its disks in `[[device.raid.disks]]` or as `disks =
//! [{ named = "…" }, { named = "…" }]`.

use serde::{Deserialize, Serialize};

use super::Raid;
use crate::device::{Build, Figure, Kind, Model, Properties, assumed};
use crate::timing::Timing;

/// Disks that work as one. Parity and failed disks are not modelled.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RaidParameters {
    pub level: Figure<RaidLevel>,
    /// Bytes that lie together on one disk, a power of two from 4 KiB to 16 MiB; a mirror alone has none.
    #[serde(default = "assumed::<_, 524_288>")]
    pub chunk_bytes: Figure<u64>,
    /// Two or more; for RAID 10 an even number from four. The smallest counts.
    pub disks: Vec<Model>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RaidLevel {
    /// Striped.
    Raid0,
    /// Mirrored: every disk holds everything.
    Raid1,
    /// Striped over mirrored pairs.
    Raid10,
}

impl TryFrom<u8> for RaidLevel {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, String> {
        match number {
            0 => Ok(Self::Raid0),
            1 => Ok(Self::Raid1),
            10 => Ok(Self::Raid10),
            _ => Err(format!(
                "RAID level {number} is not supported; use 0, 1 or 10"
            )),
        }
    }
}

impl<'de> Deserialize<'de> for RaidLevel {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::try_from(u8::deserialize(from)?).map_err(serde::de::Error::custom)
    }
}

impl Serialize for RaidLevel {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u8(match self {
            Self::Raid0 => 0,
            Self::Raid1 => 1,
            Self::Raid10 => 10,
        })
    }
}

const CHUNKS: std::ops::RangeInclusive<u64> = 4096..=16 << 20;
const MOST_DISKS: usize = 64;

impl Kind for RaidParameters {
    fn check(&self) -> Result<(), String> {
        let chunk_bytes = self.chunk_bytes.value;
        if !chunk_bytes.is_power_of_two() || !CHUNKS.contains(&chunk_bytes) {
            return Err(format!(
                "raid.chunk_bytes is {chunk_bytes}; it may be a power of two from {} to {}",
                CHUNKS.start(),
                CHUNKS.end()
            ));
        }
        let disks = self.disks.len();
        let (fits, words) = match self.level.value {
            RaidLevel::Raid0 | RaidLevel::Raid1 => (disks >= 2, "two or more"),
            RaidLevel::Raid10 => (
                disks >= 4 && disks.is_multiple_of(2),
                "an even number from four",
            ),
        };
        if !fits || disks > MOST_DISKS {
            return Err(format!(
                "raid.disks has {disks} disks; this level needs {words}, and at most {MOST_DISKS}"
            ));
        }
        for (number, disk) in self.disks.iter().enumerate() {
            disk.check()
                .map_err(|why| format!("raid.disks[{number}]: {why}"))?;
        }
        Ok(())
    }

    fn build(&self, build: Build) -> Box<dyn Timing> {
        let disks = (0..).zip(&self.disks);
        let disks = disks.map(|(number, disk)| disk.build(build.part(number)));
        Box::new(Raid::new(self, disks.collect()))
    }

    fn properties(&self) -> Properties {
        Properties::of_parts(&self.disks)
    }

    fn parts_mut(&mut self) -> Vec<&mut Model> {
        self.disks.iter_mut().collect()
    }
}
