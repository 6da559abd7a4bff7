//! PostgreSQL's log: as text, CSV or JSON, the same messages.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::io;
use std::sync::LazyLock;

use regex::bytes::Regex;
use serde_json::Value;

use super::moment::{self, Moment, micros, number, pattern};
use super::prefix::{Prefix, severity};
use super::{
    Bound, HALF_LINE, Inputs, LONGEST_BYTES, Sink, Statement, WITHOUT_VALUES, What, add_line, bind,
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
    hint: Vec<u8>,
    statement: Vec<u8>,
}

/// Lines that are looked at to find the prefix.
const LINES_TRIED: usize = 2000;

pub(super) fn read_text(
    mut inputs: Inputs,
    prefix: Option<&str>,
    sink: &mut dyn Sink,
) -> io::Result<()> {
    let mut first = Vec::new();
    let mut line = Vec::new();
    let prefix = if let Some(text) = prefix {
        Prefix::new(text).map_err(io::Error::other)?
    } else {
        while first.len() < LINES_TRIED && inputs.next_line(&mut line)? {
            first.push(std::mem::take(&mut line));
        }
        Prefix::find(&first).ok_or_else(|| {
            let shown = first.iter().find(|line| severity(line).is_some());
            let shown = String::from_utf8_lossy(shown.map_or(&[], |line| &line[..line.len().min(80)]));
            io::Error::other(format!(
                "no usual log_line_prefix fits its lines ({shown:?}); say what the server has with --prefix, \
                 from SHOW log_line_prefix; lines that syslog has wrapped are not read"
            ))
        })?
    };
    let mut first = first.into_iter();
    let mut line_number = 0;
    let mut open: Option<Message> = None;
    // The part of the message that a line without a prefix continues.
    let mut part = "LOG";
    loop {
        if let Some(held) = first.next() {
            line = held;
        } else if !inputs.next_line(&mut line)? {
            break;
        }
        line_number += 1;
        let found = severity(&line).and_then(|(end, word, begins)| {
            Some((prefix.read(&line[..end])?, known(word), begins))
        });
        let Some(((moment, session, database), word, begins)) = found else {
            let Some(message) = &mut open else {
                sink.unread("a line that begins no message", line_number);
                continue;
            };
            let further = line.strip_prefix(b"\t").unwrap_or(&line);
            add_line(message.part(part), further);
            continue;
        };
        // With log_error_verbosity = verbose an SQLSTATE comes first.
        let is_of_code = |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_uppercase();
        let text = match line[begins..].split_at_checked(5) {
            Some((code, [b':', b' ', text @ ..])) if code.iter().all(is_of_code) => text,
            _ => &line[begins..],
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
                open = Some(Message {
                    line: line_number,
                    moment,
                    session,
                    database: database.map(<[u8]>::to_vec),
                    severity: word,
                    text: text.to_vec(),
                    ..Message::default()
                });
            }
        }
    }
    if inputs.is_half && open.is_some() {
        sink.unread(HALF_LINE, line_number);
    } else if let Some(message) = open {
        message.understand(sink)?;
    }
    Ok(())
}

/// PostgreSQL 8.4 has 22.
const FEWEST_COLUMNS: usize = 20;

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

pub(super) fn read_csv(inputs: Inputs, sink: &mut dyn Sink) -> io::Result<()> {
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
        if record.len() < FEWEST_COLUMNS {
            sink.unread("a row with too few columns", line);
            continue;
        }
        // The columns of PostgreSQL 18, section 19.8.4.
        let text = |at: usize| record[at].to_vec();
        let message = Message {
            line,
            moment: moment::read(&record[0]),
            session: Some(key(&record[5])),
            database: Some(text(2)).filter(|name| !name.is_empty()),
            severity: known(&record[11]),
            text: text(13),
            detail: text(14),
            statement: text(19),
            ..Message::default()
        };
        message.understand(sink)?;
    }
    Ok(())
}

