//! Requests to a disk.

use serde::{Deserialize, Serialize};

/// Nanoseconds since the disk was switched on. Virtual in a simulation, the clock's when served.
pub type Nanos = u64;

pub const NANOS_PER_US: u64 = 1_000;
pub const NANOS_PER_MS: u64 = 1_000_000;
pub const NANOS_PER_S: u64 = 1_000_000_000;

/// What every offset and length is a multiple of.
pub const SECTOR_BYTES: u64 = 512;

/// A device file's microseconds, which are not negative.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn nanos_of_us(us: f64) -> Nanos {
    (us * NANOS_PER_US as f64).round() as Nanos
}

pub fn us_of_nanos(nanos: Nanos) -> f64 {
    nanos as f64 / 1e3
}

/// The time of some bytes at a rate of 10^6 bytes a second, which is above 0.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn transfer_nanos(bytes: u64, mb_per_s: f64) -> Nanos {
    (bytes as f64 * 1e3 / mb_per_s).round() as Nanos
}

/// A request's own number, given by the caller and never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tag(pub u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Read,
    Write,
    /// Everything answered before it was submitted is stable when it is answered, on an honest disk.
    Flush,
    /// The bytes are no longer wanted; they read as zeroes.
    Discard,
}

/// One request. Offsets and lengths are whole sectors within the disk, which the server has checked;
/// a flush has neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub kind: Kind,
    pub offset_bytes: u64,
    pub length_bytes: u64,
}

impl Request {
    pub fn new(kind: Kind, offset_bytes: u64, length_bytes: u64) -> Self {
        Self {
            kind,
            offset_bytes,
            length_bytes,
        }
    }

    pub fn read(offset_bytes: u64, length_bytes: u64) -> Self {
        Self::new(Kind::Read, offset_bytes, length_bytes)
    }

    pub fn write(offset_bytes: u64, length_bytes: u64) -> Self {
        Self::new(Kind::Write, offset_bytes, length_bytes)
    }

    pub fn flush() -> Self {
        Self::new(Kind::Flush, 0, 0)
    }

    pub fn discard(offset_bytes: u64, length_bytes: u64) -> Self {
        Self::new(Kind::Discard, offset_bytes, length_bytes)
    }

    /// The first byte after it.
    pub fn end_bytes(&self) -> u64 {
        self.offset_bytes + self.length_bytes
    }
}
