//! PostgreSQL's log: as text, CSV or JSON, the same messages.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::io;
use std::sync::LazyLock;

use regex::bytes::Regex;
use serde::Deserialize;

use super::moment::{self, Moment, micros, pattern};
use super::prefix::{Prefix, severity};
use super::{
    Event, HALF_LINE, Inputs, LONGEST_BYTES, Sink, Statement, Unreadable, What, add_line, bind,
};
use crate::driver::Dialect;

/// A message with the lines that belong to it.
#[derive(Debug, Default)]
struct Message {
    line: u64,
    moment: Option<Moment>,
    session: Option<u64>,
    database: Option<Vec<u8>>,
    severity: &'static str,
    text: Vec<u8>,
    detail: Vec<u8>,
    statement: Vec<u8>,
}

/// Lines that are looked at to find the prefix.
const LINES_TRIED: usize = 2000;

pub(super) fn read_text(
    mut inputs: Inputs,
    prefix: Option<&str>,
    sink: &mut dyn Sink,
) -> Result<(), Unreadable> {
    let mut first = Vec::new();
    let mut line = Vec::new();
    let prefix = if let Some(text) = prefix {
        Prefix::new(text).map_err(Unreadable::Words)?
    } else {
        while first.len() < LINES_TRIED && inputs.next_line(&mut line)? {
            first.push(std::mem::take(&mut line));
        }
        Prefix::find(&first).ok_or_else(|| {
            let shown = first.iter().find(|line| severity(line).is_some());
            let shown = String::from_utf8_lossy(shown.map_or(&[], |line| &line[..line.len().min(80)]));
            Unreadable::Words(format!(
                "no usual log_line_prefix fits its lines ({shown:?}); say what the server has with --prefix, \
                 from SHOW log_line_prefix; lines that syslog has wrapped are not read"
            ))
        })?
    };
    let mut first = first.into_iter();
    let mut number = 0;
    let mut open: Option<Message> = None;
    // The part of the message that a line without a prefix continues.
    let mut part = "LOG";
    loop {
        if let Some(held) = first.next() {
            line = held;
        } else if !inputs.next_line(&mut line)? {
            break;
        }
        number += 1;
        let found = severity(&line).and_then(|(end, word, begins)| {
            Some((prefix.read(&line[..end])?, known(word), begins))
        });
        let Some((said, word, begins)) = found else {
            let Some(message) = &mut open else {
                sink.unread("a line that begins no message", number);
                continue;
            };
            let further = line.strip_prefix(b"\t").unwrap_or(&line);
            add_line(message.part(part), further);
            continue;
        };
        // With log_error_verbosity = verbose an SQLSTATE comes first.
        let text = &line[begins..];
        let text = match text.get(5..7) {
            Some(b": ")
                if text[..5]
                    .iter()
                    .all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase()) =>
            {
                &text[7..]
            }
            _ => text,
        };
        part = word;
        match word {
            "DETAIL" | "STATEMENT" | "HINT" => {
                if let Some(message) = &mut open {
                    message.part(word).extend_from_slice(text);
                }
            }
            _ => {
                if let Some(message) = open.take() {
                    message.understand(sink)?;
                }
                let session = said.session.map(key).or_else(|| {
                    let process = std::str::from_utf8(said.process?).ok()?;
                    process.parse().ok()
                });
                open = Some(Message {
                    line: number,
                    moment: said.moment,
                    session,
                    database: said.database.map(<[u8]>::to_vec),
                    severity: word,
                    text: text.to_vec(),
                    ..Message::default()
                });
            }
        }
    }
    if inputs.is_half && open.is_some() {
        sink.unread(HALF_LINE, number);
    } else if let Some(message) = open {
        message.understand(sink)?;
    }
    Ok(())
}

/// The columns of csvlog that are read (PostgreSQL 18, section 19.8.4).
mod column {
    pub(super) const TIME: usize = 0;
    pub(super) const DATABASE: usize = 2;
    pub(super) const SESSION: usize = 5;
    pub(super) const SEVERITY: usize = 11;
    pub(super) const MESSAGE: usize = 13;
    pub(super) const DETAIL: usize = 14;
    pub(super) const STATEMENT: usize = 19;
    /// PostgreSQL 8.4 has 22.
    pub(super) const FEWEST: usize = 20;
}

