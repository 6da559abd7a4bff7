//! Audit logs of MySQL and Percona Server: a record is written when its statement has ended, in whole seconds.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::LazyLock;

use regex::bytes::{Captures, Regex};
use serde_json::Value;

use super::general::choice_of;
use super::moment::{self, micros, pattern};
use super::{HALF_LINE, Inputs, KEPT_BYTES, Sink, Statement, TOO_LONG, What, add_line};

/// The parts of a record, by their names in small letters.
type Parts = HashMap<String, Vec<u8>>;

/// Gives records their meaning.
#[derive(Default)]
struct Reader {
    /// Sessions whose statement has been told of when it began, as Percona's filter has it: its end follows.
    begun: HashSet<u64>,
}

impl Reader {
    fn take(&mut self, parts: &Parts, line: u64, sink: &mut dyn Sink) -> io::Result<()> {
        let part = |name: &str| parts.get(name).map_or(&b""[..], |part| part);
        let word = |name: &str| std::str::from_utf8(part(name)).unwrap_or_default();
        // Percona's plugin has all in one; the filters have an object for each class of things.
        let name = match (part("class"), part("event")) {
            (b"general", b"status") => word("command"),
            (b"connection", _) => word("event"),
            (b"", _) => word("name"),
            _ => return Ok(()),
        };
        let (Ok(session), Some(moment)) = (
            word("connection_id").parse(),
            moment::read(part("timestamp")),
        ) else {
            // Of the server.
            return Ok(());
        };
        let (failed, sql) = (!matches!(word("status"), "" | "0"), part("sqltext"));
        let sql = if sql.is_empty() { part("query") } else { sql };
        let database = Some(part("db").to_vec()).filter(|name| !name.is_empty());
        let mut whats = Vec::new();
        match name.to_ascii_lowercase().replace('_', " ").as_str() {
            "connect" | "change user" => {
                whats.push(What::Connect);
                whats.extend(database.filter(|_| !failed).map(|name| choice_of(&name)));
            }
            "quit" | "disconnect" => {
                self.begun.remove(&session);
                whats.push(What::Quit);
            }
            "query start" => drop(self.begun.insert(session)),
            "init db" if !failed && !sql.is_empty() => whats.push(choice_of(sql)),
            "query" | "execute" if sql.is_empty() => {
                sink.unread("a record without its statement", line);
            }
            "query" | "execute" => {
                let is_further = self.begun.remove(&session);
                if failed || !is_further {
                    whats.push(What::Statement(Statement {
                        sql: sql.to_vec(),
                        database,
                        duration_us: word("query_time").parse().ok().and_then(micros),
                        rows: word("rows_sent").parse().ok(),
                        failed,
                        is_further,
                        ..Statement::default()
                    }));
                }
            }
            _ => {}
        }
        whats
            .into_iter()
            .try_for_each(|what| sink.take(moment.event(session, what, line)))
    }
}

/// An element, as the new style has them, and an attribute of the old one.
static ELEMENT: LazyLock<Regex> = LazyLock::new(|| pattern(r"<([A-Z_]+)>([^<]*)</"));
static ATTRIBUTE: LazyLock<Regex> = LazyLock::new(|| pattern(r#"\s([A-Z_]+)="([^"]*)""#));
static ESCAPE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"&(?:#(\d+)|#x([0-9A-Fa-f]+)|(lt|gt|amp|quot|apos));"));

pub(super) fn is_xml(line: &[u8]) -> bool {
    line.trim_ascii_start().starts_with(b"<AUDIT_RECORD")
}

