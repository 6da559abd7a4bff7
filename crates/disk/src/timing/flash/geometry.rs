//! The parameters as the model works with them: whole nanoseconds, units and blocks.

use super::parameters::{FlashParameters, FlushHabit};
use crate::request::{Nanos, SECTOR_BYTES, nanos_of_us, transfer_nanos};

/// Free blocks of a die below which it collects garbage.
pub(super) const LOW_FREE_BLOCKS: usize = 3;
/// Blocks of a die beyond its capacity and spare: two that are being filled and the free ones.
pub(super) const WORKING_BLOCKS: u32 = 2 + LOW_FREE_BLOCKS as u32;

#[derive(Clone, Debug)]
pub(super) struct Geometry {
    pub(super) capacity_bytes: u64,
    /// A unit is what the page map knows: `mapping_bytes` of the address space.
    pub(super) unit_bytes: u64,
    pub(super) units: u32,
    pub(super) units_per_page: u32,
    pub(super) units_per_block: u32,
    pub(super) pages_per_block: u32,
    pub(super) dies: u32,
    pub(super) channels: u32,
    pub(super) blocks_per_die: u32,
    /// A die that holds more gets no page of the host's: half of its spare is used up. Not all dies can
    /// be so, since together they hold no more than the address space.
    pub(super) crowded_units_per_die: u64,
    pub(super) buffer_units: u32,
    pub(super) whole_unit: u64,

    pub(super) read_ns: [Nanos; 2],
    pub(super) mean_read_ns: f64,
    pub(super) program_ns: Nanos,
    pub(super) erase_ns: Nanos,
    /// A whole page's over its channel.
    pub(super) page_ns: Nanos,
    channel_mb_per_s: f64,
    pub(super) read_overhead_ns: Nanos,
    pub(super) write_overhead_ns: Nanos,
    pub(super) linger_ns: Nanos,
    pub(super) flush_ns: Nanos,
    /// A write is answered when it is in the buffer.
    pub(super) write_back: bool,
    /// Whether the buffer survives a power cut.
    pub(super) protected: bool,
    /// A flush waits for the buffer.
    pub(super) flush_drains: bool,
}

impl Geometry {
    pub(super) fn new(parameters: &FlashParameters) -> Self {
        let unit_bytes = parameters.mapping_bytes.value;
        let share = parameters.compressed_share.value;
        let units_per_page =
            (parameters.page_bytes.value as f64 / (unit_bytes as f64 * share)).floor() as u32;
        let units_per_block = units_per_page * parameters.pages_per_block.value;
        let dies = parameters.channels.value * parameters.dies_per_channel.value;
        let units = (parameters.capacity_bytes.value / unit_bytes) as u32;
        let physical_bytes =
            parameters.capacity_bytes.value as f64 * (1.0 + parameters.over_provisioning.value);
        let block_bytes =
            parameters.page_bytes.value as f64 * f64::from(parameters.pages_per_block.value);
        let read_us = parameters.read_us.value;
        let spread_us = parameters.read_spread_us.value;
        let write_back = parameters.write_cache.value;
        let protected = parameters.power_loss_protection.value;
        let blocks_per_die =
            (physical_bytes / block_bytes / f64::from(dies)).ceil() as u32 + WORKING_BLOCKS;
        let places_per_die =
            u64::from(blocks_per_die - WORKING_BLOCKS) * u64::from(units_per_block);
        Self {
            capacity_bytes: parameters.capacity_bytes.value,
            unit_bytes,
            units,
            units_per_page,
            units_per_block,
            pages_per_block: parameters.pages_per_block.value,
            dies,
            channels: parameters.channels.value,
            blocks_per_die,
            crowded_units_per_die: u64::from(units.div_ceil(dies)).midpoint(places_per_die),
            buffer_units: (parameters.write_buffer_bytes.value / unit_bytes) as u32,
            whole_unit: u64::MAX >> (64 - unit_bytes / SECTOR_BYTES),
            read_ns: [
                nanos_of_us(read_us - spread_us),
                nanos_of_us(read_us + spread_us),
            ],
            mean_read_ns: read_us * 1e3,
            program_ns: nanos_of_us(parameters.program_us.value),
            erase_ns: nanos_of_us(parameters.erase_us.value),
            page_ns: transfer_nanos(
                parameters.page_bytes.value,
                parameters.channel_mb_per_s.value,
            ),
            channel_mb_per_s: parameters.channel_mb_per_s.value / share,
            read_overhead_ns: nanos_of_us(parameters.read_overhead_us.value),
            write_overhead_ns: nanos_of_us(parameters.write_overhead_us.value),
            linger_ns: nanos_of_us(parameters.linger_ms.value * 1e3),
            flush_ns: if write_back {
                nanos_of_us(parameters.flush_us.value)
            } else {
                0
            },
            write_back,
            protected,
            flush_drains: write_back && !protected && parameters.flush.value == FlushHabit::Honest,
        }
    }

    /// Time for which a channel carries that many bytes of the host, which it carries compressed.
    pub(super) fn channel_ns(&self, host_bytes: u64) -> Nanos {
        transfer_nanos(host_bytes, self.channel_mb_per_s)
    }

    /// The units that a request touches.
    pub(super) fn units_of(&self, offset_bytes: u64, end_bytes: u64) -> std::ops::Range<u32> {
        if offset_bytes == end_bytes {
            return 0..0;
        }
        let first = offset_bytes / self.unit_bytes;
        let last = (end_bytes - 1) / self.unit_bytes;
        first as u32..last as u32 + 1
    }

    /// Bytes of the units that lie within the bytes of a request.
    pub(super) fn overlap_bytes(
        &self,
        units: &std::ops::Range<u32>,
        offset_bytes: u64,
        end_bytes: u64,
    ) -> u64 {
        let from = (u64::from(units.start) * self.unit_bytes).max(offset_bytes);
        let to = (u64::from(units.end) * self.unit_bytes).min(end_bytes);
        to.saturating_sub(from)
    }

    /// Which sectors of a unit lie within the bytes of a request.
    pub(super) fn sectors_of(&self, unit: u32, offset_bytes: u64, end_bytes: u64) -> u64 {
        let start = u64::from(unit) * self.unit_bytes;
        let first = offset_bytes.saturating_sub(start) / SECTOR_BYTES;
        let end = (end_bytes - start)
            .min(self.unit_bytes)
            .div_ceil(SECTOR_BYTES);
        (self.whole_unit >> (self.unit_bytes / SECTOR_BYTES - end)) & (self.whole_unit << first)
    }
}
