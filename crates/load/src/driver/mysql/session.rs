//! One connection as the event loop drives it.

use std::cell::RefCell;
use std::io;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use super::error::parting;
use super::inbound::Inbound;
use super::insert::insert;
use super::opening::Opening;
use super::outbound::Outbound;
use super::preparation::{COM_STMT_CLOSE, COM_STMT_PREPARE, Preparation};
use super::reply::ReplyReader;
use super::statement::{Form, Handle, write_sql};
use super::wire::{header, protocol};
use crate::driver::admin::{Bulk, NextRow, Offer, SessionAdmin};
use crate::driver::rows::{Keep, Rows};
use crate::driver::socket::Stream;
use crate::driver::{Admin, Args, Fault, Protocol, Reply, Session, StatementId};

/// Most bytes of one `recv`: a range SELECT's 13 kB and far more. A longer result costs one system
/// call for each such piece.
const READ_BYTES: usize = 64 << 10;

/// One LOAD DATA is one transaction: this many rows of sysbench's tables are some 20 MB of undo.
const ROWS_PER_STATEMENT: u64 = 100_000;

thread_local! {
    /// A worker's read buffer for all its connections: each reply is processed before the next
    /// read, so that thousands of connections need no buffers of their own.
    pub(super) static READ_BUFFER: RefCell<Box<[u8]>> = RefCell::new(vec![0; READ_BYTES].into_boxed_slice());
}

/// One connection: being opened, then logged in with its catalogue prepared.
pub struct MysqlSession {
    stream: Stream,
    /// `Some` until the connection is open.
    opening: Option<Box<Opening>>,
    forms: Arc<[Form]>,
    /// One for each statement of the catalogue.
    handles: Box<[Handle]>,
    outbound: Outbound,
    replies: ReplyReader,
    own: Own,
}

/// The statements that the connection has prepared for a script.
#[derive(Debug, Default)]
struct Own {
    statements: Vec<(Form, Handle)>,
    under_way: Option<Box<UnderWay>>,
    /// Which one the next takes the place of.
    replaces: Option<usize>,
}

/// A preparation with an answer that is still to come.
#[derive(Debug)]
struct UnderWay {
    form: Form,
    preparation: Preparation,
    inbound: Inbound,
}

impl Own {
    /// Takes what has arrived of the answer to a preparation; the outcome once it is complete.
    fn take_answer(&mut self, bytes: &[u8]) -> Result<Option<Result<Reply, Fault>>, Fault> {
        let Some(mut under_way) = self.under_way.take() else {
            return Err(protocol(
                "an answer to a preparation that nothing asked for",
            ));
        };
        under_way.inbound.extend(bytes);
        while let Some(packet) = under_way.inbound.next_packet()? {
            match under_way.preparation.on_packet(packet) {
                Ok(Some(handle)) => {
                    self.statements.push((under_way.form, handle));
                    if let Some(number) = self.replaces {
                        self.statements.swap_remove(number);
                    }
                    return Ok(Some(Ok(Reply::default())));
                }
                Ok(None) => {}
                Err(refusal @ Fault::Server(_)) => return Ok(Some(Err(refusal))),
                Err(fault) => return Err(fault),
            }
        }
        self.under_way = Some(under_way);
        Ok(None)
    }
}

impl MysqlSession {
    /// `None`: the connection is open already, and sends its statements as text.
    pub(super) fn new(stream: Stream, forms: Arc<[Form]>, opening: Option<Opening>) -> Self {
        Self {
            stream,
            opening: opening.map(Box::new),
            handles: forms.iter().map(|_| Handle::default()).collect(),
            forms,
            outbound: Outbound::default(),
            replies: ReplyReader::default(),
            own: Own::default(),
        }
    }

    /// Sends the statement that has been written.
    #[inline]
    fn send(&mut self) -> Result<(), Fault> {
        let sent = self.outbound.send(&mut self.stream);
        sent.map_err(|fault| self.last_words(fault))
    }

    /// A server that breaks a connection may send the reason before it closes: its unread message
    /// says more than a broken pipe.
    #[cold]
    fn last_words(&mut self, broken: Fault) -> Fault {
        let read = READ_BUFFER.with_borrow_mut(|buffer| self.receive(buffer));
        match read {
            Ok(Poll::Ready(Err(words @ Fault::Server(_)))) => parting(&words),
            Err(fault @ Fault::Lost(_)) => fault,
            _ => broken,
        }
    }

    /// Reads until the reply is complete or there is nothing more to read. Having the whole
    /// reply, it does not ask for more: the next reply makes an edge of its own.
    #[inline]
    fn receive(&mut self, buffer: &mut [u8]) -> Result<Poll<Result<Reply, Fault>>, Fault> {
        while let Poll::Ready(read) = self.stream.receive(buffer) {
            let bytes = &buffer[..read?];
            if self.own.under_way.is_some() {
                if let Some(outcome) = self.own.take_answer(bytes)? {
                    return Ok(Poll::Ready(outcome));
                }
            } else if self.replies.feed(bytes)? {
                let reply = self.replies.take();
                if self.outbound.is_waiting() {
                    return Err(answered_too_soon(reply));
                }
                return Ok(reply);
            }
        }
        Ok(Poll::Pending)
    }
}

/// The server has answered while part of the statement was still to be sent: what is sent next,
/// it would take for the rest.
#[cold]
fn answered_too_soon(reply: Poll<Result<Reply, Fault>>) -> Fault {
    match reply {
        Poll::Ready(Err(words)) => parting(&words),
        _ => protocol("an answer to a statement that was not yet fully sent"),
    }
}

