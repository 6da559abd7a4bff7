//! Parameters of a bridge: `[device.bridge]`, and the disk in `[device.bridge.disk.KIND]`.

use serde::{Deserialize, Serialize};

use super::Bridge;
use crate::device::{Build, Figure, Kind, Model, Number, Properties};
use crate::timing::Timing;

/// A USB bridge and the disk behind it, with one command under way at a time.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BridgeParameters {
    /// Time of each command beyond the disk's own time and the transfer of its bytes.
    pub command_us: Figure<f64>,
    /// Bytes that cross the bus, after its encoding and framing.
    pub bus_mb_per_s: Figure<f64>,
    /// The disk behind.
    pub disk: Box<Model>,
}

impl Kind for BridgeParameters {
    fn check(&self) -> Result<(), String> {
        self.command_us.within("bridge.command_us", 0.0, 1e6)?;
        self.bus_mb_per_s.within("bridge.bus_mb_per_s", 0.01, 1e6)?;
        self.disk
            .check()
            .map_err(|why| format!("bridge.disk: {why}"))
    }

    fn build(&self, build: Build) -> Box<dyn Timing> {
        Box::new(Bridge::new(self, self.disk.build(build.part(0))))
    }

    fn properties(&self) -> Properties {
        Properties {
            one_at_a_time: true,
            ..Properties::of_parts([&*self.disk])
        }
    }
}
