//! What a device file says of a bridge: `[device.bridge]`, and the disk in `[device.bridge.disk.KIND]`.

use serde::{Deserialize, Serialize};

use crate::device::{Figure, Model};

/// A bridge between a bus and a disk.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BridgeParameters {
    pub protocol: Figure<BridgeProtocol>,
    /// Commands under way at a time with UAS; bulk-only has one.
    #[serde(default = "uas_queue_depth")]
    pub queue_depth: Figure<u32>,
    /// What each command costs beyond the disk's own time and its bytes on the bus, in microseconds.
    pub command_us: Figure<f64>,
    /// 10^6 bytes a second that cross the bus, after its encoding and framing.
    pub bus_mb_per_s: Figure<f64>,
    /// What becomes of a flush.
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
    /// To the disk, which does with it what it does.
    Passed,
    /// Answered without the disk: what was written is not safe for it.
    Dropped,
}

fn uas_queue_depth() -> Figure<u32> {
    Figure::assumed(30)
}

fn passed() -> Figure<FlushHandling> {
    Figure::assumed(FlushHandling::Passed)
}

const DEPTHS: std::ops::RangeInclusive<u32> = 1..=65_536;

impl BridgeParameters {
    /// # Errors
    ///
    /// The parameter, its value and what it may be.
    pub fn check(&self) -> Result<(), String> {
        let (command_us, rate) = (self.command_us.value, self.bus_mb_per_s.value);
        if !(0.0..=1e6).contains(&command_us) {
            return Err(format!(
                "bridge.command_us is {command_us}; it may be 0 to a million"
            ));
        }
        if !(0.01..=1e6).contains(&rate) {
            return Err(format!(
                "bridge.bus_mb_per_s is {rate}; it may be 0.01 to a million"
            ));
        }
        if !DEPTHS.contains(&self.queue_depth.value) {
            return Err(format!(
                "bridge.queue_depth is {}; it may be {} to {}",
                self.queue_depth.value,
                DEPTHS.start(),
                DEPTHS.end()
            ));
        }
        self.disk
            .check()
            .map_err(|why| format!("bridge.disk: {why}"))
    }
}
