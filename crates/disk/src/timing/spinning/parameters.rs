//! The parameters of a spinning disk, as a device file gives them.

use serde::{Deserialize, Serialize};

use super::Spinning;
use super::seek::Seek;
use crate::device::{
    Build, Figure, Kind, Properties, assumed, check_capacity, switched, thousandths, within,
};
use crate::request::NANOS_PER_S;
use crate::timing::Timing;

/// More commands than this would make every choice of the next one slow; no disk is known to hold more.
const MOST_COMMANDS: u32 = 1024;

/// A disk with an arm over platters. Times are those of data sheets.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpinningParameters {
    pub capacity_bytes: Figure<u64>,
    /// Physical sector. A write that covers one in part costs another revolution: read, then write.
    #[serde(default = "assumed::<_, 512>")]
    pub sector_bytes: Figure<u64>,
    pub rpm: Figure<u32>,
    /// Seek of a read to the next track.
    pub track_to_track_seek_us: Figure<f64>,
    /// Seek of a read, the mean over pairs of random radii.
    pub average_seek_us: Figure<f64>,
    /// Seek of a read from edge to edge.
    pub full_stroke_seek_us: Figure<f64>,
    /// Additional time of a write's seek compared with a read's.
    pub write_settle_us: Figure<f64>,
    /// Sustained rate at the first address; track and head switches included.
    pub outer_mb_per_s: Figure<f64>,
    /// The same at the last address.
    pub inner_mb_per_s: Figure<f64>,
    /// From the arrival of a command to the beginning of its seek or its transfer; one command at a
    /// time.
    pub command_overhead_us: Figure<f64>,
    pub interface_mb_per_s: Figure<f64>,
    /// Commands that the disk knows of at a time; the rest wait in the order of their arrival.
    #[serde(default = "assumed::<_, 32>")]
    pub queue_depth: Figure<u32>,
    /// Weight of waiting against positioning: a command that has waited 1 ms longer is preferred to
    /// one whose positioning is this much of a millisecond shorter.
    #[serde(default = "thousandths::<5>")]
    pub ageing: Figure<f64>,
    /// All of the cache: read segments and cached writes.
    pub cache_bytes: Figure<u64>,
    /// Streams that the cache follows at a time. They share the part of the cache that is not
    /// `write_cache_bytes`; the size of such a segment is also how far the disk reads ahead.
    #[serde(default = "assumed::<_, 16>")]
    pub read_segments: Figure<u32>,
    /// Whether a write is answered when it is in the cache (true) or on the platter (false).
    #[serde(default = "switched::<true>")]
    pub write_cache: Figure<bool>,
    /// Bytes that may be cached and not yet on the platter.
    pub write_cache_bytes: Figure<u64>,
    /// Cached writes at a time, whatever their size.
    #[serde(default = "assumed::<_, 64>")]
    pub write_cache_commands: Figure<u32>,
    /// Share of the write cache above which it is written back whenever no read waits.
    #[serde(default = "thousandths::<500>")]
    pub write_back_share: Figure<f64>,
    /// Without a command for so long, the disk writes back.
    #[serde(default = "assumed::<_, 20_000>")]
    pub write_back_idle_us: Figure<f64>,
    /// A cached write that is older competes with the reads.
    #[serde(default = "assumed::<_, 1_000_000>")]
    pub write_back_oldest_us: Figure<f64>,
}

impl Kind for SpinningParameters {
    fn check(&self) -> Result<(), String> {
        self.check_ranges()?;
        self.check_geometry()?;
        self.check_cache()
    }

    fn build(&self, build: Build) -> Box<dyn Timing> {
        Box::new(Spinning::new(self, build.seed))
    }

    fn properties(&self) -> Properties {
        Properties {
            sector_bytes: self.sector_bytes.value,
            one_at_a_time: true,
            rotational: true,
            turns_us: vec![60e6 / f64::from(self.rpm.value)],
            ..Properties::solid_state()
        }
    }
}

impl SpinningParameters {
    fn check_ranges(&self) -> Result<(), String> {
        within!(self;
            60, 100_000 => rpm; 1, MOST_COMMANDS => queue_depth, write_cache_commands; 1, 1024 => read_segments;
            0.000_1, 10.0 => ageing; 0.0, 1.0 => write_back_share;
            0.0, 1e9 => track_to_track_seek_us, average_seek_us, full_stroke_seek_us, write_settle_us,
                command_overhead_us, write_back_idle_us, write_back_oldest_us;
            0.001, 1e6 => outer_mb_per_s, inner_mb_per_s, interface_mb_per_s);
        Ok(())
    }

    fn check_geometry(&self) -> Result<(), String> {
        let sector_bytes = self.sector_bytes.value;
        if !sector_bytes.is_power_of_two() || !(512..=65_536).contains(&sector_bytes) {
            return Err(format!(
                "sector_bytes is {sector_bytes}; it may be 512, 1024, … 65536 (disks have 512 or 4096)"
            ));
        }
        let capacity_bytes = self.capacity_bytes.value;
        check_capacity(capacity_bytes, sector_bytes)?;
        let (outer, inner) = (self.outer_mb_per_s.value, self.inner_mb_per_s.value);
        let interface = self.interface_mb_per_s.value;
        if interface < outer {
            return Err(format!(
                "interface_mb_per_s is {interface}, less than outer_mb_per_s ({outer}); \
                 describe a slow bus before a disk as `[device.bridge]`"
            ));
        }
        if inner > outer {
            return Err(format!(
                "inner_mb_per_s is {inner}, more than outer_mb_per_s ({outer}); \
                 outer tracks are longer, so they cannot be slower"
            ));
        }
        let track_bytes = outer * 1e6 * 60.0 / f64::from(self.rpm.value);
        if (capacity_bytes as f64) < 4.0 * track_bytes {
            return Err(format!(
                "capacity_bytes is {capacity_bytes}, less than four tracks: at {outer} MB/s and {} rpm \
                 an outer track holds {track_bytes:.0} bytes",
                self.rpm.value
            ));
        }
        Seek::new(self).map(|_| ())
    }

    fn check_cache(&self) -> Result<(), String> {
        let (cache_bytes, write_bytes) = (self.cache_bytes.value, self.write_cache_bytes.value);
        if write_bytes > cache_bytes {
            return Err(format!(
                "write_cache_bytes is {write_bytes}, more than all of the cache (cache_bytes is {cache_bytes})"
            ));
        }
        if self.write_cache.value && write_bytes < self.sector_bytes.value {
            return Err(format!(
                "write_cache_bytes is {write_bytes}, less than a sector; \
                 a disk without a write cache has `write_cache = {{ value = false, … }}`"
            ));
        }
        Ok(())
    }

    /// Bytes of a read segment, and how far the disk reads ahead.
    pub(super) fn segment_bytes(&self) -> u64 {
        (self.cache_bytes.value - self.write_cache_bytes.value)
            / u64::from(self.read_segments.value)
    }

    pub(super) fn revolution_ns(&self) -> f64 {
        60.0 * NANOS_PER_S as f64 / f64::from(self.rpm.value)
    }
}
