//! Logs that servers keep of what their clients ask: each format read as the same events, as a stream.

mod audit;
mod binary;
mod bind;
mod capture;
mod general;
mod input;
mod moment;
mod postgres;
mod prefix;
mod records;
mod slow;
mod spread;
#[cfg(test)]
mod tests;

use std::io;

pub(crate) use binary::{BinaryLog, Commit};
use bind::bind;
pub(crate) use bind::{Bound, Value};
pub(crate) use input::{Inputs, Passed};
pub(crate) use moment::{date_of, day_of};
pub(crate) use spread::Spread;

use crate::driver::Dialect;

/// Longer lines and statements are not read: memory is bounded.
pub(crate) const LONGEST_BYTES: usize = 128 << 20;
pub(crate) const TOO_LONG: &str = "a statement longer than 128 MiB";
/// Of what is longer so much is kept that it is seen to be, whatever stands before the statement.
const KEPT_BYTES: usize = LONGEST_BYTES + (64 << 10);
pub(crate) const WITHOUT_VALUES: &str = "a prepared statement whose parameters are not in the log";
const HALF_LINE: &str = "a statement that the log's end cuts short";
const NO_SQL: &str = "a command that is no SQL";
pub(crate) const AS_TEXT: &str = "a prepared statement that is replayed as text: its values could not be read apart, or are too long";

/// Adds a further line to a statement.
fn add_line(text: &mut Vec<u8>, line: &[u8]) {
    if text.len() < KEPT_BYTES {
        text.push(b'\n');
        text.extend_from_slice(line);
    }
}

/// A kind of log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// The slow log of MySQL, MariaDB or Percona Server
    Slow,
    /// The general log of MySQL or MariaDB
    General,
    /// MariaDB's `server_audit`, to a file
    Audit,
    /// The audit log of MySQL or Percona Server as XML, in either style
    AuditXml,
    /// The audit log of MySQL or Percona Server as JSON
    AuditJson,
    /// PostgreSQL's log as text, with any `log_line_prefix`
    Stderr,
    /// PostgreSQL's csvlog
    Csvlog,
    /// PostgreSQL's jsonlog
    Jsonlog,
    /// A capture of packets (pcap, pcapng) with MySQL's protocol, without TLS
    MysqlPackets,
    /// A capture of packets (pcap, pcapng) with PostgreSQL's protocol, without TLS
    PostgresPackets,
}

impl Format {
    pub(crate) fn dialect(self) -> Dialect {
        match self {
            Self::Stderr | Self::Csvlog | Self::Jsonlog | Self::PostgresPackets => {
                Dialect::Postgres
            }
            _ => Dialect::Mysql,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Slow => "slow log",
            Self::General => "general log",
            Self::Audit => "server_audit's log",
            Self::AuditXml | Self::AuditJson => "audit log",
            Self::Stderr => "PostgreSQL's log",
            Self::Csvlog => "PostgreSQL's csvlog",
            Self::Jsonlog => "PostgreSQL's jsonlog",
            Self::MysqlPackets => "capture of MySQL's packets",
            Self::PostgresPackets => "capture of PostgreSQL's packets",
        }
    }

    /// What its entries are counted by.
    pub(crate) fn unit(self) -> &'static str {
        match self {
            Self::MysqlPackets | Self::PostgresPackets => "packet",
            _ => "line",
        }
    }
}

/// What a session did, and when.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    /// The session's number, unique as long as the session is open.
    pub(crate) session: u64,
    /// Microseconds of the log's clock, whatever its zone.
    pub(crate) at_us: i64,
    /// The log's clock moves in steps of this.
    pub(crate) step_us: i64,
    pub(crate) what: What,
    /// The line of the log, or the number of the packet.
    pub(crate) line: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum What {
    Connect,
    Quit,
    Statement(Statement),
    /// The session's last statement took so long.
    Took {
        us: u64,
    },
    /// The session has prepared what is executed under this key.
    Prepared(u64),
}

/// A statement as the log has it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Statement {
    pub(crate) sql: Vec<u8>,
    /// `None`: the session's last one.
    pub(crate) database: Option<Vec<u8>>,
    /// The event's instant is the statement's end, and it took so long; `None`: the instant is its begin.
    pub(crate) duration_us: Option<u64>,
    pub(crate) rows: Option<u64>,
    pub(crate) affected: Option<u64>,
    /// The server refused it.
    pub(crate) failed: bool,
    /// It may be a further message about the last statement, if that has the same text.
    pub(crate) is_further: bool,
    /// How it was prepared, if it was and its values were bound; they stand in the text, too.
    pub(crate) bound: Option<Bound>,
    pub(crate) key: Option<u64>,
}

/// Takes up events; an error ends the reading.
pub(crate) trait Sink {
    fn take(&mut self, event: Event) -> io::Result<()>;
    fn unread(&mut self, reason: &'static str, line: u64);
}

/// A kind of log, how many of its first lines are looked at, and whether a line is of it.
type Sign = (Format, usize, fn(&[u8]) -> bool);

const SIGNS: [Sign; 6] = [
    (Format::Slow, 2000, |own| own.starts_with(b"# Query_time")),
    (Format::AuditXml, 2000, records::is_xml),
    (Format::General, 2000, general::begins_entry),
    (Format::Audit, 50, audit::is_entry),
    (Format::Csvlog, 50, postgres::is_csv),
    (Format::Stderr, 2000, |own| prefix::severity(own).is_some()),
];

/// Recognises a log by its beginning.
pub(crate) fn recognise(head: &[u8]) -> Option<Format> {
    match capture::beginning(head).1 {
        Some(Dialect::Postgres) => return Some(Format::PostgresPackets),
        Some(_) => return Some(Format::MysqlPackets),
        None => {}
    }
    let text = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    if text.trim_ascii_start().starts_with(b"{\"timestamp\"") {
        return Some(Format::Jsonlog);
    }
    if records::is_json(text) {
        return Some(Format::AuditJson);
    }
    let lines = |most| text.split(|&byte| byte == b'\n').take(most);
    let found = SIGNS.iter().find(|sign| lines(sign.1).any(sign.2));
    found.map(|sign| sign.0)
}

/// Reads a whole log, of one file or of several that follow one another. PostgreSQL's has this `log_line_prefix`, or
/// one of the usual ones.
pub(crate) fn read(
    format: Format,
    inputs: Inputs,
    prefix: Option<&str>,
    sink: &mut dyn Sink,
) -> io::Result<()> {
    match format {
        Format::Slow => slow::read(inputs, sink),
        Format::General => general::read(inputs, sink),
        Format::Audit => audit::read(inputs, sink),
        Format::AuditXml => records::read_xml(inputs, sink),
        Format::AuditJson => records::read_json(inputs, sink),
        Format::MysqlPackets | Format::PostgresPackets => {
            capture::read(inputs, format.dialect(), sink)
        }
        Format::Stderr => postgres::read_text(inputs, prefix, sink),
        Format::Csvlog => postgres::read_csv(inputs, sink),
        Format::Jsonlog => postgres::read_json(inputs, sink),
    }
}
