//! A file that is run once, such as a dump: of any size, read twice, one statement in memory.
//!
//! The first reading finds every mistake that the text shows, so that nothing is sent before it.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{self, Read, Seek};

use super::client::put_value;
use super::expression::unset;
use super::parser::{State, Variables};
use super::source::tell;
use super::value::Value;
use super::{ScriptError, built_in, initial, preset};
use crate::driver::{Dialect, Lines, Unreadable};
use crate::workload::sql::{
    Fate, Fence, Mistake, Names, Piece, Pieces, Place, Scanned, Unread, in_short, not_text,
};

/// The beginnings of files that hold no SQL text, with what to do about them.
const OTHERS: [(&[u8], &str); 3] = [
    (
        b"\x1f\x8b",
        "this file is compressed; unpack it with gunzip",
    ),
    (
        b"\x28\xb5\x2f\xfd",
        "this file is compressed; unpack it with unzstd",
    ),
    (
        b"SQLite format 3\0",
        "this is an SQLite database; make a dump of it with sqlite3 FILE .dump",
    ),
];

/// What is read twice, from its beginning.
pub enum Text {
    File(File),
    /// What programs write: the second reading, then the first.
    Streams(Vec<Box<dyn Read>>),
}

impl Text {
    fn read(&mut self) -> io::Result<Box<dyn Read>> {
        match self {
            Self::File(file) => {
                file.rewind()?;
                Ok(Box::new(file.try_clone()?))
            }
            Self::Streams(streams) => streams.pop().ok_or(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

/// A file, read and found in order.
pub struct Once {
    text: Text,
    name: String,
    dialect: Dialect,
    fence: Fence,
    /// Statements that the first reading found.
    count: usize,
    known: Variables,
    variables: Vec<Option<Value>>,
    /// Variables that nobody has named: in a string of a dump, their names are text.
    unasked: HashSet<usize>,
    /// Names that may be those of other databases, with their places.
    pub names: Names,
    /// The databases that the file makes, drops or enters, each with the line where it is first named.
    databases: BTreeMap<String, usize>,
    left_out: BTreeMap<&'static str, LeftOut>,
    /// Of the longest statement.
    pub longest_bytes: usize,
}

/// Statements of one kind that are not sent.
#[derive(Debug)]
pub struct LeftOut {
    pub count: u64,
    /// The first of them.
    pub place: String,
    pub shown: String,
}

/// A statement on its way.
pub struct Statement<'a> {
    /// Its file, its line and its beginning.
    pub name: String,
    pub sql: &'a [u8],
    /// Whether it is a SET of the session, which servers of other versions may not know.
    pub sets: bool,
}

/// The rows that follow a COPY … FROM stdin, some lines at a time.
pub struct Rows<'a> {
    pieces: &'a mut Pieces<Box<dyn Read>>,
    failed: Option<Unread>,
}

impl Lines for Rows<'_> {
    fn next(&mut self) -> Result<Option<&[u8]>, Unreadable> {
        match self.pieces.rows() {
            Ok(lines) => Ok(lines.map(|lines| &self.pieces.text()[lines])),
            Err(unread) => {
                self.failed = Some(unread);
                Err(Unreadable)
            }
        }
    }
}

/// The databases' own part of a dump, in [`Once::left_out`].
const DATABASES: &str = "databases";
const DEFINERS: &str = "definers";

impl Once {
    /// Reads the file to its end; the error says what is wrong with it.
    pub fn read(
        text: Text,
        name: &str,
        dialect: Dialect,
        fence: Fence,
        given: Vec<(String, Value)>,
        seed: u64,
    ) -> Result<Self, ScriptError> {
        let mut known = Variables::default();
        let own: HashSet<_> = given.iter().map(|(name, _)| name.clone()).collect();
        let unasked = built_in(seed)
            .into_iter()
            .filter(|(name, _)| !own.contains(name))
            .map(|(name, _)| known.preset(&name))
            .collect();
        let presets = preset(&mut known, seed, given);
        let mut once = Self {
            text,
            name: name.to_owned(),
            dialect,
            fence,
            count: 0,
            known,
            variables: Vec::new(),
            unasked,
            names: Names::new(),
            databases: BTreeMap::new(),
            left_out: BTreeMap::new(),
            longest_bytes: 0,
        };
        once.look()?;
        once.variables = initial(&once.known, presets);
        Ok(once)
    }

