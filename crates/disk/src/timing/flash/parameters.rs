//! Parameters of a flash drive.

use serde::{Deserialize, Serialize};

use super::Flash;
use crate::device::{Build, Figure, Kind, Properties, assumed, check_capacity, switched, within};
use crate::request::SECTOR_BYTES;
use crate::timing::Timing;

/// What the drive does with a flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FlushHabit {
    /// Programs what is in the volatile buffer, then answers.
    Honest,
    /// Answers after the fixed cost and does nothing: 13 of the 15 drives that Zheng et al. cut the
    /// power of misbehaved in some way (FAST '13).
    Ignored,
}

/// The history of the drive before it was switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preconditioning {
    /// Its data were written once, from the first address on; all other blocks are erased.
    Sequential,
    /// Its data were overwritten at random until garbage collection went steadily.
    Random,
}

/// A flash drive: channels and dies behind a page map.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlashParameters {
    pub capacity_bytes: Figure<u64>,
    pub channels: Figure<u32>,
    /// A unit that works on its own: a plane pair programmed in one go counts as one page of both.
    pub dies_per_channel: Figure<u32>,
    /// Programmed in one go, on all planes of a die together.
    pub page_bytes: Figure<u64>,
    pub pages_per_block: Figure<u32>,
    /// The smallest piece that the page map knows.
    #[serde(default = "assumed::<_, 4096>")]
    pub mapping_bytes: Figure<u64>,

    /// tR, from the cells to the die's register, however much of the page is wanted.
    pub read_us: Figure<f64>,
    /// Half of the pages take this much less, the other half this much more.
    #[serde(default = "assumed::<_, 0>")]
    pub read_spread_us: Figure<f64>,
    /// tPROG, of a whole page.
    pub program_us: Figure<f64>,
    /// tBERS, of a whole block.
    pub erase_us: Figure<f64>,
    pub channel_mb_per_s: Figure<f64>,

    pub interface_mb_per_s: Figure<f64>,
    /// Whether reads and writes pass one another on the interface, as on PCI Express.
    #[serde(default = "switched::<false>")]
    pub full_duplex: Figure<bool>,
    /// Commands that the drive takes at a time; the others wait outside.
    pub queue_depth: Figure<u32>,
    /// Time of the controller for a read; no other command can use it meanwhile. So there are at
    /// most 1 / this reads a second.
    pub read_command_us: Figure<f64>,
    /// The same of a write, a flush or a discard.
    pub write_command_us: Figure<f64>,
    /// From when the controller takes a read to when it reaches its first die.
    pub read_overhead_us: Figure<f64>,
    /// From when the controller takes a write (or a flush, or a discard) to its first byte on the
    /// interface.
    pub write_overhead_us: Figure<f64>,

    pub write_buffer_bytes: Figure<u64>,
    /// Off: a write is answered when it is programmed.
    #[serde(default = "switched::<true>")]
    pub write_cache: Figure<bool>,
    /// How long less than a page waits for more data before it is programmed.
    #[serde(default = "assumed::<_, 10>")]
    pub linger_ms: Figure<f64>,
    /// Time of a flush after the buffer is drained; flushes follow one another. Without a write
    /// cache a flush only takes its command's time.
    pub flush_us: Figure<f64>,
    pub flush: Figure<FlushHabit>,
    /// Whether a flush is a command among others (as over `NVMe`). Otherwise it waits until no
    /// other command is in progress and keeps all others out until it is answered, as on SATA.
    pub flush_queued: Figure<bool>,
    /// Whether the buffer survives a power cut: an answered write is then stable, and a flush has
    /// nothing to drain.
    pub power_loss_protection: Figure<bool>,

    /// Spare flash as a share of the capacity.
    pub over_provisioning: Figure<f64>,
    /// The share of the capacity that held data when the drive was switched on.
    pub filled: Figure<f64>,
    pub preconditioning: Figure<Preconditioning>,
    /// Size of a byte after the controller's compression (as `SandForce`'s does); 1 without
    /// compression.
    #[serde(default = "assumed::<_, 1>")]
    pub compressed_share: Figure<f64>,
}

