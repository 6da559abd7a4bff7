//! The general log of MySQL and MariaDB: an entry is written when its statement begins, without a duration.

use std::collections::HashMap;
use std::io;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::moment::{self, Moment, number, pattern};
use super::postgres::key;
use super::{AS_TEXT, Bound, Event, HALF_LINE, Inputs, NO_SQL, Sink, Statement, What, add_line};
use crate::driver::Dialect;

/// An entry's time, its session, its command and the rest of its line.
type Head<'a> = (Option<Moment>, u64, &'a [u8], &'a [u8]);

const COMMANDS: &str = "Query|Execute|Prepare|Connect|Quit|Init DB|Close stmt|Reset stmt|Fetch|Field List|Ping|\
    Statistics|Change user|Refresh|Kill|Long Data|Set option|Binlog Dump GTID|Binlog Dump|Register Slave|\
    Reset connection|Shutdown";

/// `TIME<tab>   ID COMMAND<tab>ARGUMENT`; MariaDB leaves the time out where it is the last one's, and MySQL 5.0
/// has spaces before the argument.
static HEAD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r"^(?:({})\S*|\t| {{8}})\s*(\d+) ({COMMANDS})(?:\s+(.*))?$",
        moment::PATTERN
    ))
});

pub(super) fn begins_entry(line: &[u8]) -> bool {
    head(line).is_some()
}

fn head(line: &[u8]) -> Option<Head<'_>> {
    let found = HEAD.captures(line)?;
    let part = |at| found.get(at).map(|part| part.as_bytes());
    let moment = part(1).and_then(moment::read);
    let (session, argument) = (number(part(2)?)?, part(4).unwrap_or_default());
    Some((moment, session, part(3)?, argument))
}

/// A session's oldest texts are forgotten when there are more: texts of its own, or bytes of all sessions.
const MOST_TEXTS: usize = 1000;
const MOST_BYTES: usize = 64 << 20;

/// An entry, and its command.
type Entry = (Event, Vec<u8>);

/// What sessions have prepared.
#[derive(Default)]
struct Prepared {
    texts: HashMap<u64, Vec<Vec<u8>>>,
    bytes: usize,
}

impl Prepared {
    /// Hands on an entry that is whole; an execution is that of a statement which its session has prepared.
    fn hand_on(&mut self, (mut event, command): Entry, sink: &mut dyn Sink) -> io::Result<()> {
        let What::Statement(said) = &mut event.what else {
            return sink.take(event);
        };
        if command == b"Prepare" {
            let what = What::Prepared(key(&said.sql));
            let texts = self.texts.entry(event.session).or_default();
            let known = texts.iter().position(|known| *known == said.sql);
            self.bytes += said.sql.len() - known.map_or(0, |place| texts.remove(place).len());
            texts.push(std::mem::take(&mut said.sql));
            // Without this session's it was not more.
            while texts.len() > MOST_TEXTS || self.bytes > MOST_BYTES {
                self.bytes -= texts.remove(0).len();
            }
            return sink.take(Event { what, ..event });
        }
        if command == b"Execute" {
            let mut known = self.texts.get(&event.session).into_iter().flatten().rev();
            let bound = known.find_map(|text| Bound::read(text, &said.sql, Dialect::Mysql));
            // In a value it means what the log does not tell: sql_mode may have NO_BACKSLASH_ESCAPES.
            let parts = |sql: &[u8]| sql.split(|&byte| byte == b'\\').count();
            said.bound = bound.filter(|own| parts(&own.sql) == parts(&said.sql));
            said.key = said.bound.as_ref().map(|own| key(&own.sql));
            if said.bound.is_none() {
                sink.unread(AS_TEXT, event.line);
            }
        }
        sink.take(event)
    }
}

pub(super) fn read(mut inputs: Inputs, sink: &mut dyn Sink) -> io::Result<()> {
    let mut line = Vec::new();
    let mut now: Option<Moment> = None;
    let mut prepared = Prepared::default();
    let mut open: Option<Entry> = None;
    while inputs.next_line(&mut line)? {
        let Some((moment, session, command, argument)) = head(&line) else {
            match open.as_mut().map(|(event, _)| &mut event.what) {
                Some(What::Statement(statement)) => add_line(&mut statement.sql, &line),
                _ if now.is_some() => sink.unread("a line that begins no entry", inputs.line()),
                _ => {}
            }
            continue;
        };
        if let Some(open) = open.take() {
            prepared.hand_on(open, sink)?;
        }
        now = moment.or(now);
        let Some(now) = now else {
            sink.unread("an entry without a time", inputs.line());
            continue;
        };

        let what = match command {
            b"Query" | b"Execute" | b"Prepare" => What::Statement(Statement {
                sql: argument.to_vec(),
                ..Statement::default()
            }),
            b"Connect" => What::Connect,
            b"Quit" => What::Quit,
            b"Init DB" => choice_of(argument),
            b"Close stmt" | b"Reset stmt" | b"Ping" | b"Statistics" | b"Long Data" => continue,
            _ => {
                sink.unread(NO_SQL, inputs.line());
                continue;
            }
        };
        let event = |what| now.event(session, what, inputs.line());
        if matches!(what, What::Connect | What::Quit) {
            let texts = prepared.texts.remove(&session).unwrap_or_default();
            prepared.bytes -= texts.iter().map(Vec::len).sum::<usize>();
        }
        if what == What::Connect
            && let Some(database) = database_of(argument)
        {
            sink.take(event(What::Connect))?;
            open = Some((event(choice_of(database)), Vec::new()));
            continue;
        }
        open = Some((event(what), command.to_vec()));
    }
    if inputs.is_half && open.is_some() {
        sink.unread(HALF_LINE, inputs.line());
        return Ok(());
    }
    open.map_or(Ok(()), |open| prepared.hand_on(open, sink))
}

pub(super) fn choice_of(database: &[u8]) -> What {
    What::Statement(Statement {
        sql: [b"USE `", database, b"`"].concat(),
        database: Some(database.to_vec()),
        ..Statement::default()
    })
}

/// The database of `root@localhost on shop using Socket`.
fn database_of(argument: &[u8]) -> Option<&[u8]> {
    let on = argument.windows(4).position(|own| own == b" on ")? + 4;
    let rest = &argument[on..];
    let end = rest.windows(7).position(|own| own == b" using ");
    let name = rest[..end.unwrap_or(rest.len())].trim_ascii();
    (!name.is_empty()).then_some(name)
}