pub(super) fn read_json(mut inputs: Inputs, sink: &mut dyn Sink) -> io::Result<()> {
    let mut line = Vec::new();
    while inputs.next_line(&mut line)? {
        let Ok(read) = serde_json::from_slice::<HashMap<String, Value>>(&line) else {
            sink.unread("a line that is no JSON of a message", inputs.line());
            continue;
        };
        let text = |name: &str| read.get(name).and_then(Value::as_str).map(str::as_bytes);
        let owned = |name: &str| text(name).unwrap_or_default().to_vec();
        let message = Message {
            line: inputs.line(),
            moment: moment::read(&owned("timestamp")),
            session: text("session_id")
                .map(key)
                .or_else(|| read.get("pid")?.as_u64()),
            database: text("dbname").map(<[u8]>::to_vec),
            severity: known(&owned("error_severity")),
            text: owned("message"),
            detail: owned("detail"),
            statement: owned("statement"),
            ..Message::default()
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

/// A number that stands for a name, or a text.
pub(super) fn key(name: &[u8]) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(name)
}

impl Message {
    fn part(&mut self, word: &str) -> &mut Vec<u8> {
        match word {
            "DETAIL" => &mut self.detail,
            "STATEMENT" => &mut self.statement,
            "HINT" => &mut self.hint,
            _ => &mut self.text,
        }
    }

    fn understand(self, sink: &mut dyn Sink) -> io::Result<()> {
        let (Some(session), Some(at)) = (self.session, self.moment) else {
            sink.unread("a message without session or time", self.line);
            return Ok(());
        };
        let line = self.line;
        match self.what(sink) {
            Some(what) => sink.take(at.event(session, what, line)),
            None => Ok(()),
        }
    }

    fn what(self, sink: &mut dyn Sink) -> Option<What> {
        let said = |sql, duration_us: Option<u64>| Statement {
            sql,
            database: self.database,
            duration_us,
            is_further: duration_us.is_some(),
            ..Statement::default()
        };
        let mut rest = &self.text[..];
        if self.severity == "ERROR" && !self.statement.is_empty() {
            return Some(What::Statement(Statement {
                failed: true,
                is_further: true,
                ..said(self.statement, None)
            }));
        }
        if self.severity != "LOG" {
            return None;
        }
        if rest.starts_with(b"connection authorized: ") {
            return Some(What::Connect);
        }
        if rest.starts_with(b"disconnection: ") {
            return Some(What::Quit);
        }
        if let Some(audited) = rest.strip_prefix(b"AUDIT: ") {
            let sql = statement_audited(audited, self.line, sink)?;
            return Some(What::Statement(said(sql, None)));
        }
        let mut duration_us = None;
        if let Some(after) = rest.strip_prefix(b"duration: ") {
            let end = after.windows(3).position(|own| own == b" ms")?;
            duration_us = micros(number::<f64>(&after[..end])? / 1e3);
            rest = after[end + 3..].trim_ascii_start();
            if rest.is_empty() {
                return duration_us.map(|us| What::Took { us });
            }
        }
        if let Some(sql) = rest.strip_prefix(b"statement: ") {
            return Some(What::Statement(said(sql.to_vec(), duration_us)));
        }
        if TRANSLATED.is_match(rest) {
            sink.unread("a message that is not in English (lc_messages)", self.line);
            return None;
        }
        if rest.starts_with(b"execute fetch from ") {
            sink.unread("a cursor's further rows", self.line);
            return None;
        }
        let parsed = rest.strip_prefix(b"parse ");
        let named = parsed.or_else(|| rest.strip_prefix(b"execute "))?;
        let end = named.windows(2).position(|own| own == b": ")?;
        let (name, sql) = (&named[..end], &named[end + 2..]);
        // Behind a statement's name there may be that of its portal.
        let key = key(name.split(|&byte| byte == b'/').next()?);
        if parsed.is_some() {
            return Some(What::Prepared(key));
        }
        let values = values_in(&self.detail);
        let Some(text) = bind(sql, Dialect::Postgres, &values) else {
            sink.unread(WITHOUT_VALUES, self.line);
            return None;
        };
        // Without a name it was planned anew, as its text is.
        let has_name = !name.starts_with(b"<unnamed>");
        let bound = has_name.then(|| Bound::new(sql, &values, Dialect::Postgres));
        Some(What::Statement(Statement {
            bound: bound.flatten(),
            key: Some(key),
            ..said(text, duration_us)
        }))
    }
}

/// pgaudit: `SESSION,1,1,READ,SELECT,TABLE,public.t,"SELECT …","5"`.
fn statement_audited(text: &[u8], line: u64, sink: &mut dyn Sink) -> Option<Vec<u8>> {
    let mut reader = csv::ReaderBuilder::new();
    let mut reader = reader.has_headers(false).from_reader(text);
    let record = reader.byte_records().next()?.ok()?;
    let sql = record.get(7)?;
    if sql.is_empty() || sql.starts_with(b"<previously logged>") {
        return None;
    }
    let values = record.get(8);
    if values.is_some_and(|values| !values.starts_with(b"<")) {
        let reason = "pgaudit's parameters, which do not say which value is which";
        sink.unread(reason, line);
        return None;
    }
    Some(sql.to_vec())
}

/// A duration in another language: `Dauer: 0.250 ms`.
static TRANSLATED: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s*[^: ]*\s*:\s*[\d.]{5,} ms"));

/// A parameter, quoted as it stands.
static PARAMETER: LazyLock<Regex> = LazyLock::new(|| pattern(r"\$\d+ = ('(?:[^']|'')*'|[^',]+)"));

/// The values that `parameters: $1 = '5', $2 = NULL` has.
fn values_in(detail: &[u8]) -> Vec<&[u8]> {
    let is_list = detail.len() > 10 && detail[1..].starts_with(b"arameters: ");
    let found = PARAMETER.captures_iter(if is_list { detail } else { b"" });
    found
        .filter_map(|found| Some(found.get(1)?.as_bytes().trim_ascii_end()))
        .collect()
}