impl Session for MysqlSession {
    fn source(&mut self) -> Option<&mut dyn mio::event::Source> {
        Some(self.stream.source())
    }

    #[inline]
    fn submit(&mut self, statement: StatementId, args: &Args) -> Result<(), Fault> {
        let (form, handle) = (&self.forms[statement], &mut self.handles[statement]);
        let packets = form.write(handle, args, self.outbound.begin())?;
        self.replies.begin_keeping(packets, form.is_binary(*handle));
        self.send()
    }

    fn submit_text(&mut self, sql: &[u8]) -> Result<(), Fault> {
        let packets = write_sql(sql, self.outbound.begin())?;
        self.replies.begin_keeping(packets, false);
        self.send()
    }

    fn submit_preparation(&mut self, sql: &[u8], replaces: Option<usize>) -> Result<(), Fault> {
        let form = Form::new(&String::from_utf8_lossy(sql), Protocol::Prepared);
        self.outbound.begin().clear();
        self.own.replaces = replaces;
        if let Some((_, handle)) = replaces.and_then(|number| self.own.statements.get(number)) {
            let [a, b, c, d] = handle.id.to_le_bytes();
            self.outbound.push(0, &[COM_STMT_CLOSE, a, b, c, d])?;
        }
        self.outbound
            .push(0, &[&[COM_STMT_PREPARE], sql].concat())?;
        let mut inbound = Inbound::default();
        inbound.begin_answer();
        self.own.under_way = Some(Box::new(UnderWay {
            preparation: Preparation::new(form.parameters()),
            inbound,
            form,
        }));
        self.send()
    }

    fn submit_own(&mut self, number: usize, args: &Args) -> Result<(), Fault> {
        let Some((form, handle)) = self.own.statements.get_mut(number) else {
            return Err(protocol("a statement that was never prepared"));
        };
        let packets = form.write(handle, args, self.outbound.begin())?;
        self.replies.begin_keeping(packets, form.is_binary(*handle));
        self.send()
    }

    #[inline]
    fn poll(&mut self) -> Poll<Result<Reply, Fault>> {
        if self.wants_write()
            && let Err(fault) = self.send()
        {
            return Poll::Ready(Err(fault));
        }
        let received = READ_BUFFER.with_borrow_mut(|buffer| self.receive(buffer));
        received.unwrap_or_else(|fault| Poll::Ready(Err(fault)))
    }

    fn poll_open(&mut self) -> Poll<Result<(), Fault>> {
        let Some(opening) = &mut self.opening else {
            return Poll::Ready(Ok(()));
        };
        let Poll::Ready(outcome) = opening.poll(&mut self.stream, &mut self.outbound) else {
            return Poll::Pending;
        };
        Poll::Ready(outcome.map(|handles| {
            self.handles = handles;
            self.outbound = Outbound::default();
            self.opening = None;
            self.stream.end_reading_at(None);
        }))
    }

    fn keep_rows(&mut self, keep: Keep) {
        self.replies.keep_rows(keep);
        if keep.prepared
            && let Some(opening) = &mut self.opening
        {
            opening.ask_for_definitions();
        }
    }

    fn rows(&self) -> Option<&Rows> {
        self.replies.rows()
    }

    fn block(&mut self, longest: Duration) -> io::Result<bool> {
        self.stream.block(longest)
    }

    #[inline]
    fn wants_write(&self) -> bool {
        self.outbound.is_waiting() || self.stream.wants_write()
    }
}

impl Bulk for MysqlSession {
    const VERSION: (&'static str, &'static str) = ("SELECT VERSION()", "");

    fn stream(&mut self) -> &mut Stream {
        &mut self.stream
    }

    fn offer(&mut self) -> &mut Offer {
        &mut self.replies.offer
    }

    fn submit_rows(&mut self, rows: &[u8]) -> Result<(), Fault> {
        self.outbound.push(self.replies.number_rows()?, rows)?;
        self.send()
    }

    /// LOAD DATA LOCAL, its file made up as it is sent: the server parses it at half the cost of
    /// INSERTs. Not every server takes it (MySQL 8 does not by default).
    fn load(
        admin: &mut SessionAdmin<Self>,
        table: &str,
        columns: &[&str],
        next_row: NextRow<'_>,
    ) -> Result<u64, Fault> {
        // No `unique_checks=0`: on MariaDB that turns on a bulk mode which sorts into temporary
        // files first, and was a fifth slower here on rows that come in order anyway.
        if admin.query_value("SELECT @@local_infile")?.as_deref() != Some("1") {
            return insert(admin, table, columns, next_row);
        }
        // The file is ours to make up, so its name means nothing.
        let sql = format!(
            "LOAD DATA LOCAL INFILE 'rows' INTO TABLE {table} CHARACTER SET ascii ({})",
            columns.join(",")
        );
        admin.load_text(&sql, ROWS_PER_STATEMENT, next_row)
    }
}

impl Drop for MysqlSession {
    /// Says goodbye, so that the server counts no aborted connection. One that is gone or stuck
    /// needs none.
    fn drop(&mut self) {
        const COM_QUIT: u8 = 0x01;
        if self.opening.is_some() {
            return;
        }
        let [a, b, c, d] = header(1, 0);
        let _ = self.stream.write(&[a, b, c, d, COM_QUIT]);
    }
}
