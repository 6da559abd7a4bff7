//! The log of requests: the calls of an account, in order, so that the result of a cut can be
//! reproduced.
//!
//! A log is lines of JSON: a header, then one record each; the line of a write is followed by its bytes.
//! It begins with a disk's bytes as they are and ends with the cut. docs/disk.md describes it.

mod reader;
mod replay;
#[cfg(test)]
mod tests;
mod writer;

use serde::{Deserialize, Serialize};

pub use reader::Reader;
pub use replay::{Replayed, replay};
pub use writer::{Finished, Writer};

use super::{Medium, Survivors, Ticket};
use crate::request::{Kind, Nanos};
use crate::volatile::Choice;

/// Identifies a file as a log.
const FORMAT: &str = "diskproof-disk requests";
const VERSION: u32 = 1;

/// The first line of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    log: String,
    version: u32,
    pub device: String,
    pub medium: Medium,
    /// Whether the disk was empty when the log began.
    pub empty: bool,
    /// When it began, on the monotonic clock, as all moments.
    pub at_ns: Nanos,
}

impl Header {
    pub fn new(device: &str, medium: Medium, empty: bool, at_ns: Nanos) -> Self {
        Self {
            log: FORMAT.to_owned(),
            version: VERSION,
            device: device.to_owned(),
            medium,
            empty,
            at_ns,
        }
    }
}

/// A request, and its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Record {
    /// Its bytes follow the line: whole sectors, as they are with it.
    Write(Asked),
    Discard(Asked),
    Read(Asked),
    Flush(Asked),
    /// The moment is the model's.
    Answered(Told),
    Stable(Told),
    /// It was answered with an error, and has changed nothing.
    Failed {
        request: Kind,
        #[serde(flatten)]
        asked: Asked,
    },
    /// A flush that took no time made everything stable.
    Settled {
        at_ns: Nanos,
    },
    Cut {
        at_ns: Nanos,
        #[serde(deserialize_with = "choice")]
        choice: Choice,
        survivors: Survivors,
    },
    /// The last line: how many records there are before it, and SHA-256 of all that precedes it.
    End {
        records: u64,
        digest: String,
    },
}

/// Older logs say, too, whether a sector could become unreadable.
fn choice<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Choice, D::Error> {
    let mut logged = serde_json::Map::<String, serde_json::Value>::deserialize(from)?;
    logged.remove("unreadable");
    serde_json::from_value(logged.into()).map_err(serde::de::Error::custom)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    pub number: u64,
    pub offset_bytes: u64,
    pub length_bytes: u64,
    pub at_ns: Nanos,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    #[serde(flatten)]
    pub ticket: Ticket,
    pub at_ns: Nanos,
}
