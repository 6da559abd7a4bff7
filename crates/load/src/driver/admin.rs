//! A session that waits for each reply: for tables, loading and questions, which are not timed.

use std::io::Write;
use std::task::Poll;
use std::time::{Duration, Instant};

use super::patience::{Alone, no_reply, open_and_wait};
use super::rows::{Keep, Rows};
use super::socket::Stream;
use super::{
    Admin, Arg, Args, Fault, Lines, MOST_ANSWER_BYTES, QUESTION_LIMIT, Reply, Session, Unreadable,
    protocol,
};

/// Rows are sent in pieces of about this size; larger ones load no faster.
const CHUNK_BYTES: usize = 128 << 10;

/// How long a reply that has begun may pause if its statement has no limit: a server works first,
/// and answers then.
const PAUSE_LIMIT: Duration = Duration::from_secs(60);

/// What a family's administration does beyond a session.
pub(super) trait Bulk: Session + Sized + 'static {
    /// A question for the server's version, and the words before the answer.
    const VERSION: (&'static str, &'static str);

    fn stream(&mut self) -> &mut Stream;

    /// What the server makes of the offer of rows.
    fn offer(&mut self) -> &mut Offer;

    /// Sends some of the rows. None end them: the statement's reply follows.
    fn submit_rows(&mut self, rows: &[u8]) -> Result<(), Fault>;

    /// [`Admin::load`].
    fn load(
        admin: &mut SessionAdmin<Self>,
        table: &str,
        columns: &[&str],
        next_row: NextRow<'_>,
    ) -> Result<u64, Fault>;

    /// The statement of [`Admin::settle`].
    fn settling(_table: &str) -> Option<String> {
        None
    }
}

/// Rows that the statement under way may ask for. Its reply pauses when the server does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Offer {
    #[default]
    Nothing,
    Made,
    Accepted,
}

impl Offer {
    pub(super) fn accepted(self) -> Result<(), Fault> {
        match self {
            Self::Accepted => Ok(()),
            _ => Err(protocol("an answer without a request for the rows")),
        }
    }
}

pub(super) type NextRow<'a> = &'a mut dyn FnMut(&mut Args) -> bool;

pub(super) struct SessionAdmin<S> {
    alone: Alone<S>,
    limit: Option<Duration>,
    work_limit: Option<Duration>,
    /// When the statement under way must be over.
    end: Option<Instant>,
}

impl<S: Bulk> SessionAdmin<S> {
    /// Opens the session, and logs in.
    pub(super) fn log_in(
        open: impl Fn() -> Result<S, Fault>,
        work_limit: Option<Duration>,
    ) -> Result<Box<dyn Admin>, Fault> {
        let session = open_and_wait(|| {
            let mut session = open()?;
            session.keep_rows(Keep {
                prepared: false,
                ..Keep::ALL
            });
            Ok(session)
        })?;
        Ok(Box::new(Self {
            alone: Alone::new(session)?,
            limit: Some(QUESTION_LIMIT),
            work_limit,
            end: None,
        }))
    }

    fn ask(&mut self, sql: &[u8], offer: Offer) -> Result<Reply, Fault> {
        self.end = self.limit.map(|limit| Instant::now() + limit);
        let session = &mut self.alone.session;
        // Who floods us never makes us wait.
        session.stream().end_reading_at(self.end);
        if self.end.is_none() {
            session.stream().limit_pauses(PAUSE_LIMIT);
        }
        session.submit_text(sql)?;
        *session.offer() = offer;
        self.wait(sql, S::poll)
    }

    fn wait<T>(
        &mut self,
        sql: &[u8],
        mut step: impl FnMut(&mut S) -> Poll<Result<T, Fault>>,
    ) -> Result<T, Fault> {
        loop {
            let end = self.end.or(self.alone.session.stream().reading_ends());
            let look_again = Instant::now() + PAUSE_LIMIT;
            if let Some(outcome) = self.alone.wait(Some(end.unwrap_or(look_again)), &mut step) {
                return outcome;
            }
            if end.is_some() && end == self.end.or(self.alone.session.stream().reading_ends()) {
                return Err(no_reply(sql, self.limit.unwrap_or(PAUSE_LIMIT)));
            }
        }
    }

    /// Sends rows after a statement, as `fill` gives them, until it gives none or the server refuses
    /// some: a full disk is reported when it is full, not after the last row.
    fn copy(
        &mut self,
        sql: &[u8],
        mut fill: impl FnMut(&mut Vec<u8>) -> Result<(), Fault>,
    ) -> Result<Reply, Fault> {
        self.ask(sql, Offer::Made)?;
        let mut chunk = Vec::with_capacity(CHUNK_BYTES + 1024);
        loop {
            chunk.clear();
            fill(&mut chunk)?;
            if self.end.is_none() {
                // What has come asked for rows: its reply is to come, and may take its time again.
                self.alone.session.stream().limit_pauses(PAUSE_LIMIT);
            }
            self.alone.session.submit_rows(&chunk)?;
            if chunk.is_empty() {
                return self.wait(sql, S::poll);
            }
            let mut refusal = None;
            self.wait(sql, |session| {
                match session.poll() {
                    Poll::Pending => {}
                    Poll::Ready(Err(fault)) if !matches!(fault, Fault::Server(_)) => {
                        return Poll::Ready(Err(match refusal.take() {
                            Some(Err(refused)) => refused,
                            _ => fault,
                        }));
                    }
                    Poll::Ready(reply) => refusal = Some(reply),
                }
                // A refusal may come amid these rows: the server takes the rest of them before it
                // reads the next statement.
                if session.wants_write() {
                    return Poll::Pending;
                }
                Poll::Ready(match refusal.take() {
                    None => Ok(()),
                    Some(Err(fault)) => Err(fault),
                    Some(Ok(_)) => Err(protocol("a reply before the last of the rows")),
                })
            })?;
        }
    }

