//! What a device file says of a log: `[device.log]`, `[device.log.front.KIND]` (the disk that holds the
//! log) and `[device.log.back.KIND]` (the SSD).

use serde::{Deserialize, Serialize};

use crate::device::{Figure, Model};

/// A device that takes the writes of another, one after the other.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogParameters {
    /// How much of the front is the log, from its start: 4 MiB to 64 GiB.
    pub log_bytes: Figure<u64>,
    /// What is destaged and made free together: 2 MiB to half of the log.
    #[serde(default = "segment_bytes")]
    pub segment_bytes: Figure<u64>,
    /// From this share of taken segments on, they are destaged even while the device is busy.
    #[serde(default = "start_share")]
    pub destage_above_share: Figure<f64>,
    /// Once nothing was asked for so long, everything is destaged, in milliseconds.
    #[serde(default = "idle_ms")]
    pub destage_after_idle_ms: Figure<f64>,
    /// The device that holds the log.
    pub front: Box<Model>,
    /// The device whose writes it takes; its size is the whole's.
    pub back: Box<Model>,
}

fn segment_bytes() -> Figure<u64> {
    Figure::assumed(8 << 20)
}

fn start_share() -> Figure<f64> {
    Figure::assumed(0.5)
}

fn idle_ms() -> Figure<f64> {
    Figure::assumed(1000.0)
}

const LOGS: std::ops::RangeInclusive<u64> = 4 << 20..=64 << 30;
const SMALLEST_SEGMENT: u64 = 2 << 20;
const SEGMENT_GRAIN: u64 = 4096;

impl LogParameters {
    /// # Errors
    ///
    /// The parameter, its value and what it may be.
    pub fn check(&self) -> Result<(), String> {
        let (log, segment) = (self.log_bytes.value, self.segment_bytes.value);
        if !LOGS.contains(&log) {
            return Err(format!(
                "log.log_bytes is {log}; it may be {} to {}",
                LOGS.start(),
                LOGS.end()
            ));
        }
        if segment < SMALLEST_SEGMENT || segment > log / 2 || !segment.is_multiple_of(SEGMENT_GRAIN)
        {
            return Err(format!(
                "log.segment_bytes is {segment}; it may be {SMALLEST_SEGMENT} to half of log_bytes, \
                 in steps of {SEGMENT_GRAIN}"
            ));
        }
        let share = self.destage_above_share.value;
        if !(0.0..=1.0).contains(&share) {
            return Err(format!(
                "log.destage_above_share is {share}; it may be 0 to 1"
            ));
        }
        let idle_ms = self.destage_after_idle_ms.value;
        if !(0.0..=1e9).contains(&idle_ms) {
            return Err(format!(
                "log.destage_after_idle_ms is {idle_ms}; it may be 0 to 1e9"
            ));
        }
        self.front
            .check()
            .map_err(|why| format!("log.front: {why}"))?;
        self.back.check().map_err(|why| format!("log.back: {why}"))
    }
}