pub(super) fn is_csv(line: &[u8]) -> bool {
    let line = line.strip_prefix(b"\"").unwrap_or(line);
    let fields = line.split(|&byte| byte == b',').count();
    // Only the zone stands between the time and the first comma; text may have commas, too.
    let is_alone = |moment: Moment| {
        let comma = line[moment.bytes..].iter().position(|&byte| byte == b',');
        moment.step_us == 1000 && comma.is_some_and(|comma| comma <= 8)
    };
    moment::read(line).is_some_and(is_alone) && fields >= 12
}

pub(super) fn read_csv(inputs: Inputs, sink: &mut dyn Sink) -> Result<(), Unreadable> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(inputs);
    let mut record = csv::ByteRecord::new();
    while reader
        .read_byte_record(&mut record)
        .map_err(io::Error::other)?
    {
        reader.get_mut().left_bytes = LONGEST_BYTES;
        let line = record.position().map_or(0, csv::Position::line);
        if record.len() < column::FEWEST {
            sink.unread("a row with too few columns", line);
            continue;
        }
        let text = |at: usize| record[at].to_vec();
        let message = Message {
            line,
            moment: moment::read(&record[column::TIME]),
            session: Some(key(&record[column::SESSION])),
            database: Some(text(column::DATABASE)).filter(|name| !name.is_empty()),
            severity: known(&record[column::SEVERITY]),
            text: text(column::MESSAGE),
            detail: text(column::DETAIL),
            statement: text(column::STATEMENT),
        };
        message.understand(sink)?;
    }
    Ok(())
}

/// The keys of jsonlog that are read.
#[derive(Deserialize)]
struct JsonLine {
    timestamp: String,
    session_id: Option<String>,
    pid: Option<u64>,
    dbname: Option<String>,
    #[serde(default)]
    error_severity: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    detail: String,
    #[serde(default)]
    statement: String,
}

pub(super) fn read_json(mut inputs: Inputs, sink: &mut dyn Sink) -> Result<(), Unreadable> {
    let mut line = Vec::new();
    while inputs.next_line(&mut line)? {
        let Ok(read) = serde_json::from_slice::<JsonLine>(&line) else {
            sink.unread("a line that is no JSON of a message", inputs.line());
            continue;
        };
        let message = Message {
            line: inputs.line(),
            moment: moment::read(read.timestamp.as_bytes()),
            session: read.session_id.map(|id| key(id.as_bytes())).or(read.pid),
            database: read.dbname.map(String::into_bytes),
            severity: known(read.error_severity.as_bytes()),
            text: read.message.into_bytes(),
            detail: read.detail.into_bytes(),
            statement: read.statement.into_bytes(),
        };
        message.understand(sink)?;
    }
    Ok(())
}

fn known(severity: &[u8]) -> &'static str {
    match severity {
        b"LOG" => "LOG",
        b"ERROR" => "ERROR",
        b"DETAIL" => "DETAIL",
        b"STATEMENT" => "STATEMENT",
        b"HINT" | b"CONTEXT" | b"QUERY" | b"LOCATION" => "HINT",
        _ => "",
    }
}

/// A number that stands for a name.
pub(super) fn key(name: &[u8]) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(name)
}

impl Message {
    fn part(&mut self, word: &str) -> &mut Vec<u8> {
        match word {
            "DETAIL" => &mut self.detail,
            "STATEMENT" => &mut self.statement,
            "HINT" => {
                // Kept nowhere: the next part begins anew.
                self.detail.clear();
                &mut self.detail
            }
            _ => &mut self.text,
        }
    }

    fn understand(self, sink: &mut dyn Sink) -> io::Result<()> {
        let (Some(session), Some(at)) = (self.session, self.moment) else {
            sink.unread("a message without session or time", self.line);
            return Ok(());
        };
        let line = self.line;
        let Some(what) = self.what(sink) else {
            return Ok(());
        };
        sink.take(Event {
            session,
            at_us: at.us,
            step_us: at.step_us,
            what,
            line,
        })
    }

