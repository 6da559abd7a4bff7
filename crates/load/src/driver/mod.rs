//! The seam between a workload and a database: statements go in, replies come out.
//!
//! A [`Session`] is one connection as the event loop sees it. It never blocks: `submit` starts a
//! statement, `poll` continues it. A [`Driver`] serves one database and makes sessions; its
//! [`Admin`] is a plain blocking connection for work that is not timed (tables, loading, clean-up).

use std::io::{self, ErrorKind};
use std::ops::Range;
use std::task::Poll;
use std::time::Duration;

use crate::target::Endpoint;

pub mod account;
mod admin;
mod last_made;
pub mod mysql;
pub mod null;
mod patience;
pub mod postgres;
pub mod rows;
mod socket;
pub mod sqlite;
pub mod template;

pub(crate) use patience::{Alone, ask, in_short, too_late};
use rows::{Keep, Rows};
pub(crate) use socket::{LOGIN_LIMIT, resolve};

/// Longest time for one statement of administration before its work begins. Questions about
/// tables take milliseconds; a server that needs longer is stuck, or never stops answering.
const QUESTION_LIMIT: Duration = Duration::from_secs(10);

/// Most memory for the values of one answer, unless a script says otherwise: room for a million keys.
const MOST_ANSWER_BYTES: usize = 128 << 20;

/// Which family's SQL a workload must speak: types, auto-increment, table options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Mysql,
    Postgres,
    Sqlite,
}

/// How parameters are sent: as literals in the text, or bound to a prepared statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Protocol {
    Text,
    Prepared,
}

/// The kind of a statement in the counts: sysbench's read, write and other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Read,
    Write,
    Other,
}

/// One statement of a workload. `?` marks a parameter in every dialect; a driver rewrites it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    pub sql: String,
    /// Whether the server may prepare it.
    pub prepare: bool,
}

impl Statement {
    /// One that the server may prepare.
    pub fn prepared(sql: impl Into<String>) -> Self {
        Self {
            sql: sql.into(),
            prepare: true,
        }
    }

    /// One that is always sent as text.
    pub fn as_text(sql: impl Into<String>) -> Self {
        Self {
            sql: sql.into(),
            prepare: false,
        }
    }
}

/// A statement's index in the catalogue that the driver was given.
pub type StatementId = usize;

/// One parameter. Text lies in [`Args`]'s own buffer, so that drawing one allocates nothing.
#[derive(Debug, Clone, PartialEq)]
pub enum Arg {
    Int(i64),
    Double(f64),
    Text(Range<usize>),
    Null,
}

/// The parameters of one execution, reused from statement to statement.
#[derive(Debug, Default)]
pub struct Args {
    values: Vec<Arg>,
    text: Vec<u8>,
}

impl Args {
    pub fn clear(&mut self) {
        self.values.clear();
        self.text.clear();
    }

    pub fn push_int(&mut self, value: i64) {
        self.values.push(Arg::Int(value));
    }

    /// A parameter is a double in all executions of its statement or in none.
    pub fn push_double(&mut self, value: f64) {
        self.values.push(Arg::Double(value));
    }

    pub fn push_null(&mut self) {
        self.values.push(Arg::Null);
    }

    /// Lets `write` append the text of one parameter to the buffer. ASCII without quotes or
    /// backslashes is all that the workloads draw; drivers still escape what they must.
    pub fn push_text(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.text.len();
        write(&mut self.text);
        self.values.push(Arg::Text(start..self.text.len()));
    }

    /// Begins the text of a statement that is drawn whole ([`Next::Sql`](crate::workload::Next)).
    pub fn begin_sql(&mut self) -> &mut Vec<u8> {
        self.clear();
        &mut self.text
    }

    /// The statement that was drawn whole.
    pub fn sql(&self) -> &[u8] {
        &self.text
    }

    pub fn values(&self) -> &[Arg] {
        &self.values
    }

    pub fn text(&self, range: &Range<usize>) -> &[u8] {
        &self.text[range.clone()]
    }
}

/// A completed statement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reply {
    /// Rows that the server sent.
    pub rows: u64,
    /// Rows that the server says it changed.
    pub affected: u64,
}

/// A server's own refusal: the connection lives on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} ({code})")]
pub struct ServerError {
    /// The server's own code: `1213`, `40P01`, `SQLITE_BUSY`.
    pub code: String,
    /// The state in the words of the SQL standard, if that is not the code: `40001`.
    pub sql_state: Option<String>,
    pub message: String,
    /// Deadlock, lock wait time-out, serialization failure, busy: run the transaction again.
    pub transient: bool,
}