    fn pieces(&mut self) -> Result<Pieces<Box<dyn Read>>, ScriptError> {
        let input = self.text.read().map_err(|error| self.unread(&error))?;
        Ok(Pieces::new(input, self.dialect))
    }

    /// The first reading.
    fn look(&mut self) -> Result<(), ScriptError> {
        let mut known = std::mem::take(&mut self.known);
        let mut pieces = self.pieces()?;
        let mut state = State::new(&mut known);
        state.takes_rows = true;
        // The line of what is still open.
        let mut open = 1;
        let mut is_first = true;
        loop {
            let piece = pieces.read();
            if std::mem::take(&mut is_first) {
                self.refuse_others(pieces.text())?;
            }
            let piece = piece.map_err(|unread| self.failed(&mut pieces, unread))?;
            let taken = match &piece {
                Piece::End => break,
                Piece::Delimiter { .. } => Ok(()),
                Piece::Command { at, end } => {
                    open = pieces.line_of(*at);
                    self.look_at_command(&pieces.text()[*at..*end], *at, open)
                }
                Piece::Statement(scanned) => {
                    let line = pieces.line_of(scanned.start);
                    let was_open = state.is_open();
                    let taken = self.look_at(pieces.text(), scanned, line, &mut state);
                    if state.is_open() && !was_open {
                        open = line;
                    }
                    if taken.is_ok() && self.has_rows(&pieces, scanned) {
                        self.pass_rows(&mut pieces)?;
                    }
                    taken
                }
            };
            taken.map_err(|mistake| self.failed(&mut pieces, Unread::Mistake(mistake)))?;
        }
        if let Err(mistake) = state.end() {
            return Err(ScriptError(format!(
                "{}:{open}: {}",
                self.name, mistake.message
            )));
        }
        self.known = known;
        Ok(())
    }

    /// Whether rows of a table follow a statement, as in a dump by `pg_dump`.
    fn has_rows(&self, pieces: &Pieces<Box<dyn Read>>, scanned: &Scanned) -> bool {
        self.dialect == Dialect::Postgres && scanned.copies_from_client(pieces.text())
    }

    fn pass_rows(&self, pieces: &mut Pieces<Box<dyn Read>>) -> Result<(), ScriptError> {
        let passed = pieces.pass_rows();
        passed.map_err(|unread| self.failed(pieces, unread))
    }

    /// A command of psql's: one that leads to a database, or one that `pg_dump` writes around a dump.
    fn look_at_command(&mut self, line: &[u8], at: usize, number: usize) -> Result<(), Mistake> {
        if let Some(database) = connects(line, self.dialect) {
            self.leave_out(DATABASES, line, number);
            self.databases.entry(database).or_insert(number);
            return Ok(());
        }
        let is_dumps = line.starts_with(b"\\restrict") || line.starts_with(b"\\unrestrict");
        if is_dumps && self.dialect == Dialect::Postgres {
            return Ok(());
        }
        Err(Mistake::new(
            at,
            "commands are for scripts that are measured; a file that is run once has statements, and values \
             by --variable",
        ))
    }