    /// Loads rows by statements which so many rows follow.
    pub(super) fn load_text(
        &mut self,
        sql: &str,
        rows_per_statement: u64,
        next_row: NextRow<'_>,
    ) -> Result<u64, Fault> {
        let (mut args, mut loaded) = (Args::default(), 0);
        let mut pending = next_row(&mut args);
        while pending {
            let mut left = rows_per_statement;
            let reply = self.copy(sql.as_bytes(), |chunk| {
                while pending && left > 0 && chunk.len() < CHUNK_BYTES {
                    push_row(&args, chunk);
                    args.clear();
                    pending = next_row(&mut args);
                    left -= 1;
                }
                Ok(())
            })?;
            loaded += reply.affected;
        }
        Ok(loaded)
    }
}

impl<S: Bulk> Admin for SessionAdmin<S> {
    fn begin_work(&mut self) -> Result<(), Fault> {
        self.limit = self.work_limit;
        Ok(())
    }

    fn server_version(&mut self) -> Result<String, Fault> {
        let (question, before) = S::VERSION;
        let version = self.query_value(question)?.unwrap_or_default();
        Ok(format!("{before}{version}"))
    }

    fn execute_bytes(&mut self, sql: &[u8]) -> Result<Reply, Fault> {
        self.ask(sql, Offer::Nothing)
    }

    fn query_column(&mut self, sql: &str) -> Result<Vec<Option<String>>, Fault> {
        self.execute(sql)?;
        self.alone.session.rows().map_or(Ok(Vec::new()), column)
    }

    fn load(
        &mut self,
        table: &str,
        columns: &[&str],
        next_row: &mut dyn FnMut(&mut Args) -> bool,
    ) -> Result<u64, Fault> {
        S::load(self, table, columns, next_row)
    }

    fn copy_in(&mut self, sql: &str, lines: &mut dyn Lines) -> Result<Reply, Fault> {
        self.copy(sql.as_bytes(), |chunk| {
            match lines.next() {
                Ok(lines) => chunk.extend_from_slice(lines.unwrap_or_default()),
                // The server keeps no part of them, because the connection ends here.
                Err(Unreadable) => return Err(protocol("rows that cannot be read")),
            }
            Ok(())
        })
    }

    fn settle(&mut self, table: &str) -> Result<(), Fault> {
        match S::settling(table) {
            Some(sql) => self.execute(&sql).map(drop),
            None => Ok(()),
        }
    }
}

/// The first value of every row.
pub(super) fn column(rows: &Rows) -> Result<Vec<Option<String>>, Fault> {
    if rows.too_many() {
        return Err(protocol(format!(
            "an answer of more than {} MiB",
            MOST_ANSWER_BYTES >> 20
        )));
    }
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    Ok((0..rows.count())
        .map(|row| rows.text(row, 0).map(text))
        .collect())
}

/// One row as COPY and LOAD DATA read it by default: tabs between columns, a line feed at the end,
/// backslashes before what would be mistaken for either.
fn push_row(args: &Args, out: &mut Vec<u8>) {
    for (index, arg) in args.values().iter().enumerate() {
        if index > 0 {
            out.push(b'\t');
        }
        match arg {
            Arg::Int(value) => {
                out.extend_from_slice(itoa::Buffer::new().format(*value).as_bytes());
            }
            Arg::Double(value) => drop(write!(out, "{value}")),
            Arg::Text(range) => push_escaped(args.text(range), out),
            Arg::Null => out.extend_from_slice(b"\\N"),
        }
    }
    out.push(b'\n');
}

fn push_escaped(text: &[u8], out: &mut Vec<u8>) {
    if !text
        .iter()
        .any(|byte| matches!(byte, b'\\' | b'\t' | b'\n' | b'\r'))
    {
        out.extend_from_slice(text);
        return;
    }
    for &byte in text {
        let letter = match byte {
            b'\\' => b'\\',
            b'\t' => b't',
            b'\n' => b'n',
            b'\r' => b'r',
            _ => {
                out.push(byte);
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', letter]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_separated_and_escaped() {
        let (mut args, mut row) = (Args::default(), Vec::new());
        args.push_int(1);
        args.push_double(0.25);
        args.push_null();
        args.push_text(|out| out.extend_from_slice(b"a\tb\\c\nd\r"));
        args.push_text(|out| out.extend_from_slice(b"plain"));
        push_row(&args, &mut row);
        assert_eq!(row, b"1\t0.25\t\\N\ta\\tb\\\\c\\nd\\r\tplain\n");
    }
}