/// A fault of a statement or a connection.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error("{0}")]
    Server(ServerError),
    /// There is no connection yet; the message names the address.
    #[error("{0}")]
    Unreachable(String),
    /// The server's queue of new connections is full: it may take one in a moment.
    #[error("{0}")]
    Busy(String),
    /// There is no encrypted connection as the URL demands it.
    #[error("{0}")]
    Tls(String),
    /// A statement that is not measured has taken too long.
    #[error("{0}")]
    NoReply(String),
    /// The connection is gone.
    #[error("connection lost: {0}")]
    Lost(io::Error),
    /// The peer broke its protocol; the connection must be dropped.
    #[error("unexpected reply from the server: {0}")]
    Protocol(String),
}

impl Fault {
    /// Says that a server could not be reached.
    pub fn unreachable(endpoint: &Endpoint, error: &io::Error) -> Self {
        if error.raw_os_error() == Some(rustix::io::Errno::MFILE.raw_os_error()) {
            return Self::Unreachable(format!(
                "no socket for {endpoint} ({error}): this process has reached its limit of open files; \
                 raise the limit (ulimit -Hn) or ask for fewer clients"
            ));
        }
        if error.kind() == ErrorKind::WouldBlock {
            return Self::Busy(format!(
                "{endpoint} accepts no more connections for now, because its queue of new ones is full"
            ));
        }
        let by_socket = match endpoint {
            Endpoint::Tcp { host, .. } if host == "localhost" => {
                ", or name its socket with `?socket=PATH`"
            }
            _ => "",
        };
        Self::Unreachable(format!(
            "cannot reach {endpoint} ({error}); check that the server is running there{by_socket}"
        ))
    }

    /// The code that the fault is counted under: the server's own code, `unreachable`, `tls`,
    /// `no-reply`, `lost` or `protocol`.
    pub fn code(&self) -> &str {
        match self {
            Self::Server(error) => &error.code,
            Self::Unreachable(_) | Self::Busy(_) => "unreachable",
            Self::Tls(_) => "tls",
            Self::NoReply(_) => "no-reply",
            Self::Lost(_) => "lost",
            Self::Protocol(_) => "protocol",
        }
    }

    /// The message without its code.
    pub fn message(&self) -> String {
        match self {
            Self::Server(error) => error.message.clone(),
            other => other.to_string(),
        }
    }

    /// Whether to run the transaction again.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Server(error) if error.transient)
    }
}

/// Says that the peer broke the protocol.
fn protocol(message: impl Into<String>) -> Fault {
    Fault::Protocol(message.into())
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        match error.downcast::<socket::TlsFailure>() {
            Ok(failure) => Self::Tls(failure.to_string()),
            Err(error) => Self::Lost(error),
        }
    }
}

/// One connection, driven by readiness. At most one statement is in progress at a time.
pub trait Session {
    /// The source of (edge-triggered) readiness events; `None`: `poll` is always ready at once.
    fn source(&mut self) -> Option<&mut dyn mio::event::Source>;

    /// Starts one statement. `poll` sends the bytes that the socket does not take now. After an
    /// error the connection is closed; `poll` reports a mere refusal of the statement.
    fn submit(&mut self, statement: StatementId, args: &Args) -> Result<(), Fault>;

    /// Sends one statement of no fixed shape, whole, as text; the rest is as with `submit`.
    fn submit_text(&mut self, sql: &[u8]) -> Result<(), Fault>;

    /// Begins to prepare a statement of this connection's own; `poll` is ready when the server has
    /// done it. Such statements are numbered from 0, in this order; one that replaces another takes
    /// its number, and a server forgets the other. Under [`Protocol::Text`] the server is not asked.
    fn submit_preparation(&mut self, sql: &[u8], replaces: Option<usize>) -> Result<(), Fault>;

    /// Starts a statement of this connection's own.
    fn submit_own(&mut self, number: usize, args: &Args) -> Result<(), Fault>;

    /// Continues a connection that [`Driver::open`] began; `Ready` when it is logged in and its
    /// catalogue is prepared. As with `poll`, `Pending` only after the socket would block;
    /// `wants_write` says whether to wait for writability too.
    fn poll_open(&mut self) -> Poll<Result<(), Fault>> {
        Poll::Ready(Ok(()))
    }

    /// Continues the current statement; `Ready` when its whole reply has been read. `Pending` only
    /// after the socket would block; otherwise no new edge would ever come.
    fn poll(&mut self) -> Poll<Result<Reply, Fault>>;

    /// From now on these values of every reply are kept until the next statement. Asked before the
    /// connection is open; without it replies are skimmed and their rows only counted.
    fn keep_rows(&mut self, _keep: Keep) {}

    /// The values of the last reply; `None` if they are not kept.
    fn rows(&self) -> Option<&Rows> {
        None
    }

    /// From now on `poll` waits in the system for the server, at most `longest`, before it is
    /// `Pending`. A single connection needs no event loop, which costs more. False if the driver
    /// cannot do that.
    fn block(&mut self, _longest: Duration) -> io::Result<bool> {
        Ok(false)
    }

