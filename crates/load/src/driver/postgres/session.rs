//! One connection as the event loop drives it.

use std::cell::RefCell;
use std::io;
use std::sync::Arc;
use std::task::{Poll, ready};
use std::time::Duration;

use bytes::BytesMut;
use postgres_protocol::message::frontend;

use super::opening::{Opened, Opening};
use super::own::Own;
use super::plan::Plan;
use super::reply::ReplyReader;
use super::statement::{Execution, write_sql};
use crate::driver::account::Account;
use crate::driver::admin::{Bulk, NextRow, Offer, SessionAdmin};
use crate::driver::rows::{Keep, Rows};
use crate::driver::socket::Stream;
use crate::driver::{Args, Fault, Reply, Session, StatementId};

/// Most bytes of one `recv`. Replies of the workloads are far shorter; a long result costs one
/// system call for each such piece.
const READ_BYTES: usize = 64 << 10;

thread_local! {
    /// A worker's read buffer for all its connections: each reply is processed before the next
    /// read, so that thousands of connections need no buffers of their own.
    static READ_BUFFER: RefCell<Box<[u8]>> = RefCell::new(vec![0; READ_BYTES].into_boxed_slice());
}

/// A connection that logs in and prepares its catalogue, then runs its statements.
pub struct PostgresSession {
    stream: Stream,
    /// Until the connection is open.
    opening: Option<Box<Opening>>,
    executions: Arc<[Execution]>,
    /// The current statement; empty once it has been sent.
    outbound: BytesMut,
    sent_bytes: usize,
    replies: ReplyReader,
    own: Own,
}

impl PostgresSession {
    /// Begins to connect.
    pub(super) fn open(account: Arc<Account>, plan: Arc<Plan>) -> Result<Self, Fault> {
        Ok(Self {
            stream: account.connect()?,
            opening: Some(Box::new(Opening::begin(account, plan)?)),
            executions: Arc::default(),
            outbound: BytesMut::new(),
            sent_bytes: 0,
            replies: ReplyReader::default(),
            own: Own::default(),
        })
    }

    /// Sends as much as the socket takes.
    #[inline]
    fn send(&mut self) -> Result<(), Fault> {
        let sent = self.stream.send(&self.outbound, &mut self.sent_bytes);
        sent.map_err(|error| self.lost(error))
    }

    /// Reads until the reply is complete or there is nothing more to read. Having the whole
    /// reply, it does not ask for more: the next reply makes an edge of its own.
    #[inline]
    fn receive(&mut self, buffer: &mut [u8]) -> Poll<Result<Reply, Fault>> {
        loop {
            let read = ready!(self.stream.receive(buffer))?;
            if self.own.is_preparing() {
                if let Some(reply) = self.own.take_answer(&buffer[..read])? {
                    return Poll::Ready(Ok(reply));
                }
            } else if self.replies.feed(&buffer[..read])? {
                return Poll::Ready(self.replies.take());
            }
        }
    }

    #[inline]
    fn clear_outbound(&mut self) -> Result<(), Fault> {
        self.outbound.clear();
        self.sent_bytes = 0;
        self.replies.take_parting().map_or(Ok(()), Err)
    }

    #[inline]
    fn send_outbound(&mut self, written: Result<(), Fault>) -> Result<(), Fault> {
        if let Err(fault) = written {
            self.outbound.clear();
            return Err(fault);
        }
        self.replies.begin();
        self.send()
    }

    /// The fault of a failed send: a server that shuts down sends the reason before it closes, and
    /// its unread message says more than a broken pipe.
    #[cold]
    fn lost(&mut self, error: io::Error) -> Fault {
        let read = READ_BUFFER.with_borrow_mut(|buffer| self.receive(buffer));
        match read {
            Poll::Ready(Err(fault)) => fault,
            Poll::Ready(Ok(_)) | Poll::Pending => error.into(),
        }
    }
}

impl Session for PostgresSession {
    fn source(&mut self) -> Option<&mut dyn mio::event::Source> {
        Some(self.stream.source())
    }

