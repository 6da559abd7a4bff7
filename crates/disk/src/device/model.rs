//! The kinds of device that a file may describe, and how a file becomes a running model.

use serde::{Deserialize, Serialize};

use super::figure::Figure;
use super::promise::Promise;
use crate::timing::{
    Bridge, BridgeParameters, Cache, CacheParameters, CachePolicy, Cloud, CloudParameters, Flash,
    FlashParameters, Ignoring, Log, LogParameters, Memory, MemoryParameters, Null, Protected, Raid,
    RaidParameters, Spinning, SpinningParameters, Timing,
};

/// Of devices that do not say otherwise.
const SECTOR_BYTES: u64 = 512;

/// How a device is to be built, beyond what its file says.
#[derive(Clone, Copy, Debug)]
pub struct Build {
    /// Seed of every draw in the model.
    pub seed: u64,
    /// Of the device as a whole; its parts are as their files say.
    pub promise: Promise,
}

impl Build {
    /// As its file says, with this seed.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self {
            seed,
            promise: Promise::AsDescribed,
        }
    }

    /// How the part of that number is to be built: with a seed of its own, so that two equal disks of
    /// one array neither turn nor draw alike.
    #[must_use]
    pub fn part(self, number: u64) -> Self {
        // The finaliser of SplitMix64 (Steele, Lea and Flood, 2014): neighbours become strangers.
        let mut mixed = self
            .seed
            .wrapping_add((number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self::seeded(mixed ^ (mixed >> 31))
    }
}

/// One device: exactly one kind, with its parameters. Devices may be built of devices.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Model {
    Null(NullParameters),
    Spinning(Box<SpinningParameters>),
    Flash(Box<FlashParameters>),
    Cloud(Box<CloudParameters>),
    Memory(MemoryParameters),
    Bridge(BridgeParameters),
    Cache(CacheParameters),
    Log(LogParameters),
    Raid(RaidParameters),
    /// Another device by its name, as on the command line. Reading a file puts that device here.
    Named(String),
}

/// A device without any delay.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NullParameters {
    pub capacity_bytes: Figure<u64>,
}

