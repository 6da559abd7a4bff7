//! The slow log of MySQL, MariaDB and Percona Server: an entry is written when its statement ends.

use std::io;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::moment::{self, Moment, micros, pattern};
use super::{HALF_LINE, Inputs, NO_SQL, Sink, Statement, What, add_line};

/// When entries were written.
#[derive(Default)]
struct Clock {
    /// As `# Time:` has it.
    time: Option<Moment>,
    last_us: i64,
}

/// What has been read of an entry.
#[derive(Default)]
struct Entry {
    session: Option<u64>,
    statement: Statement,
    sql: Vec<u8>,
    has_times: bool,
    command: Option<Vec<u8>>,
    line: u64,
}

pub(super) fn read(mut inputs: Inputs, sink: &mut dyn Sink) -> io::Result<()> {
    let mut line = Vec::new();
    let mut entry = Entry::default();
    let mut clock = Clock::default();
    let mut database: Option<Vec<u8>> = None;
    while inputs.next_line(&mut line)? {
        if entry.has_times && BEGIN.is_match(&line) {
            std::mem::take(&mut entry).finish(&mut clock, &mut database, sink)?;
        }
        if let Some(time) = line.strip_prefix(b"# Time: ") {
            clock.time = moment::read(time.trim_ascii_start()).or(clock.time);
        } else if line.starts_with(b"# administrator command: ") {
            let command = line["# administrator command: ".len()..].trim_ascii();
            entry.command = Some(command.strip_suffix(b";").unwrap_or(command).to_vec());
        } else if (line.starts_with(b"# ") || line == b"#")
            && (!entry.has_times || entry.sql.is_empty())
        {
            if entry.line == 0 {
                entry.line = inputs.line();
            }
            entry.take_head(&line);
        } else if entry.has_times {
            if is_banner(&line) {
                std::mem::take(&mut entry).finish(&mut clock, &mut database, sink)?;
                continue;
            }
            if entry.sql.is_empty() {
                entry.sql.clone_from(&line);
            } else {
                add_line(&mut entry.sql, &line);
            }
        } else if !is_banner(&line) && !line.is_empty() {
            sink.unread("a line before the head of its entry", inputs.line());
        }
    }
    if entry.has_times {
        if inputs.is_half && !entry.sql.ends_with(b";") {
            sink.unread(HALF_LINE, entry.line);
        } else {
            entry.finish(&mut clock, &mut database, sink)?;
        }
    }
    Ok(())
}

/// What a server writes when it opens its log.
fn is_banner(line: &[u8]) -> bool {
    line.starts_with(b"Tcp port: ")
        || line.starts_with(b"TCP Port: ")
        || (line.starts_with(b"Time") && line.ends_with(b"Argument"))
        || line.ends_with(b" started with:")
}

impl Entry {
    fn take_head(&mut self, line: &[u8]) {
        let fields = &mut self.statement;
        for found in FIELD.captures_iter(line) {
            let (_, [name, value]) = found.extract();
            let text = std::str::from_utf8(value).unwrap_or_default();
            let number = text.parse::<u64>().ok();
            match name {
                b"Id" | b"Thread_id" => self.session = number.or(self.session),
                b"Query_time" => {
                    fields.duration_us = text.parse().ok().and_then(micros);
                    self.has_times = true;
                }
                b"Rows_sent" => fields.rows = number.or(fields.rows),
                b"Rows_affected" => fields.affected = number.or(fields.affected),
                b"Errno" | b"Last_errno" => {
                    fields.failed |= number.is_some_and(|error| error != 0);
                }
                b"Schema" if !value.is_empty() => fields.database = Some(value.to_vec()),
                _ => {}
            }
        }
    }

