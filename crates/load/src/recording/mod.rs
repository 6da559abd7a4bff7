//! A load as a log has it, in one file: the statements of each session in packed blocks, and a table of contents
//! behind them.
//!
//! A file has the mark, the blocks (LZ4 of postcard), the contents (JSON), the contents' length (8 bytes,
//! little-endian) and the mark again.

mod anonymise;
mod fingerprint;
mod order;
mod read;
#[cfg(test)]
mod tests;
mod write;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

pub(crate) use anonymise::Anonymiser;
pub(crate) use order::Known;
pub(crate) use read::{Recording, RecordingError, SessionReader};
pub(crate) use write::{OTHER_STATEMENTS, Recorder};

use crate::driver::{Dialect, Kind};
use crate::log::Bound;

const MARK: &[u8; 16] = b"diskproof load 3";
/// Before statements said how they were prepared, and whether just then.
const OLD_MARKS: [&[u8; 16]; 2] = [b"diskproof load 1", b"diskproof load 2"];

/// Whether a file that begins so is a recording.
pub(crate) fn is_recording(head: &[u8]) -> bool {
    head.is_empty() || head == MARK || OLD_MARKS.iter().any(|mark| head == *mark)
}

/// The table of contents.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Contents {
    /// `mysql` or `postgresql`.
    pub(crate) dialect: String,
    /// The log's kind, in words.
    pub(crate) format: String,
    /// From the first event to the last.
    pub(crate) length_us: u64,
    /// Whether statements have durations, and so ends.
    pub(crate) has_durations: bool,
    /// Whether statements say how they were prepared.
    #[serde(default)]
    pub(crate) has_bound: bool,
    /// Whether they say if it was just then.
    #[serde(default)]
    pub(crate) has_fresh: bool,
    /// Commits that have the binary log's order, of all; `None`: none was given.
    #[serde(default)]
    pub(crate) ordered: Option<(u64, u64)>,
    /// Sessions that were open at once, at the most.
    pub(crate) most_at_once: usize,
    /// In the order of their begins.
    pub(crate) sessions: Vec<Session>,
    pub(crate) fingerprints: Vec<Fingerprint>,
    pub(crate) databases: Vec<Database>,
    pub(crate) statements: u64,
    /// Reason, count and first line.
    pub(crate) unread: Vec<(String, u64, u64)>,
}

impl Contents {
    pub(crate) fn dialect(&self) -> Dialect {
        match self.dialect.as_str() {
            "postgresql" => Dialect::Postgres,
            _ => Dialect::Mysql,
        }
    }

    /// Deals sessions out, in the order of their begins, to as few connections as hold them.
    pub(crate) fn lanes(&self, sessions: impl Iterator<Item = usize>) -> Vec<Vec<usize>> {
        let mut lanes: Vec<Vec<usize>> = Vec::new();
        // When each lane is free.
        let mut free: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
        for number in sessions {
            let session = &self.sessions[number];
            let lane = match free.peek() {
                Some(&Reverse((free_us, lane))) if free_us <= session.begin_us => {
                    free.pop();
                    lane
                }
                _ => {
                    lanes.push(Vec::new());
                    lanes.len() - 1
                }
            };
            lanes[lane].push(number);
            free.push(Reverse((session.end_us, lane)));
        }
        lanes
    }

    /// The number of the database that most statements are of.
    pub(crate) fn main_database(&self) -> usize {
        let counts = self.databases.iter().enumerate();
        counts
            .max_by_key(|(_, database)| database.statements)
            .map_or(0, |(number, _)| number)
    }
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Database {
    /// Empty: the log does not say.
    pub(crate) name: String,
    pub(crate) statements: u64,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Session {
    /// From the begin of the load.
    pub(crate) begin_us: u64,
    pub(crate) end_us: u64,
    /// Place and length of its blocks in the file.
    pub(crate) blocks: Vec<(u64, u32)>,
}

/// Statements that differ in their values alone.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Fingerprint {
    /// The statement with `?` for values.
    pub(crate) text: String,
    pub(crate) kind: Kind,
    pub(crate) count: u64,
    pub(crate) total_us: u64,
}

/// A statement of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Recorded {
    /// From the begin of the load.
    pub(crate) begin_us: u64,
    pub(crate) duration_us: Option<u64>,
    /// Numbers in the contents.
    pub(crate) fingerprint: u32,
    pub(crate) database: u32,
    /// It is the last of its transaction.
    pub(crate) ends: bool,
    pub(crate) failed: bool,
    pub(crate) rows: Option<u64>,
    pub(crate) affected: Option<u64>,
    /// A writer's first statement: so many commits had ended before it began.
    pub(crate) after_commits: Option<u64>,
    /// It commits what was written, as the commit of this number.
    pub(crate) commit: Option<u64>,
    pub(crate) sql: Vec<u8>,
    /// Behind all others, unless the recording is an old one.
    #[serde(skip)]
    pub(crate) bound: Option<Bound>,
    /// It was prepared since it was executed last.
    #[serde(skip)]
    pub(crate) is_fresh: bool,
}

impl Recorded {
    pub(crate) fn end_us(&self) -> u64 {
        self.begin_us.saturating_add(self.duration_us.unwrap_or(0))
    }
}