    fn poll_open(&mut self) -> Poll<Result<(), Fault>> {
        let Some(opening) = &mut self.opening else {
            return Poll::Ready(Ok(()));
        };
        let Opened { executions, early } = ready!(opening.poll(&mut self.stream))?;
        self.opening = None;
        self.stream.end_reading_at(None);
        self.executions = executions;
        Poll::Ready(self.replies.feed(&early).map(drop))
    }

    #[inline]
    fn submit(&mut self, statement: StatementId, args: &Args) -> Result<(), Fault> {
        self.clear_outbound()?;
        let written = self.executions[statement].write(args, &mut self.outbound);
        self.send_outbound(written)
    }

    fn submit_text(&mut self, sql: &[u8]) -> Result<(), Fault> {
        self.clear_outbound()?;
        let written = write_sql(sql, &mut self.outbound);
        self.send_outbound(written)
    }

    fn submit_preparation(&mut self, sql: &[u8], replaces: Option<usize>) -> Result<(), Fault> {
        self.clear_outbound()?;
        self.own.replaces = replaces;
        self.own
            .ask(&String::from_utf8_lossy(sql), &mut self.outbound)?;
        self.send()
    }

    fn submit_own(&mut self, number: usize, args: &Args) -> Result<(), Fault> {
        self.clear_outbound()?;
        let written = self.own.get(number)?.write(args, &mut self.outbound);
        self.send_outbound(written)
    }

    #[inline]
    fn poll(&mut self) -> Poll<Result<Reply, Fault>> {
        if self.wants_write()
            && let Err(fault) = self.send()
        {
            return Poll::Ready(Err(fault));
        }
        READ_BUFFER.with_borrow_mut(|buffer| self.receive(buffer))
    }

    fn keep_rows(&mut self, keep: Keep) {
        self.replies.keep_rows(keep);
    }

    fn rows(&self) -> Option<&Rows> {
        self.replies.rows()
    }

    fn block(&mut self, longest: Duration) -> io::Result<bool> {
        self.stream.block(longest)
    }

    #[inline]
    fn wants_write(&self) -> bool {
        self.sent_bytes < self.outbound.len()
            || self.stream.wants_write()
            || self.opening.as_ref().is_some_and(|it| it.wants_write())
    }
}

impl Bulk for PostgresSession {
    const VERSION: (&'static str, &'static str) = ("SHOW server_version", "PostgreSQL ");

    fn stream(&mut self) -> &mut Stream {
        &mut self.stream
    }

    fn offer(&mut self) -> &mut Offer {
        &mut self.replies.offer
    }

    fn submit_rows(&mut self, rows: &[u8]) -> Result<(), Fault> {
        self.replies.go_on_after_rows()?;
        self.clear_outbound()?;
        if rows.is_empty() {
            frontend::copy_done(&mut self.outbound);
        } else {
            frontend::CopyData::new(rows)?.write(&mut self.outbound);
        }
        self.send()
    }

    /// COPY in its text format: the fastest way in that a plain account may use.
    fn load(
        admin: &mut SessionAdmin<Self>,
        table: &str,
        columns: &[&str],
        next_row: NextRow<'_>,
    ) -> Result<u64, Fault> {
        let sql = format!("COPY {table} ({}) FROM STDIN", columns.join(", "));
        admin.load_text(&sql, u64::MAX, next_row)
    }

    /// Statistics, or the planner guesses; and what marks rows as visible to all, which the first
    /// readers would write otherwise.
    fn settling(table: &str) -> Option<String> {
        Some(format!("VACUUM (ANALYZE) {table}"))
    }
}

impl Drop for PostgresSession {
    /// Says goodbye, so that the server's log holds no broken connection. A server that is gone
    /// or stuck needs none, and in the midst of a message none would be understood.
    fn drop(&mut self) {
        if self.opening.is_some() || self.wants_write() {
            return;
        }
        let mut goodbye = BytesMut::new();
        frontend::terminate(&mut goodbye);
        let _ = self.stream.write(&goodbye);
    }
}
