//! Parameters of a cache: `[device.cache]`, `[device.cache.front.KIND]` and
//! `[device.cache.back.KIND]`.

use serde::{Deserialize, Serialize};

use super::Cache;
use super::lines::BLOCK_BYTES;
use crate::device::{
    Build, Figure, Kind, Model, Number, Promise, Properties, assumed, switched, thousandths,
};
use crate::timing::Timing;

/// A device that caches another: the SSD in front of a disk, or a disk that takes the writes of an
/// SSD. A flush flushes the front, whose journal records what is newer there.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheParameters {
    /// Unit of caching and eviction: a power of two from 4 KiB to 256 KiB. A line holds those of
    /// its 4 KiB blocks that were read or written.
    pub line_bytes: Figure<u64>,
    /// Only writes are cached: what is read stays where it is, and a line that was written back is free
    /// again.
    #[serde(default = "switched::<false>")]
    pub writes_only: Figure<bool>,
    /// A sequential stream goes past the cache once it is so long; 0 caches everything.
    #[serde(default = "assumed::<_, 0>")]
    pub sequential_bypass_bytes: Figure<u64>,
    /// Above this share of dirty lines, they are written back even while the device is busy.
    #[serde(default = "thousandths::<100>")]
    pub destage_above_share: Figure<f64>,
    /// Above this share of dirty lines, writes go past the cache.
    #[serde(default = "thousandths::<700>")]
    pub bypass_above_share: Figure<f64>,
    /// Once nothing was asked for so long, dirty lines are written back.
    #[serde(default = "assumed::<_, 100>")]
    pub destage_after_idle_ms: Figure<f64>,
    /// The device that holds the lines; its size is the cache's.
    pub front: Box<Model>,
    /// The device that is cached; its size is the whole's.
    pub back: Box<Model>,
}

const LARGEST_LINE_BYTES: u64 = 64 * BLOCK_BYTES;

impl Kind for CacheParameters {
    fn check(&self) -> Result<(), String> {
        let line_bytes = self.line_bytes.value;
        if !line_bytes.is_power_of_two()
            || !(BLOCK_BYTES..=LARGEST_LINE_BYTES).contains(&line_bytes)
        {
            return Err(format!(
                "cache.line_bytes is {line_bytes}; it may be a power of two from {BLOCK_BYTES} to \
                 {LARGEST_LINE_BYTES}"
            ));
        }
        let (start, limit) = (
            self.destage_above_share.value,
            self.bypass_above_share.value,
        );
        if !(0.0 <= start && start <= limit && limit <= 1.0) {
            return Err(format!(
                "cache.destage_above_share is {start} and bypass_above_share {limit}; they may be 0 \
                 to 1, and the first no larger than the second"
            ));
        }
        let idle_ms = &self.destage_after_idle_ms;
        idle_ms.within("cache.destage_after_idle_ms", 0.0, 1e9)?;
        self.front
            .check()
            .map_err(|why| format!("cache.front: {why}"))?;
        self.back
            .check()
            .map_err(|why| format!("cache.back: {why}"))
    }

    fn build(&self, build: Build) -> Box<dyn Timing> {
        Box::new(Cache::new(
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
}