    fn look_at(
        &mut self,
        text: &[u8],
        scanned: &Scanned,
        line: usize,
        state: &mut State<'_>,
    ) -> Result<(), Mistake> {
        if !state.statement(text, scanned, self.dialect)? {
            return Ok(());
        }
        self.count += 1;
        let sql = &text[scanned.start..scanned.end];
        if let Some((at, what)) = not_text(sql, self.dialect) {
            return Err(Mistake::new(scanned.start + at, what));
        }
        self.longest_bytes = self.longest_bytes.max(sql.len());
        let finding = self.fence.read(sql);
        if let Some(why) = self.fence.refusal(&finding) {
            return Err(Mistake::new(scanned.start, why));
        }
        match finding.fate {
            Fate::Database => {
                self.leave_out(DATABASES, sql, line);
                if let Some(name) = finding.database {
                    self.databases.entry(name).or_insert(line);
                }
            }
            Fate::LeaveOut(what) => self.leave_out(what, sql, line),
            _ => {
                if finding.definer.is_some() {
                    self.leave_out(DEFINERS, sql, line);
                }
                for name in finding.qualifiers {
                    let place = || format!("{}:{line}", self.name);
                    self.names.entry(name).or_insert_with(place);
                }
            }
        }
        Ok(())
    }

    fn leave_out(&mut self, what: &'static str, sql: &[u8], line: usize) {
        let left = self.left_out.entry(what).or_insert_with(|| LeftOut {
            count: 0,
            place: format!("{}:{line}", self.name),
            shown: in_short(sql),
        });
        left.count += 1;
    }

    fn refuse_others(&self, text: &[u8]) -> Result<(), ScriptError> {
        match OTHERS.iter().find(|(begins, _)| text.starts_with(begins)) {
            Some((_, what)) => Err(ScriptError(format!("{}: {what}", self.name))),
            None => Ok(()),
        }
    }

    fn failed(&self, pieces: &mut Pieces<Box<dyn Read>>, unread: Unread) -> ScriptError {
        match unread {
            Unread::File(error) => self.unread(&error),
            Unread::Mistake(mistake) => {
                let line = pieces.line_of(mistake.at);
                ScriptError(tell(&self.name, pieces.text(), line, &mistake))
            }
        }
    }

    fn unread(&self, error: &io::Error) -> ScriptError {
        ScriptError(format!("{}: {error}", self.name))
    }

    /// The databases that the file makes, drops or enters, each with its place.
    pub fn databases(&self) -> impl Iterator<Item = (&str, String)> {
        let place = |line: &usize| format!("{}:{line}", self.name);
        self.databases
            .iter()
            .map(move |(name, line)| (name.as_str(), place(line)))
    }

