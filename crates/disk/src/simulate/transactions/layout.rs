//! Where on the disk things lie: data first, then logs and the doublewrite, and the journal half-way.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::load::Load;
use crate::request::Request;

/// Offsets and lengths are whole multiples: every device's sectors divide it.
const BLOCK: u64 = 4096;
/// A request is at most so long, as the kernel sends it.
const LONGEST: u64 = 1 << 20;
/// The least disk that has room for all of it.
pub(super) const LEAST_BYTES: u64 = 64 << 20;

/// A part of the disk that is written from its start to its end, and then again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ring {
    start: u64,
    bytes: u64,
    /// Bytes that were written in all.
    at: u64,
}

#[derive(Debug)]
pub(super) struct Layout {
    pages: u64,
    page_blocks: u64,
    pub(super) logs: Vec<Ring>,
    pub(super) journal: Ring,
    pub(super) doublewrite: Ring,
}

impl Layout {
    pub(super) fn new(load: &Load, capacity_bytes: u64) -> Self {
        let disk = load.disk_bytes.clamp(LEAST_BYTES, capacity_bytes) / BLOCK * BLOCK;
        let page_blocks = load.read_bytes.max(load.page_bytes).div_ceil(BLOCK);
        let data = load.data_bytes.clamp(page_blocks * BLOCK, disk / 2);
        let data = data.div_ceil(BLOCK) * BLOCK;
        let area = ((disk - data) / (load.logs.len() as u64 + 4) / BLOCK * BLOCK).min(128 << 20);
        let ring = |place: u64| Ring {
            start: data + place * area,
            bytes: area,
            at: 0,
        };
        let half = disk / 2 / BLOCK * BLOCK;
        let count = load.logs.len() as u64;
        Self {
            pages: (data / (page_blocks * BLOCK)).max(1),
            page_blocks,
            logs: (0..count).map(|place| ring(place + 1)).collect(),
            // Behind everything else, if that reaches so far.
            journal: Ring {
                start: half.max(data + (count + 1) * area).min(disk - area),
                bytes: area,
                at: 0,
            },
            doublewrite: ring(0),
        }
    }

    pub(super) fn read(&self, random: &mut Xoshiro256PlusPlus, bytes: u64) -> Request {
        Request::read(self.page(random), bytes.div_ceil(BLOCK) * BLOCK)
    }

    pub(super) fn write_page(&self, random: &mut Xoshiro256PlusPlus, bytes: u64) -> Request {
        Request::write(self.page(random), bytes.div_ceil(BLOCK) * BLOCK)
    }

    fn page(&self, random: &mut Xoshiro256PlusPlus) -> u64 {
        random.random_range(0..self.pages) * self.page_blocks * BLOCK
    }
}

impl Ring {
    /// The blocks that hold these bytes: the last one is written again with what follows.
    pub(super) fn append(&mut self, bytes: u64) -> Vec<Request> {
        let bytes = bytes.clamp(1, self.bytes / 2);
        let mut first = self.at / BLOCK * BLOCK % self.bytes;
        let mut length = (self.at % BLOCK + bytes).div_ceil(BLOCK) * BLOCK;
        if first + length > self.bytes {
            (first, length, self.at) = (0, bytes.div_ceil(BLOCK) * BLOCK, 0);
        }
        self.at += bytes;
        (0..length.div_ceil(LONGEST))
            .map(|part| {
                let from = part * LONGEST;
                Request::write(self.start + first + from, LONGEST.min(length - from))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_begins_at_a_block() {
        let load: Load = serde_json::from_value(serde_json::json!({
            "clients": 1, "cores": 1, "cpu_us": 1.0, "data_bytes": 40_000_001, "disk_bytes": 999_999_999,
            "warm_up_s": 0.0, "measure_s": 1.0, "logs": [{"bytes": 1}, {"bytes": 2}],
        }))
        .expect("the fields are those of a load");
        let mut layout = Layout::new(&load, 1 << 40);
        let mut requests = layout.logs[1].append(5000);
        requests.extend(layout.logs[0].append(3));
        requests.extend(layout.journal.append(4096));
        requests.extend(layout.doublewrite.append(100_000));
        for request in requests {
            assert_eq!(request.offset_bytes % BLOCK, 0);
            assert_eq!(request.length_bytes % BLOCK, 0);
            assert!(request.end_bytes() <= 999_999_999);
        }
    }

    #[test]
    fn a_log_writes_its_last_block_again_and_begins_anew_at_its_end() {
        let mut ring = Ring {
            start: 1 << 20,
            bytes: 16 * BLOCK,
            at: 0,
        };
        assert_eq!(ring.append(100), [Request::write(1 << 20, BLOCK)]);
        assert_eq!(ring.append(BLOCK), [Request::write(1 << 20, 2 * BLOCK)]);
        for _ in 0..100 {
            for request in ring.append(3 * BLOCK + 7) {
                assert!(request.offset_bytes >= 1 << 20);
                assert!(request.end_bytes() <= (1 << 20) + 16 * BLOCK);
            }
        }
    }
}