impl Model {
    /// Refuses what cannot be: geometry, rates and sizes that contradict each other.
    ///
    /// # Errors
    ///
    /// The parameter, its value and what it may be.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Self::Null(_) => Ok(()),
            Self::Spinning(parameters) => parameters.check(),
            Self::Flash(parameters) => parameters.check(),
            Self::Cloud(parameters) => parameters.check(),
            Self::Memory(parameters) => parameters.check(),
            Self::Bridge(parameters) => parameters.check(),
            Self::Cache(parameters) => parameters.check(),
            Self::Log(parameters) => parameters.check(),
            Self::Raid(parameters) => parameters.check(),
            Self::Named(name) => Err(format!("the device `{name}` was not looked up")),
        }
    }

    /// The word by which a file names its kind.
    #[must_use]
    pub fn kind(&self) -> String {
        let tree = serde_json::to_value(self).expect("a model is JSON");
        let only = tree.as_object().and_then(|kinds| kinds.keys().next());
        only.expect("exactly one kind").clone()
    }

    /// Makes the running model of a device that `check` accepts.
    ///
    /// # Panics
    ///
    /// Where a name was not looked up; a device that was read from a file has none left.
    #[must_use]
    pub fn build(&self, build: Build) -> Box<dyn Timing> {
        let device = self.as_described(build);
        match build.promise {
            Promise::AsDescribed => device,
            Promise::FlushesIgnored => Box::new(Ignoring::new(device)),
            Promise::PowerLossProtected => Box::new(Protected::new(device)),
        }
    }

    fn as_described(&self, build: Build) -> Box<dyn Timing> {
        match self {
            Self::Null(parameters) => Box::new(Null::new(parameters.capacity_bytes.value)),
            Self::Spinning(parameters) => Box::new(Spinning::new(parameters, build.seed)),
            Self::Flash(parameters) => Box::new(Flash::new(parameters, build.seed)),
            Self::Cloud(parameters) => Box::new(Cloud::new(parameters, build.seed)),
            Self::Memory(parameters) => Box::new(Memory::new(parameters)),
            Self::Bridge(parameters) => Box::new(Bridge::new(
                parameters,
                parameters.disk.build(build.part(0)),
            )),
            Self::Cache(parameters) => Box::new(Cache::new(
                parameters,
                parameters.front.build(build.part(0)),
                parameters.back.build(build.part(1)),
            )),
            Self::Log(parameters) => Box::new(Log::new(
                parameters,
                parameters.front.build(build.part(0)),
                parameters.back.build(build.part(1)),
            )),
            Self::Raid(parameters) => {
                let disks = (0..).zip(&parameters.disks);
                let disks = disks.map(|(number, disk)| disk.build(build.part(number)));
                Box::new(Raid::new(parameters, disks.collect()))
            }
            Self::Named(name) => panic!("the device `{name}` was not looked up"),
        }
    }

    /// What is read and written whole: a physical sector of the disk, or of what it stands before.
    #[must_use]
    pub fn sector_bytes(&self) -> u64 {
        match self {
            Self::Spinning(parameters) => parameters.sector_bytes.value,
            Self::Bridge(parameters) => parameters.disk.sector_bytes(),
            // What goes past the front must suit the back.
            Self::Cache(parameters) => parameters.back.sector_bytes(),
            Self::Log(parameters) => parameters.back.sector_bytes(),
            Self::Raid(parameters) => {
                let disks = parameters.disks.iter().map(Self::sector_bytes);
                disks.max().unwrap_or(SECTOR_BYTES)
            }
            _ => SECTOR_BYTES,
        }
    }

    /// Whether what is stable outlives the power: not in main memory, nor in what keeps a part of its
    /// bytes there. With power-loss protection everything does.
    #[must_use]
    pub fn survives_without_power(&self, promise: Promise) -> bool {
        promise == Promise::PowerLossProtected || self.keeps_bytes()
    }

    fn keeps_bytes(&self) -> bool {
        match self {
            Self::Memory(_) => false,
            Self::Bridge(parameters) => parameters.disk.keeps_bytes(),
            // The front of a write-through cache has nothing that the back has not.
            Self::Cache(parameters) => {
                let front_counts = parameters.policy.value == CachePolicy::WriteBack;
                parameters.back.keeps_bytes() && (!front_counts || parameters.front.keeps_bytes())
            }
            Self::Log(parameters) => {
                parameters.front.keeps_bytes() && parameters.back.keeps_bytes()
            }
            Self::Raid(parameters) => parameters.disks.iter().all(Self::keeps_bytes),
            Self::Null(_) | Self::Spinning(_) | Self::Flash(_) | Self::Cloud(_) => true,
            Self::Named(name) => panic!("the device `{name}` was not looked up"),
        }
    }

    /// Whether a head writes its sectors, so that the one under it may be spoilt when the power fails.
    #[must_use]
    pub fn has_head(&self) -> bool {
        match self {
            Self::Spinning(_) => true,
            Self::Bridge(parameters) => parameters.disk.has_head(),
            Self::Cache(parameters) => parameters.front.has_head() || parameters.back.has_head(),
            Self::Log(parameters) => parameters.front.has_head() || parameters.back.has_head(),
            Self::Raid(parameters) => parameters.disks.iter().any(Self::has_head),
            Self::Null(_) | Self::Flash(_) | Self::Cloud(_) | Self::Memory(_) => false,
            Self::Named(name) => panic!("the device `{name}` was not looked up"),
        }
    }

    /// The devices that it is built of.
    pub(super) fn parts_mut(&mut self) -> Vec<&mut Self> {
        match self {
            Self::Bridge(parameters) => vec![&mut parameters.disk],
            Self::Cache(parameters) => vec![&mut parameters.front, &mut parameters.back],
            Self::Log(parameters) => vec![&mut parameters.front, &mut parameters.back],
            Self::Raid(parameters) => parameters.disks.iter_mut().collect(),
            _ => Vec::new(),
        }
    }
}