    /// What is not sent, in words; `whole`: statements about databases are sent.
    pub fn left_out(&self, whole: bool) -> Vec<String> {
        let own = self.fence.own();
        let said = self
            .left_out
            .iter()
            .filter(|(what, _)| !whole || **what != DATABASES);
        said.map(|(what, left)| {
            let LeftOut {
                place,
                shown,
                count,
            } = left;
            let more = match count - 1 {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            match *what {
                DATABASES if own.is_empty() => {
                    format!("{place}: left out: {shown}{more}; all tables go into one database")
                }
                DATABASES => {
                    format!("{place}: left out: {shown}{more}; the tables go into `{own}`")
                }
                DEFINERS => format!("{place}: left out: the DEFINER of {shown}{more}"),
                what => format!("{place}: left out: {shown}{more} ({what})"),
            }
        })
        .collect()
    }

    /// The second reading: gives every statement that is to be sent to `send`. `whole`: statements about
    /// databases are sent, too.
    pub fn run<E>(
        &mut self,
        whole: bool,
        mut send: impl FnMut(&Statement<'_>, Option<&mut Rows<'_>>) -> Result<(), E>,
    ) -> Result<Result<(), E>, ScriptError> {
        let mut pieces = self.pieces()?;
        let mut read = 0;
        while read < self.count {
            let piece = pieces
                .read()
                .map_err(|unread| self.failed(&mut pieces, unread))?;
            let scanned = match piece {
                Piece::Statement(scanned) if scanned.end > scanned.start => scanned,
                Piece::End => {
                    let what = "the file has changed while it was read";
                    return Err(ScriptError(format!("{}: {what}", self.name)));
                }
                _ => continue,
            };
            read += 1;
            let has_rows = self.has_rows(&pieces, &scanned);
            match self.send(&mut pieces, &scanned, has_rows, whole, &mut send) {
                Ok(Ok(())) => {}
                Ok(Err(error)) => return Ok(Err(error)),
                Err(unread) => return Err(self.failed(&mut pieces, unread)),
            }
        }
        Ok(Ok(()))
    }

    fn send<E>(
        &self,
        pieces: &mut Pieces<Box<dyn Read>>,
        scanned: &Scanned,
        has_rows: bool,
        whole: bool,
        send: &mut impl FnMut(&Statement<'_>, Option<&mut Rows<'_>>) -> Result<(), E>,
    ) -> Result<Result<(), E>, Unread> {
        let line = pieces.line_of(scanned.start);
        let text = pieces.text();
        let sql = &text[scanned.start..scanned.end];
        let finding = self.fence.read(sql);
        let is_sent = match finding.fate {
            Fate::Database => whole,
            Fate::LeaveOut(_) => false,
            _ => true,
        };
        if !is_sent {
            return if has_rows { pieces.pass_rows() } else { Ok(()) }.map(Ok);
        }
        let mut changed = self
            .with_values(text, scanned)
            .map_err(|mistake| Unread::Mistake(*mistake))?;
        if let Some(place) = finding.definer {
            // Variables make a statement longer behind its definer only.
            changed.get_or_insert_with(|| sql.to_vec())[place].fill(b' ');
        }
        let name = format!("{}:{line} {}", self.name, in_short(sql));
        let sets =
            scanned.first_word(text) == "SET" || (self.dialect == Dialect::Mysql && sets(sql));
        if !has_rows {
            let sql = changed.as_deref().unwrap_or(sql);
            return Ok(send(&Statement { name, sql, sets }, None));
        }
        let sql = changed.unwrap_or_else(|| sql.to_vec());
        pieces.begin_rows()?;
        let statement = Statement {
            name,
            sql: &sql,
            sets,
        };
        let mut rows = Rows {
            pieces,
            failed: None,
        };
        let outcome = send(&statement, Some(&mut rows));
        match rows.failed {
            Some(unread) => Err(unread),
            None => Ok(outcome),
        }
    }

    /// The statement with its variables' values; `None` if it has none.
    fn with_values(&self, text: &[u8], scanned: &Scanned) -> Result<Option<Vec<u8>>, Box<Mistake>> {
        let mut out: Option<Vec<u8>> = None;
        let mut start = scanned.start;
        for mark in &scanned.marks {
            let slot = self.known.get(mark.name(text));
            let quoted = mark.place == Place::Quotation;
            let value = slot
                .filter(|slot| !quoted || !self.unasked.contains(slot))
                .and_then(|slot| self.variables[slot]);
            let Some(value) = value else {
                if quoted {
                    continue;
                }
                return Err(Box::new(unset(mark.at)));
            };
            let out = out.get_or_insert_default();
            out.extend_from_slice(&text[start..mark.at]);
            put_value(value, out);
            start = mark.end;
        }
        if let Some(out) = &mut out {
            out.extend_from_slice(&text[start..scanned.end]);
        }
        Ok(out)
    }
}

/// Whether the statement in a comment of versions is a SET: `/*!40101 SET NAMES utf8mb4 */`.
fn sets(sql: &[u8]) -> bool {
    let body = sql
        .strip_prefix(b"/*!")
        .or_else(|| sql.strip_prefix(b"/*M!"));
    body.is_some_and(|body| {
        let digits = body.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let words = body[digits..].trim_ascii_start();
        words
            .get(..4)
            .is_some_and(|word| word.eq_ignore_ascii_case(b"SET "))
    })
}

/// The database that psql's `\connect` leads to.
fn connects(line: &[u8], dialect: Dialect) -> Option<String> {
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.split_whitespace();
    let is_connect = matches!(words.next()?, "\\connect" | "\\c");
    let named = words.find(|word| !word.starts_with('-'))?;
    let quotes = ['"', '\''];
    let named = named.trim_matches(quotes);
    let named = named.strip_prefix("dbname=").unwrap_or(named);
    (is_connect && dialect == Dialect::Postgres).then(|| named.trim_matches(quotes).to_owned())
}
