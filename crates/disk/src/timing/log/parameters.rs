//! Parameters of a log: `[device.log]`, `[device.log.front.KIND]` (the disk that holds the log) and
//! `[device.log.back.KIND]` (the SSD).

use serde::{Deserialize, Serialize};

use super::Log;
use crate::device::{Build, Figure, Kind, Model, Promise, Properties, assumed, thousandths};
use crate::timing::Timing;

/// A disk that takes the writes of an SSD one after the other and hands them on in batches: placement (d)
/// of the thesis. A flush waits for the disk.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogParameters {
    /// Bytes of the front that are the log, from its start: 4 MiB to 64 GiB.
    pub log_bytes: Figure<u64>,
    /// Unit that is destaged and freed together: 2 MiB to half of the log.
    #[serde(default = "assumed::<_, 8_388_608>")]
    pub segment_bytes: Figure<u64>,
    /// Above this share of taken segments, they are destaged even while the device is busy.
    #[serde(default = "thousandths::<500>")]
    pub destage_above_share: Figure<f64>,
    /// Once nothing was asked for so long, everything is destaged, in milliseconds.
    #[serde(default = "assumed::<_, 1000>")]
    pub destage_after_idle_ms: Figure<f64>,
    /// The device that holds the log.
    pub front: Box<Model>,
    /// The device that receives the writes in the end; its size is that of the whole.
    pub back: Box<Model>,
}

const SMALLEST_SEGMENT: u64 = 2 << 20;
const SEGMENT_GRAIN: u64 = 4096;

impl Kind for LogParameters {
    fn check(&self) -> Result<(), String> {
        let (log, segment) = (self.log_bytes.value, self.segment_bytes.value);
        self.log_bytes.within("log.log_bytes", 4 << 20, 64 << 30)?;
        if segment < SMALLEST_SEGMENT || segment > log / 2 || !segment.is_multiple_of(SEGMENT_GRAIN)
        {
            return Err(format!(
                "log.segment_bytes is {segment}; it may be {SMALLEST_SEGMENT} to half of log_bytes, \
                 in steps of {SEGMENT_GRAIN}"
            ));
        }
        let (share, idle_ms) = (&self.destage_above_share, &self.destage_after_idle_ms);
        share.within("log.destage_above_share", 0.0, 1.0)?;
        idle_ms.within("log.destage_after_idle_ms", 0.0, 1e9)?;
        self.front
            .check()
            .map_err(|why| format!("log.front: {why}"))?;
        self.back.check().map_err(|why| format!("log.back: {why}"))
    }

    fn build(&self, build: Build) -> Box<dyn Timing> {
        Box::new(Log::new(
            self,
            self.front.build(build.part(0)),
            self.back.build(build.part(1)),
        ))
    }

    fn properties(&self) -> Properties {
        Properties {
            // Requests that go past the front must suit the back.
            sector_bytes: self.back.properties(Promise::AsDescribed).sector_bytes,
            ..Properties::of_parts([&*self.front, &*self.back])
        }
    }

    fn parts_mut(&mut self) -> Vec<&mut Model> {
        vec![&mut self.front, &mut self.back]
    }
}
