//! MariaDB's `server_audit`: an entry is a line, written when its statement has ended, without a duration and
//! in whole seconds.

use std::io;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::bind::unquoted;
use super::moment::{self, number, pattern};
use super::{HALF_LINE, Inputs, Sink, Statement, What};
use crate::driver::Dialect;
use crate::workload::sql::{What as Token, Words};

/// `TIME,SERVER,USER,HOST,CONNECTION,QUERY,OPERATION,DATABASE,OBJECT,CODE`; the object of a query is its text.
static ENTRY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^\d{8} \d\d:\d\d:\d\d,[^,]*,[^,]*,[^,]*,(\d+),\d+,([A-Z_]+),([^,]*),(?:'(.*)'|[^']*),(\d*)(?:,[^',]*)*\r?$",
    )
});

/// Texts of these lengths reached `server_audit_query_log_limit`: as it is by default, and as texts show that the server
/// executed although they have no end.
struct Cuts {
    lengths: Vec<RangeInclusive<usize>>,
    longest: usize,
}

impl Cuts {
    fn has(&mut self, text: &[u8], sql: &[u8], is_done: bool) -> bool {
        /// An escape or a letter that did not fit is left out whole.
        const LEFT_OUT_BYTES: usize = 2;
        /// The limit has been set so often.
        const MOST: usize = 16;
        let length = text.len();
        let is_known = |cuts: &Self| cuts.lengths.iter().any(|known| known.contains(&length));
        // Of cut texts none is much longer than the others.
        let may_teach = is_done && length + LEFT_OUT_BYTES >= self.longest;
        self.longest = self.longest.max(length);
        if may_teach && self.lengths.len() < MOST && !is_known(self) && has_no_end(sql) {
            let shortest = length.saturating_sub(LEFT_OUT_BYTES);
            self.lengths.push(shortest..=length + LEFT_OUT_BYTES);
        }
        is_known(self)
    }
}

/// Whether a string, a parenthesis or an expression goes on behind the text.
fn has_no_end(sql: &[u8]) -> bool {
    let (mut depth, mut last) = (0_i64, None);
    for word in Words::new(sql, Dialect::Mysql) {
        depth += i64::from(word.is("(")) - i64::from(word.is(")"));
        last = Some(word.what);
    }
    depth > 0
        || match last {
            Some(Token::Text(text)) => text.len() < 2 || text.first() != text.last(),
            Some(Token::Mark(mark)) => b"=<>,+-.".contains(&mark),
            _ => false,
        }
}

pub(super) fn is_entry(line: &[u8]) -> bool {
    ENTRY.is_match(line)
}

pub(super) fn read(mut inputs: Inputs, sink: &mut dyn Sink) -> io::Result<()> {
    let mut line = Vec::new();
    let mut cuts = Cuts {
        lengths: vec![1022..=1024],
        longest: 0,
    };
    while inputs.next_line(&mut line)? {
        let Some(found) = ENTRY.captures(&line) else {
            let whole = "a line that is no entry";
            let reason = if inputs.is_half { HALF_LINE } else { whole };
            sink.unread(reason, inputs.line());
            continue;
        };
        let part = |at| found.get(at).map_or(&b""[..], |part| part.as_bytes());
        let (Some(moment), Some(session)) = (moment::read(&line), number(part(1))) else {
            sink.unread("an entry without a time", inputs.line());
            continue;
        };
        let what = match part(2) {
            b"CONNECT" => What::Connect,
            b"DISCONNECT" => What::Quit,
            b"QUERY" => {
                let (sql, failed) = (unquoted(part(4), b"\\"), part(5) != b"0");
                if cuts.has(part(4), &sql, !failed) {
                    let reason = "a statement cut short (server_audit_query_log_limit)";
                    sink.unread(reason, inputs.line());
                    continue;
                }
                What::Statement(Statement {
                    sql,
                    database: Some(part(3).to_vec()).filter(|name| !name.is_empty()),
                    failed,
                    ..Statement::default()
                })
            }
            // Of the tables that a statement uses.
            _ => continue,
        };
        sink.take(moment.event(session, what, inputs.line()))?;
    }
    Ok(())
}