    /// Ends statements that compute in this thread once this says so, which it is asked now and then.
    fn end_when(&mut self, _over: impl FnMut() -> bool + Send + 'static) -> Result<(), Fault> {
        Ok(())
    }

    /// True while part of a statement still waits to be sent. Only then does the event loop ask
    /// for writability: on a Unix socket every read by the peer would wake us otherwise.
    fn wants_write(&self) -> bool {
        false
    }
}

/// A database that can be connected to; shared by all workers.
pub trait Driver: Send + Sync + 'static {
    type Session: Session + Send;

    fn dialect(&self) -> Dialect;

    /// Begins to connect, to log in and to prepare the catalogue; `poll_open` goes on with it.
    /// [`Fault::Busy`]: not now, but perhaps in a moment.
    fn open(&self, statements: &[Statement], protocol: Protocol) -> Result<Self::Session, Fault>;

    /// Connects, logs in and prepares the catalogue; blocking, before anything is timed.
    fn connect(
        &self,
        statements: &[Statement],
        protocol: Protocol,
    ) -> Result<Self::Session, Fault> {
        patience::open_and_wait(|| self.open(statements, protocol))
    }

    fn admin(&self) -> Result<Box<dyn Admin>, Fault>;

    /// A query of rows if the session is read-only, and of none if not; `None` if sessions were not opened so.
    fn guard(&self) -> Option<&'static [u8]> {
        None
    }

    /// The user's limit for statements that are not measured.
    fn statement_limit(&self) -> Option<Duration> {
        None
    }

    /// False if nothing is kept, so that there are no tables to look at.
    fn has_tables(&self) -> bool {
        true
    }

    /// True if a statement blocks its thread (SQLite): one worker thread per client then.
    fn blocks(&self) -> bool {
        false
    }

    /// Lets what it waits for by a clock of its own pass so many times slower.
    fn slow_down(&self, _dilation: u32) {}

    /// Files that one session holds open.
    fn files_per_client(&self) -> usize {
        1
    }
}

/// A blocking connection for what is not timed. Each statement must be over within 10 s, until
/// [`Admin::begin_work`].
pub trait Admin {
    /// From here on a statement may take as long as it needs, or as long as the user allows.
    fn begin_work(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    /// The server's own account of itself, such as `10.11.14-MariaDB`.
    fn server_version(&mut self) -> Result<String, Fault>;

    /// The strings of a statement may hold any bytes if the family takes them.
    fn execute_bytes(&mut self, sql: &[u8]) -> Result<Reply, Fault>;

    fn execute(&mut self, sql: &str) -> Result<Reply, Fault> {
        self.execute_bytes(sql.as_bytes())
    }

    /// The first value of every row as text, `None` for SQL NULL; all are held in memory.
    fn query_column(&mut self, sql: &str) -> Result<Vec<Option<String>>, Fault>;

    /// The first value of the first row as text; `None` for SQL NULL or no row.
    fn query_value(&mut self, sql: &str) -> Result<Option<String>, Fault> {
        Ok(self.query_column(sql)?.into_iter().next().flatten())
    }

    /// Loads rows into a table in the way that is fastest here (multi-row INSERT, COPY, one
    /// transaction of prepared INSERTs). `next_row` fills the arguments of the next row, in the
    /// order of `columns`, and returns false after the last.
    fn load(
        &mut self,
        table: &str,
        columns: &[&str],
        next_row: &mut dyn FnMut(&mut Args) -> bool,
    ) -> Result<u64, Fault>;

    /// Sends rows in the form that the server's own COPY asks for.
    fn copy_in(&mut self, _sql: &str, _lines: &mut dyn Lines) -> Result<Reply, Fault> {
        Err(protocol("rows after a statement of another family"))
    }

    /// Lets the server analyse a loaded table now, if it would otherwise do so later by itself,
    /// during a measurement.
    fn settle(&mut self, _table: &str) -> Result<(), Fault> {
        Ok(())
    }
}

/// Lines of rows, as far as memory allows at a time.
pub trait Lines {
    /// The next of them; `None` after the last.
    fn next(&mut self) -> Result<Option<&[u8]>, Unreadable>;
}

/// They cannot be read on; who reads them knows why.
#[derive(Debug)]
pub struct Unreadable;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_open_files_are_not_the_servers_fault() {
        let endpoint = Endpoint::Unix("/run/x.sock".into());
        let error = io::Error::from(rustix::io::Errno::MFILE);
        let message = Fault::unreachable(&endpoint, &error).message();
        assert!(message.contains("ulimit -Hn"), "{message}");
        let error = io::Error::from(rustix::io::Errno::NOENT);
        let message = Fault::unreachable(&endpoint, &error).message();
        assert!(
            message.contains("check that the server is running"),
            "{message}"
        );
    }
}
