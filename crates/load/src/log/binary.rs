//! The binary log of the MySQL family: whose transactions committed, in their order. Of an event only the head is kept:
//! a transaction may have a gigabyte of rows.

use std::io::{self, Read};
use std::path::PathBuf;

use ruzstd::decoding::StreamingDecoder;

use super::Sink;
use super::input::{Passed, open};

const HEADER_BYTES: u64 = 19;
/// Enough for a query's text behind its variables, and for where a packed transaction begins.
const HEAD_BYTES: u64 = 4 << 10;

/// A commit's session, which is a connection of the server, and the second of the clock in which its statement began.
pub(crate) type Commit = (u64, i64);

/// What binary logs say.
#[derive(Debug, Default)]
pub(crate) struct BinaryLog {
    /// Connection 0: it is not known, or of another server.
    pub(crate) commits: Vec<Commit>,
    /// Files that end within an event, or go on with none.
    cut: u64,
    server: u64,
    begun: i64,
    /// Each transaction of the file has an event before it, as from MySQL 5.7 and MariaDB 10.0 on.
    is_marked: bool,
    /// Without such events: a BEGIN has had no end.
    is_open: bool,
}

/// So many bytes, or fewer at the end.
fn head(input: &mut impl Read, bytes: u64) -> Result<Vec<u8>, String> {
    let mut head = Vec::new();
    let read = input.take(bytes).read_to_end(&mut head);
    read.map(|_| head).map_err(|error| error.to_string())
}

fn number(bytes: &[u8], at: usize) -> u64 {
    let own = bytes.get(at..).and_then(<[u8]>::first_chunk);
    own.map_or(0, |own| u32::from_le_bytes(*own).into())
}

/// Whose transaction is packed behind these bytes.
fn connection_within(body: &[u8], behind: &mut impl Read) -> Option<u64> {
    let at = body.windows(4).position(|own| own == b"\x28\xb5\x2f\xfd")?;
    let mut unpacked = StreamingDecoder::new(body[at..].chain(behind)).ok()?;
    let query = head(&mut unpacked, HEADER_BYTES + 4).ok()?;
    Some(number(&query, 19))
}

impl BinaryLog {
    /// Reads files that follow one another.
    pub(crate) fn read(paths: &[PathBuf]) -> Result<Self, String> {
        let mut log = Self::default();
        for path in paths {
            let input = open(path, &Passed::default())?;
            let read = log.read_file(input);
            read.map_err(|why| format!("{}: {why}", path.display()))?;
        }
        Ok(log)
    }

    /// Counts what has no use.
    pub(crate) fn tell_unread(&self, sink: &mut impl Sink) {
        for _ in self.commits.iter().filter(|own| own.0 == 0) {
            sink.unread("a transaction of the binary log without its connection", 0);
        }
        (0..self.cut).for_each(|_| sink.unread("a binary log that ends within an event", 0));
    }

    pub(super) fn read_file(&mut self, mut input: impl Read) -> Result<(), String> {
        if head(&mut input, 4)? != b"\xfebin" {
            return Err("it is no binary log, or encrypted".into());
        }
        loop {
            let header = head(&mut input, HEADER_BYTES)?;
            let Some(bytes) = number(&header, 9).checked_sub(HEADER_BYTES) else {
                self.cut += u64::from(!header.is_empty());
                return Ok(());
            };
            let body = head(&mut input, bytes.min(HEAD_BYTES))?;
            let mut behind = input.by_ref().take(bytes - body.len() as u64);
            if body.len() as u64 == bytes.min(HEAD_BYTES) {
                self.event(&header, &body, &mut behind)?;
                io::copy(&mut behind, &mut io::sink()).map_err(|error| error.to_string())?;
            }
            if behind.limit() > 0 {
                self.cut += 1;
                return Ok(());
            }
        }
    }

    fn event(&mut self, header: &[u8], body: &[u8], behind: &mut impl Read) -> Result<(), String> {
        let (kind, second) = (header[4], number(header, 0).cast_signed());
        let server = number(header, 5);
        // A commit, also of a transaction that is only prepared.
        self.is_open &= ![16, 38].contains(&kind);
        let connection = match kind {
            // What begins a file.
            15 if second < self.begun => {
                return Err("it is older than the one before it: name them in their order".into());
            }
            15 => {
                (self.begun, self.server) = (second, server);
                (self.is_marked, self.is_open) = (false, false);
                return Ok(());
            }
            // What begins MariaDB's encryption.
            164 => return Err("it is encrypted".into()),
            // What begins a transaction: its global number, also none or one with a tag, and MariaDB's.
            33 | 34 | 42 | 162 => {
                self.is_marked = true;
                self.commits.push((0, second));
                // Behind the number of a group commit, MariaDB names the connection since 11.5.
                let at = 13 + 8 * usize::from(body.get(12).is_some_and(|flags| flags & 2 > 0));
                let is_named = kind == 162 && body.get(at) == Some(&0x10);
                if is_named { number(body, at + 1) } else { 0 }
            }
            // A query, plain or packed by MariaDB.
            2 | 165 => {
                // Behind the database's name.
                let begins = || body.windows(6).any(|own| own == b"\0BEGIN");
                if !self.is_marked && (!self.is_open || begins()) {
                    self.commits.push((0, second));
                    self.is_open = begins();
                }
                number(body, 0)
            }
            // A whole transaction, packed by MySQL.
            40 => connection_within(body, behind).unwrap_or(0),
            16 | 38 => 0,
            _ => return Ok(()),
        };
        if let Some(last) = self.commits.last_mut() {
            // MariaDB's commit has the time of its end; the event before a transaction has that of its begin.
            last.1 = if self.is_marked { last.1 } else { second };
            // If this server applied another one's transaction, the connection is that one's.
            if last.0 == 0 && server == self.server {
                last.0 = connection;
            }
        }
        Ok(())
    }
}
