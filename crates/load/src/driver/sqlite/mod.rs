//! SQLite, embedded: a statement runs in the calling thread, so every client has a thread.
//!
//! `BEGIN` or `BEGIN IMMEDIATE` is the workload's choice and nothing is rewritten here. It
//! matters: a plain `BEGIN` that reads first and writes later cannot wait for another writer
//! (its snapshot would be stale) and fails with `SQLITE_BUSY` at once, whatever the time-out;
//! `BEGIN IMMEDIATE` takes the write lock at the start and waits for it. Transactions that write
//! want the latter, those that only read the former.

mod admin;
mod error;
mod execute;
mod options;
mod session;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

pub use session::SqliteSession;

use self::options::Setting;
use super::{Admin, Dialect, Driver, Fault, Protocol, Statement};
use crate::target::{SqliteFile, TargetError};

/// How long a statement waits for another connection's lock by default. Transactions of a benchmark
/// last milliseconds, so a wait this long is a fault worth counting.
const DEFAULT_BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// SQLite's own pauses until a lock is free (`sqliteDefaultBusyCallback`); the last one is repeated.
const PAUSES_MS: [u32; 12] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100];

// SQLite's binding takes no closure for the pauses, and a process has one database.
static DILATION: AtomicU32 = AtomicU32::new(1);
static BUSY_TIMEOUT_MS: AtomicU32 = AtomicU32::new(0);

/// One database file and the PRAGMAs for every connection to it.
#[derive(Debug)]
pub struct SqliteDriver {
    path: PathBuf,
    settings: Vec<Setting>,
    creates: bool,
    statement_limit: Option<Duration>,
}

/// The database that is built in: `SQLite 3.53.2`.
pub fn version() -> String {
    format!("SQLite {}", rusqlite::version())
}

impl SqliteDriver {
    /// Checks the target; opens nothing.
    pub fn new(file: SqliteFile) -> Result<Self, TargetError> {
        if file.path.as_os_str() == ":memory:" {
            return Err(TargetError::Malformed {
                url: "sqlite::memory:".into(),
                reason: "every connection would have its own database; use a file on a RAM disk, such as sqlite:/dev/shm/bench.db"
                    .into(),
            });
        }
        Ok(Self {
            settings: options::settings(&file)?,
            path: file.path,
            creates: false,
            statement_limit: file.statement_limit,
        })
    }

    /// Lets connections create the file if it is missing. Without this a misspelt path would
    /// silently become an empty database.
    #[must_use]
    pub fn creating(self) -> Self {
        Self {
            creates: true,
            ..self
        }
    }

    fn open_file(&self) -> Result<Connection, Fault> {
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        flags.set(OpenFlags::SQLITE_OPEN_CREATE, self.creates);
        let connection =
            Connection::open_with_flags(&self.path, flags).map_err(|error| self.unopened(error))?;
        connection.busy_timeout(DEFAULT_BUSY_TIMEOUT)?;
        for setting in &self.settings {
            setting.apply(&connection)?;
        }
        Ok(connection)
    }

    fn unopened(&self, error: rusqlite::Error) -> Fault {
        let mut error = error::server_error(error);
        let path = self.path.display();
        error.message = if self.path.exists() {
            format!("{path}: {}", error.message)
        } else if self.creates {
            format!(
                "cannot create {path}; check that its directory exists and that you may write to it"
            )
        } else {
            format!("there is no database at {path}; create and fill it with `prepare` first")
        };
        Fault::Server(error)
    }
}

/// Pauses as SQLite does, in slow time; false when the timeout is over.
fn pause(earlier: i32) -> bool {
    let ms = |pause: i32| PAUSES_MS[usize::try_from(pause).unwrap_or(0).min(11)];
    let waited_ms = (0..earlier).map(ms).sum();
    let left_ms = BUSY_TIMEOUT_MS
        .load(Ordering::Relaxed)
        .saturating_sub(waited_ms);
    let own = Duration::from_millis(ms(earlier).min(left_ms).into());
    sleep(own * DILATION.load(Ordering::Relaxed));
    left_ms > 0
}

impl Driver for SqliteDriver {
    type Session = SqliteSession;

    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn open(&self, statements: &[Statement], protocol: Protocol) -> Result<Self::Session, Fault> {
        let mut connection = self.open_file()?;
        if DILATION.load(Ordering::Relaxed) > 1 {
            let busy_timeout_ms =
                connection.query_row("PRAGMA busy_timeout", [], |row| row.get(0))?;
            BUSY_TIMEOUT_MS.store(busy_timeout_ms, Ordering::Relaxed);
            connection.busy_handler(Some(pause))?;
        }
        SqliteSession::new(connection, statements, protocol)
    }

    fn slow_down(&self, dilation: u32) {
        DILATION.store(dilation, Ordering::Relaxed);
    }

    fn statement_limit(&self) -> Option<Duration> {
        self.statement_limit
    }

    fn admin(&self) -> Result<Box<dyn Admin>, Fault> {
        let admin = admin::SqliteAdmin::new(self.open_file()?, self.statement_limit)?;
        Ok(Box::new(admin))
    }

    fn blocks(&self) -> bool {
        true
    }

    /// The database, its write-ahead log or rollback journal, the log's shared memory.
    fn files_per_client(&self) -> usize {
        3
    }
}