/// Sectors of a unit are told apart in a 64-bit mask.
const LARGEST_MAPPING_BYTES: u64 = 64 * SECTOR_BYTES;
/// Locations are 31 bits wide.
const MOST_UNITS: f64 = 2_147_483_647.0;
/// Garbage collection needs blocks to choose from.
const FEWEST_BLOCKS_PER_DIE: u64 = 8;

impl Kind for FlashParameters {
    fn check(&self) -> Result<(), String> {
        self.check_ranges()?;
        self.check_sizes()
    }

    fn build(&self, build: Build) -> Box<dyn Timing> {
        Box::new(Flash::new(self, build.seed))
    }

    fn properties(&self) -> Properties {
        Properties {
            fua: true,
            ..Properties::solid_state()
        }
    }
}

impl FlashParameters {
    fn check_ranges(&self) -> Result<(), String> {
        within!(self;
            0.0, 1e7 => read_us, program_us, erase_us, read_spread_us, read_command_us, write_command_us,
                read_overhead_us, write_overhead_us, flush_us, linger_ms;
            1.0, 1e6 => channel_mb_per_s, interface_mb_per_s; 0.01, 10.0 => over_provisioning;
            0.0, 1.0 => filled; 0.05, 1.0 => compressed_share; 1, 256 => channels, dies_per_channel;
            1, 65_536 => pages_per_block, queue_depth);
        if self.read_spread_us.value > self.read_us.value {
            return Err(format!(
                "read_spread_us is {}; it may be at most read_us ({})",
                self.read_spread_us.value, self.read_us.value
            ));
        }
        Ok(())
    }

    fn check_sizes(&self) -> Result<(), String> {
        let mapping = self.mapping_bytes.value;
        if !mapping.is_power_of_two() || !(SECTOR_BYTES..=LARGEST_MAPPING_BYTES).contains(&mapping)
        {
            return Err(format!(
                "mapping_bytes is {mapping}; it must be a power of two from {SECTOR_BYTES} to {LARGEST_MAPPING_BYTES}"
            ));
        }
        let page = self.page_bytes.value;
        if !page.is_multiple_of(mapping) || page == 0 || page > 1 << 24 {
            return Err(format!(
                "page_bytes is {page}; it must be a multiple of mapping_bytes ({mapping}), 16 MiB at most"
            ));
        }
        let buffer = self.write_buffer_bytes.value;
        let least = page as f64 / self.compressed_share.value;
        if (buffer as f64) < least || buffer > 1 << 34 {
            return Err(format!(
                "write_buffer_bytes is {buffer}; it must hold at least a compressed page ({least:.0}), and at most \
                 16 GiB"
            ));
        }
        let capacity = self.capacity_bytes.value;
        check_capacity(capacity, mapping)?;
        let dies = u64::from(self.channels.value) * u64::from(self.dies_per_channel.value);
        let row = dies * page * u64::from(self.pages_per_block.value);
        if (capacity as f64 * self.compressed_share.value) < (row * FEWEST_BLOCKS_PER_DIE) as f64 {
            return Err(format!(
                "capacity_bytes is {capacity}, less than {FEWEST_BLOCKS_PER_DIE} blocks for each of the {dies} dies \
                 ({row} bytes for one block of each); use fewer dies or smaller blocks"
            ));
        }
        let units = capacity as f64 / mapping as f64 * (1.0 + self.over_provisioning.value)
            + (row * FEWEST_BLOCKS_PER_DIE) as f64 / mapping as f64;
        if units > MOST_UNITS {
            return Err(format!(
                "capacity_bytes is {capacity}, more than the map holds in pieces of mapping_bytes ({mapping}); \
                 raise mapping_bytes"
            ));
        }
        Ok(())
    }
}