    fn what(mut self, sink: &mut dyn Sink) -> Option<What> {
        let text = std::mem::take(&mut self.text);
        if self.severity == "ERROR" {
            let sql = std::mem::take(&mut self.statement);
            return (!sql.is_empty()).then(|| {
                What::Statement(Statement {
                    sql,
                    failed: true,
                    is_further: true,
                    database: self.database,
                    ..Statement::default()
                })
            });
        }
        if self.severity != "LOG" {
            return None;
        }
        if text.starts_with(b"connection authorized: ") {
            return Some(What::Connect);
        }
        if text.starts_with(b"disconnection: ") {
            return Some(What::Quit);
        }
        if let Some(audited) = text.strip_prefix(b"AUDIT: ") {
            return self.audited(audited, sink);
        }
        let mut rest = &text[..];
        let mut duration_us = None;
        if let Some(after) = rest.strip_prefix(b"duration: ") {
            let end = after.windows(3).position(|own| own == b" ms")?;
            let ms: f64 = std::str::from_utf8(&after[..end]).ok()?.parse().ok()?;
            duration_us = micros(ms / 1e3);
            rest = after[end + 3..].trim_ascii_start();
            if rest.is_empty() {
                return duration_us.map(|us| What::Took { us });
            }
        }
        if let Some(sql) = rest.strip_prefix(b"statement: ") {
            return Some(What::Statement(Statement {
                sql: sql.to_vec(),
                database: self.database,
                duration_us,
                is_further: duration_us.is_some(),
                ..Statement::default()
            }));
        }
        if TRANSLATED.is_match(rest) {
            sink.unread("a message that is not in English (lc_messages)", self.line);
            return None;
        }
        if rest.starts_with(b"execute fetch from ") {
            sink.unread("a cursor's further rows", self.line);
            return None;
        }
        let executed = rest.strip_prefix(b"execute ")?;
        let sql = &executed[executed.windows(2).position(|own| own == b": ")? + 2..];
        let Some(sql) = with_parameters(sql, &self.detail) else {
            sink.unread(
                "a prepared statement whose parameters are not in the log",
                self.line,
            );
            return None;
        };
        Some(What::Statement(Statement {
            sql,
            database: self.database,
            duration_us,
            is_further: duration_us.is_some(),
            prepared: true,
            ..Statement::default()
        }))
    }

    /// pgaudit: `SESSION,1,1,READ,SELECT,TABLE,public.t,"SELECT …","5"`.
    fn audited(self, text: &[u8], sink: &mut dyn Sink) -> Option<What> {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .from_reader(text);
        let record = reader.byte_records().next()?.ok()?;
        let sql = record.get(7)?.to_vec();
        if sql.is_empty() || sql.starts_with(b"<previously logged>") {
            return None;
        }
        let has_values = record
            .get(8)
            .is_some_and(|values| !values.starts_with(b"<"));
        if has_values {
            sink.unread(
                "pgaudit's parameters, which do not say which value is which",
                self.line,
            );
            return None;
        }
        Some(What::Statement(Statement {
            sql,
            database: self.database,
            ..Statement::default()
        }))
    }
}

/// A duration in another language: `Dauer: 0.250 ms`.
static TRANSLATED: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s*[^: ]*\s*:\s*[\d.]{5,} ms"));

/// A parameter, quoted as it stands.
static PARAMETER: LazyLock<Regex> = LazyLock::new(|| pattern(r"\$\d+ = ('(?:[^']|'')*'|[^',]+)"));

/// Puts parameters, as `parameters: $1 = '5', $2 = NULL` has them, into a statement's text.
fn with_parameters(sql: &[u8], detail: &[u8]) -> Option<Vec<u8>> {
    let is_list = detail.len() > 10 && detail[1..].starts_with(b"arameters: ");
    let found = PARAMETER.captures_iter(if is_list { detail } else { b"" });
    let values: Vec<_> = found
        .filter_map(|found| Some(found.get(1)?.as_bytes().trim_ascii_end()))
        .collect();
    bind(sql, Dialect::Postgres, &values)
}
