//! Parameters of a bridge: `[device.bridge]`, and the disk in `[device.bridge.disk.KIND]`.

use serde::{Deserialize, Serialize};

use super::Bridge;
use crate::device::{Build, Figure, Kind, Model, Promise, Properties, assumed};
use crate::timing::Timing;

/// A USB bridge and the disk behind it. *Bulk-only* has one command under way at a time; *UAS* has a queue.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BridgeParameters {
    pub protocol: Figure<BridgeProtocol>,
    /// Commands under way at a time with UAS; bulk-only has one.
    #[serde(default = "assumed::<_, 30>")]
    pub queue_depth: Figure<u32>,
    /// Time of each command beyond the disk's own time and the transfer of its bytes, in
    /// microseconds.
    pub command_us: Figure<f64>,
    /// 10^6 bytes a second that cross the bus, after its encoding and framing.
    pub bus_mb_per_s: Figure<f64>,
    /// What the bridge does with a flush.
    #[serde(default = "passed")]
    pub flush: Figure<FlushHandling>,
    /// The disk behind.
    pub disk: Box<Model>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BridgeProtocol {
    /// One command at a time.
    BulkOnly,
    /// USB Attached SCSI: a queue of commands.
    Uas,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlushHandling {
    /// Passes it to the disk.
    Passed,
    /// Answered without the disk: what was written is not safe for it.
    Dropped,
}

fn passed() -> Figure<FlushHandling> {
    Figure::assumed(FlushHandling::Passed)
}

impl Kind for BridgeParameters {
    fn check(&self) -> Result<(), String> {
        self.command_us.within("bridge.command_us", 0.0, 1e6)?;
        self.bus_mb_per_s.within("bridge.bus_mb_per_s", 0.01, 1e6)?;
        self.queue_depth.within("bridge.queue_depth", 1, 65_536)?;
        self.disk
            .check()
            .map_err(|why| format!("bridge.disk: {why}"))
    }

    fn build(&self, build: Build) -> Box<dyn Timing> {
        Box::new(Bridge::new(self, self.disk.build(build.part(0))))
    }

    fn properties(&self) -> Properties {
        let disk = self.disk.properties(Promise::AsDescribed);
        Properties {
            one_at_a_time: disk.one_at_a_time || self.protocol.value == BridgeProtocol::BulkOnly,
            ..Properties::of_parts([&*self.disk])
        }
    }

    fn parts_mut(&mut self) -> Vec<&mut Model> {
        vec![&mut self.disk]
    }
}
