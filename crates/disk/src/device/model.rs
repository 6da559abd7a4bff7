//! The kinds of device that a file may describe, and how a file becomes a running model.

use serde::{Deserialize, Serialize};

use super::kind::{Kind, Properties};
use super::promise::Promise;
use crate::timing::{
    BridgeParameters, CacheParameters, CloudParameters, FlashParameters, MemoryParameters,
    NullParameters, SpinningParameters, Timing, Withholding,
};

/// Options for building a device, beyond its file.
#[derive(Clone, Copy, Debug)]
pub struct Build {
    /// Seed of every draw in the model.
    pub seed: u64,
    /// A promise of the whole device; its parts are as their files say.
    pub promise: Promise,
}

impl Build {
    /// As its file says, with this seed.
    pub fn seeded(seed: u64) -> Self {
        Self {
            seed,
            promise: Promise::AsDescribed,
        }
    }

    /// Options for building the part of that number. It gets its own seed, so that two equal disks
    /// of one array neither turn nor draw alike.
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
    /// Another device by its name, as on the command line. Reading a file puts that device here.
    Named(String),
}

impl Model {
    /// Refuses a device with parameters that are impossible or contradict each other.
    ///
    /// # Errors
    ///
    /// The parameter, its value and the values that it may have.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Self::Named(name) => Err(format!("the device `{name}` was not looked up")),
            _ => self.parameters().check(),
        }
    }

    /// The word by which a file names its kind.
    pub fn kind(&self) -> String {
        let tree = serde_json::to_value(self).expect("a model is JSON");
        let only = tree.as_object().and_then(|kinds| kinds.keys().next());
        only.expect("exactly one kind").clone()
    }

    /// Makes the running model of a device that `check` accepts.
    ///
    /// # Panics
    ///
    /// If a name was not looked up; reading a file looks all of them up.
    pub fn build(&self, build: Build) -> Box<dyn Timing> {
        let device = self.parameters().build(build);
        match build.promise {
            Promise::AsDescribed => device,
            Promise::FlushesIgnored => Box::new(Withholding::ignoring(device)),
            Promise::PowerLossProtected => Box::new(Withholding::protected(device)),
        }
    }

    /// The properties of the device under a promise.
    ///
    /// # Panics
    ///
    /// As `build`.
    pub fn properties(&self, promise: Promise) -> Properties {
        self.as_described().promised(promise)
    }

    pub(super) fn as_described(&self) -> Properties {
        self.parameters().properties()
    }

    fn parameters(&self) -> &dyn Kind {
        match self {
            Self::Null(null) => null,
            Self::Spinning(spinning) => &**spinning,
            Self::Flash(flash) => &**flash,
            Self::Cloud(cloud) => &**cloud,
            Self::Memory(memory) => memory,
            Self::Bridge(bridge) => bridge,
            Self::Cache(cache) => cache,
            Self::Named(name) => panic!("the device `{name}` was not looked up"),
        }
    }

    /// The devices that it is built of.
    pub(super) fn parts_mut(&mut self) -> Vec<&mut Self> {
        match self {
            Self::Bridge(bridge) => vec![&mut bridge.disk],
            Self::Cache(cache) => vec![&mut cache.front, &mut cache.back],
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Device, open};

    fn properties(name: &str) -> Properties {
        let device = open(name).expect(name);
        device.device.properties(Promise::AsDescribed)
    }

    #[test]
    fn a_device_with_one_arm_or_one_command_serves_one_request_at_a_time() {
        for (name, one_at_a_time) in [
            ("desktop-7200", true),
            ("wd-my-passport-ultra", true),
            ("kexin-240", true), // flash behind a bulk-only bridge
            ("samsung-970-pro", false),
            ("ebs-gp3", false),
            ("ssd-cache-over-disk", false),
        ] {
            assert_eq!(properties(name).one_at_a_time, one_at_a_time, "{name}");
        }
    }

    #[test]
    fn revolutions_are_those_of_all_parts() {
        for (name, rotational, rpm) in [
            ("desktop-7200", true, Some(7200.0)),
            ("wd-my-passport-ultra", true, Some(5400.0)), // behind a bridge
            ("ssd-cache-over-disk", false, Some(7200.0)),
            ("samsung-970-pro", false, None),
            ("ebs-gp3", false, None),
        ] {
            let properties = properties(name);
            assert_eq!(properties.rotational, rotational, "{name}");
            let turns_us: Vec<f64> = rpm.map(|rpm| 60e6 / rpm).into_iter().collect();
            assert_eq!(properties.turns_us, turns_us, "{name}");
        }
    }

    #[test]
    fn protection_saves_what_memory_would_lose() {
        let dram = open("dram").expect("memory").device;
        assert!(!dram.properties(Promise::AsDescribed).survives_without_power);
        assert!(
            dram.properties(Promise::PowerLossProtected)
                .survives_without_power
        );
    }

    #[test]
    fn a_cache_forgets_with_its_front_and_has_the_sectors_of_its_back() {
        let text = r#"
            title = "A cache in memory"
            description = "For a test."
            [device.cache]
            line_bytes = { value = 4096, source = "chosen" }
            front = { named = "dram" }
            back = { named = "desktop-7200" }
            "#;
        let device = Device::parse(text, "here").expect("a device").device;
        let properties = device.properties(Promise::AsDescribed);
        assert!(!properties.survives_without_power);
        assert_eq!(properties.sector_bytes, 4096);
    }
}
