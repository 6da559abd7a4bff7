//! One connection as the event loop drives it.

use std::cell::RefCell;
use std::io::ErrorKind;
use std::sync::Arc;
use std::task::Poll;

use super::reply::ReplyReader;
use super::statement::{Form, Handle, write_sql};
use super::wire::{closed_by_server, header};
use crate::driver::socket::Stream;
use crate::driver::{Args, Fault, Reply, Session, StatementId};

/// What one `recv` takes at most: a range SELECT's 13 kB and far more. A longer result costs one
/// system call per so many bytes.
const READ_BYTES: usize = 64 << 10;

thread_local! {
    /// Where a worker reads to, whichever connection it serves: a reply is taken up before the
    /// next read, so that thousands of connections need no buffers of their own.
    static READ_BUFFER: RefCell<Box<[u8]>> = RefCell::new(vec![0; READ_BYTES].into_boxed_slice());
}

/// A logged-in connection with its catalogue prepared.
pub struct MysqlSession {
    stream: Stream,
    forms: Arc<[Form]>,
    /// One for each statement of the catalogue.
    handles: Vec<Handle>,
    outbound: Vec<u8>,
    sent_bytes: usize,
    replies: ReplyReader,
}

impl MysqlSession {
    pub(super) fn new(stream: Stream, forms: Arc<[Form]>, handles: Vec<Handle>) -> Self {
        Self {
            stream,
            forms,
            handles,
            outbound: Vec::new(),
            sent_bytes: 0,
            replies: ReplyReader::default(),
        }
    }

    /// Sends as much as the socket takes.
    #[inline]
    fn send(&mut self) -> Result<(), Fault> {
        while self.sent_bytes < self.outbound.len() {
            match self.stream.write(&self.outbound[self.sent_bytes..]) {
                Ok(0) => return Err(Fault::Lost(ErrorKind::WriteZero.into())),
                Ok(sent) => self.sent_bytes += sent,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Fault::Lost(error)),
            }
        }
        Ok(())
    }

    /// Reads until the reply is complete or there is nothing more to read. Having the whole
    /// reply, it does not ask for more: the next reply makes an edge of its own.
    #[inline]
    fn receive(&mut self, buffer: &mut [u8]) -> Result<Poll<Result<Reply, Fault>>, Fault> {
        loop {
            match self.stream.read(buffer) {
                Ok(0) => return Err(closed_by_server()),
                Ok(read) => {
                    if self.replies.feed(&buffer[..read])? {
                        return Ok(self.replies.take());
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Poll::Pending),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Fault::Lost(error)),
            }
        }
    }
}

impl Session for MysqlSession {
    fn source(&mut self) -> Option<&mut dyn mio::event::Source> {
        Some(self.stream.source())
    }

    #[inline]
    fn submit(&mut self, statement: StatementId, args: &Args) -> Result<(), Fault> {
        let handle = &mut self.handles[statement];
        self.forms[statement].write(handle, args, &mut self.outbound)?;
        self.sent_bytes = 0;
        self.replies.begin();
        self.send()
    }

    fn submit_text(&mut self, sql: &[u8]) -> Result<(), Fault> {
        write_sql(sql, &mut self.outbound)?;
        self.sent_bytes = 0;
        self.replies.begin();
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

    #[inline]
    fn wants_write(&self) -> bool {
        self.sent_bytes < self.outbound.len()
    }
}

impl Drop for MysqlSession {
    /// Says goodbye, so that the server counts no aborted connection. One that is gone or stuck
    /// needs none.
    fn drop(&mut self) {
        const COM_QUIT: u8 = 0x01;
        let [a, b, c, d] = header(1, 0);
        let _ = self.stream.write(&[a, b, c, d, COM_QUIT]);
    }
}
