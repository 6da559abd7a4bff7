//! MariaDB's `server_audit`: an entry is a line, written when its statement has ended, without a duration and
//! in whole seconds.

use std::io;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::moment::{self, pattern};
use super::{Event, HALF_LINE, Inputs, Sink, Statement, What};

/// `TIME,SERVER,USER,HOST,CONNECTION,QUERY,OPERATION,DATABASE,OBJECT,CODE`; the object of a query is its text.
static ENTRY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^\d{8} \d\d:\d\d:\d\d,[^,]*,[^,]*,[^,]*,(\d+),\d+,([A-Z_]+),([^,]*),(?:'(.*)'|[^']*),(\d*)(?:,[^',]*)*\r?$",
    )
});

/// A text of so many bytes reached `server_audit_query_log_limit` as it is by default.
const CUT_BYTES: RangeInclusive<usize> = 1022..=1024;

pub(super) fn is_entry(line: &[u8]) -> bool {
    ENTRY.is_match(line)
}

pub(super) fn read(mut inputs: Inputs, sink: &mut dyn Sink) -> io::Result<()> {
    let mut line = Vec::new();
    while inputs.next_line(&mut line)? {
        let Some(found) = ENTRY.captures(&line) else {
            let half = inputs.is_half;
            let reason = if half {
                HALF_LINE
            } else {
                "a line that is no entry"
            };
            sink.unread(reason, inputs.line());
            continue;
        };
        let part = |at| found.get(at).map_or(&b""[..], |part| part.as_bytes());
        let number = std::str::from_utf8(part(1))
            .ok()
            .and_then(|digits| digits.parse().ok());
        let (Some(moment), Some(session)) = (moment::read(&line), number) else {
            sink.unread("an entry without a time", inputs.line());
            continue;
        };
        let what = match part(2) {
            b"CONNECT" => What::Connect,
            b"DISCONNECT" => What::Quit,
            b"QUERY" if CUT_BYTES.contains(&part(4).len()) => {
                sink.unread(
                    "a statement cut short (server_audit_query_log_limit)",
                    inputs.line(),
                );
                continue;
            }
            b"QUERY" => What::Statement(Statement {
                sql: unescaped(part(4)),
                database: Some(part(3).to_vec()).filter(|name| !name.is_empty()),
                failed: part(5) != b"0",
                ..Statement::default()
            }),
            // Of the tables that a statement uses.
            _ => continue,
        };
        sink.take(Event {
            session,
            at_us: moment.us,
            step_us: moment.step_us,
            what,
            line: inputs.line(),
        })?;
    }
    Ok(())
}

fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut bytes = text.iter();
    let mut plain = Vec::with_capacity(text.len());
    while let Some(&byte) = bytes.next() {
        let escaped = if byte == b'\\' { bytes.next() } else { None };
        plain.push(match escaped {
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(&other) => other,
            None => byte,
        });
    }
    plain
}