    fn finish(
        self,
        clock: &mut Clock,
        last: &mut Option<Vec<u8>>,
        sink: &mut dyn Sink,
    ) -> io::Result<()> {
        let mut sql = &self.sql[..];
        let mut stamp = None;
        // The server writes these two before the statement, which may be such a one itself.
        loop {
            let (line, rest) = first_line(sql);
            if let Some(name) = strip_word(line, b"use ") {
                let name = name.strip_suffix(b";").unwrap_or(name).trim_ascii();
                *last = Some(
                    name.strip_prefix(b"`")
                        .map_or(name, |name| name.strip_suffix(b"`").unwrap_or(name))
                        .to_vec(),
                );
                if rest.is_empty() && self.command.is_none() {
                    break;
                }
            } else if let Some(seconds) = stamp_of(line).filter(|_| stamp.is_none()) {
                stamp = moment::epoch(seconds);
            } else {
                break;
            }
            sql = rest;
        }
        let sql = sql.trim_ascii();
        let sql = sql.strip_suffix(b";").unwrap_or(sql).to_vec();
        let Some(session) = self.session else {
            sink.unread(
                "an entry without its session's number (MySQL before 5.6)",
                self.line,
            );
            return Ok(());
        };
        let ended = |stamp: Moment| {
            let us = stamp.us + self.statement.duration_us.unwrap_or(0).cast_signed();
            let us = us - us.rem_euclid(stamp.step_us);
            Moment {
                us: us.max(clock.last_us),
                ..stamp
            }
        };
        let at = match clock.time {
            Some(time) if time.step_us == 1 => Some(time),
            // MariaDB writes the time, in its own zone, where a second begins; the stamp is in every entry.
            time => stamp.map(ended).or(time),
        };
        let Some(at) = at else {
            sink.unread("an entry without a time", self.line);
            return Ok(());
        };
        clock.last_us = at.us;
        let what = match self.command.as_deref() {
            Some(b"Quit") => What::Quit,
            Some(b"Connect") => What::Connect,
            // The statement is logged, with its values, when it is executed.
            Some(b"Prepare") => {
                let reason = "a preparation that does not say of what: it is replayed as text";
                sink.unread(reason, self.line);
                return Ok(());
            }
            Some(b"Close stmt" | b"Reset stmt" | b"Ping" | b"Init DB") => return Ok(()),
            command if sql.is_empty() => {
                let is_command = command.is_some();
                let no_statement = "an entry without its statement";
                sink.unread(if is_command { NO_SQL } else { no_statement }, self.line);
                return Ok(());
            }
            _ => What::Statement(Statement {
                sql,
                database: self.statement.database.or_else(|| last.clone()),
                ..self.statement
            }),
        };
        sink.take(at.event(session, what, self.line))
    }
}

/// Without `User@Host` with `log_short_format`.
static BEGIN: LazyLock<Regex> =
    LazyLock::new(|| pattern("^# (?:Time|User@Host|Thread_id|Query_time): "));

/// A name such as `Rows_sent` and the word after it, which is empty if another name follows.
static FIELD: LazyLock<Regex> = LazyLock::new(|| pattern(r"([A-Z]\w*): *([^\s:]*)(?:\s|$)"));

fn first_line(text: &[u8]) -> (&[u8], &[u8]) {
    match text.iter().position(|&byte| byte == b'\n') {
        Some(end) => (&text[..end], &text[end + 1..]),
        None => (text, b""),
    }
}

/// The instant of `SET timestamp=1764324921;`, or of `SET insert_id=7,timestamp=1764324921;`.
fn stamp_of(line: &[u8]) -> Option<&[u8]> {
    let set = strip_word(line, b"SET ")?;
    let known: [&[u8]; 3] = [b"timestamp=", b"insert_id=", b"last_insert_id="];
    if !known.iter().any(|name| set.starts_with(name)) {
        return None;
    }
    let mut parts = set.split(|&byte| byte == b',');
    parts.find_map(|part| part.strip_prefix(b"timestamp="))
}

fn strip_word<'a>(line: &'a [u8], word: &[u8]) -> Option<&'a [u8]> {
    let begins = line.get(..word.len())?.eq_ignore_ascii_case(word);
    (begins && line.ends_with(b";")).then(|| &line[word.len()..])
}