pub(super) fn read_xml(mut inputs: Inputs, sink: &mut dyn Sink) -> io::Result<()> {
    let mut reader = Reader::default();
    let (mut line, mut text, mut begins_at) = (Vec::new(), Vec::new(), 0);
    while inputs.next_line(&mut line)? {
        if is_xml(&line) {
            if !text.is_empty() {
                sink.unread(HALF_LINE, begins_at);
            }
            begins_at = inputs.line();
            text = line.trim_ascii_start().to_vec();
        } else if !text.is_empty() {
            add_line(&mut text, &line);
        }
        let is_new_style = text.starts_with(b"<AUDIT_RECORD>");
        let end: &[u8] = if is_new_style {
            b"</AUDIT_RECORD>"
        } else {
            b"/>"
        };
        if !text.is_empty() && line.trim_ascii_end().ends_with(end) {
            let found = if is_new_style { &ELEMENT } else { &ATTRIBUTE };
            let parts = found.captures_iter(&text).map(|found| {
                let (_, [name, value]) = found.extract();
                let name = String::from_utf8_lossy(name).to_ascii_lowercase();
                (name, ESCAPE.replace_all(value, plain).into_owned())
            });
            reader.take(&parts.collect(), begins_at, sink)?;
            text.clear();
        }
    }
    if !text.is_empty() {
        sink.unread(HALF_LINE, begins_at);
    }
    Ok(())
}

/// What an escape of XML stands for.
fn plain(found: &Captures<'_>) -> Vec<u8> {
    let digits = |at: usize, base| {
        let digits = std::str::from_utf8(found.get(at)?.as_bytes()).ok()?;
        char::from_u32(u32::from_str_radix(digits, base).ok()?)
    };
    let letter = match &found[0] {
        b"&lt;" => '<',
        b"&gt;" => '>',
        b"&amp;" => '&',
        b"&quot;" => '"',
        b"&apos;" => '\'',
        _ => digits(1, 10).or_else(|| digits(2, 16)).unwrap_or('?'),
    };
    letter.to_string().into_bytes()
}

pub(super) fn is_json(head: &[u8]) -> bool {
    let head = head.trim_ascii_start();
    let has = |part: &[u8]| head.windows(part.len()).any(|own| own == part);
    let has_classes = || head.starts_with(b"[") && has(b"\"class\"") && has(b"\"timestamp\"");
    head.starts_with(b"{\"audit_record\"") || has_classes()
}

/// Reads objects, in an array or not, each in one line or several.
pub(super) fn read_json(mut inputs: Inputs, sink: &mut dyn Sink) -> io::Result<()> {
    const NO_JSON: &str = "a record that is no JSON";
    let mut reader = Reader::default();
    let (mut line, mut text, mut begins_at) = (Vec::new(), Vec::new(), 0);
    let (mut depth, mut in_string, mut is_escaped) = (0_u32, false, false);
    while inputs.next_line(&mut line)? {
        for &byte in &line {
            match byte {
                b'"' if !is_escaped => in_string = !in_string,
                b'{' if !in_string => depth += 1,
                b'}' if !in_string => depth = depth.saturating_sub(1),
                _ => {}
            }
            is_escaped = in_string && byte == b'\\' && !is_escaped;
            if text.is_empty() {
                begins_at = inputs.line();
            }
            if (depth > 0 || byte == b'}') && text.len() < KEPT_BYTES {
                text.push(byte);
            }
            if depth == 0 && !text.is_empty() {
                match serde_json::from_slice(&text) {
                    Ok(value) => {
                        let mut parts = Parts::new();
                        gather(value, "", &mut parts);
                        reader.take(&parts, begins_at, sink)?;
                    }
                    Err(_) if text.len() < KEPT_BYTES => sink.unread(NO_JSON, begins_at),
                    Err(_) => sink.unread(TOO_LONG, begins_at),
                }
                text.clear();
            }
        }
        // No string of JSON goes over the end of a line.
        if std::mem::take(&mut in_string) {
            sink.unread(if inputs.is_half { HALF_LINE } else { NO_JSON }, begins_at);
            text.clear();
            depth = 0;
        }
    }
    if !text.is_empty() {
        sink.unread(HALF_LINE, begins_at);
    }
    Ok(())
}

/// Puts down all that an object has, and those in it.
fn gather(value: Value, name: &str, parts: &mut Parts) {
    let text = match value {
        Value::Object(all) => {
            // Attributes have the names that clients give them.
            all.into_iter()
                .filter(|(name, _)| !name.ends_with("attributes"))
                .for_each(|(name, value)| gather(value, &name, parts));
            return;
        }
        Value::String(text) => text,
        other => other.to_string(),
    };
    parts.insert(name.to_owned(), text.into_bytes());
}
