//! What a transaction asks for, as a prediction writes it down.

use serde::{Deserialize, Serialize};

use crate::device::within;

/// A closed loop of clients: each begins its next transaction when the last one has ended.
///
/// Numbers that are no whole ones are means: a transaction has the whole number below or above.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    pub clients: u32,
    /// CPUs that server and clients share.
    pub cores: u32,
    /// CPU time that a transaction waits for.
    pub cpu_us: f64,
    /// CPU time that it causes and does not wait for.
    #[serde(default)]
    pub behind_us: f64,
    /// Pieces of its CPU time: its statements. Reads come between them.
    #[serde(default = "number::<_, 1>")]
    pub bursts: u32,
    /// Wait for others' locks, over the rest of a mean transaction's time: who holds a lock holds it
    /// for a part of that.
    #[serde(default)]
    pub lock_share: f64,
    #[serde(default)]
    pub reads: f64,
    #[serde(default = "number::<_, 16_384>")]
    pub read_bytes: u64,
    /// Where pages lie: from the start of the disk.
    pub data_bytes: u64,
    /// Bytes of the disk that are used at all: beyond the data there are logs and the file system's journal.
    pub disk_bytes: u64,
    /// Commits of a transaction.
    #[serde(default)]
    pub commits: f64,
    /// What a commit waits for, one after the other; none if it waits for no flush.
    #[serde(default)]
    pub logs: Vec<Log>,
    /// How often a group writes and flushes each log: 1, or what makes a record and the model agree.
    #[serde(default = "number::<_, 1>")]
    pub log_work: f64,
    /// Pages that are written later, on behalf of a transaction.
    #[serde(default)]
    pub page_writes: f64,
    /// Transactions from the start for which none are: the log is still far from full.
    #[serde(default)]
    pub page_writes_after: f64,
    #[serde(default = "number::<_, 16_384>")]
    pub page_bytes: u64,
    /// Pages that are written together and then flushed.
    #[serde(default = "number::<_, 16>")]
    pub page_batch: u32,
    /// Whether pages are first written to one place together.
    #[serde(default)]
    pub doublewrite: bool,
    pub warm_up_s: f64,
    pub measure_s: f64,
    /// Transactions that end the measurement early; a tenth as many end the warm-up.
    #[serde(default = "number::<_, 20_000>")]
    pub transactions: u64,
    #[serde(default)]
    pub seed: u64,
}

/// A log that commits share: whoever comes while it is flushed waits, and all who wait are the next group.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    /// Bytes of a commit.
    pub bytes: u64,
    /// Whether its file grows, so that the file system writes and flushes its own journal too.
    #[serde(default)]
    pub grows: bool,
    /// Whether commits take it one by one instead.
    #[serde(default)]
    pub alone: bool,
}

fn number<T: From<u32>, const VALUE: u32>() -> T {
    VALUE.into()
}

/// More makes no sense, and would take all memory.
const MOST_CLIENTS: u32 = 100_000;
const MOST_OF_ANYTHING: f64 = 1e5;
const MOST_US: f64 = 3.6e9;
const MOST_BYTES: u64 = 1 << 24;

impl Load {
    /// # Errors
    ///
    /// The first field with a value that is none.
    pub fn check(&self) -> Result<(), String> {
        within!(self;
            1, MOST_CLIENTS => clients; 1, 4096 => cores; 1, 1000 => bursts; 1, 10_000 => page_batch;
            1, MOST_BYTES => read_bytes, page_bytes; 1, 100_000_000 => transactions;
            0.0, MOST_US => cpu_us, behind_us; 0.0, 100.0 => lock_share; 0.0, 1000.0 => log_work;
            0.0, MOST_OF_ANYTHING => reads, commits, page_writes; 0.0, 1e12 => page_writes_after;
            0.0, 1e6 => warm_up_s, measure_s);
        if self.logs.len() > 8 || self.logs.iter().any(|log| log.bytes > MOST_BYTES) {
            return Err("logs: at most 8, of at most 16 MiB a commit".into());
        }
        Ok(())
    }
}
