//! Whole messages: taken out of what has come, and over a blocking socket for administration.

use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

use bytes::BytesMut;
use postgres_protocol::message::backend::{Header, Message};
use postgres_protocol::message::frontend;

use crate::driver::Fault;
use crate::driver::socket::Socket;

/// The longest message that is held whole in memory. Errors, tags and parameters are short;
/// 1 MiB leaves room for an error that quotes a long statement, and stops a peer that is not
/// PostgreSQL (its first bytes read as a length) from making us wait for gigabytes.
pub(super) const MAX_HELD_BYTES: usize = 1 << 20;

/// Read and write sizes of the blocking side: enough for one system call per round trip.
const CHUNK_BYTES: usize = 8 << 10;

/// A blocking connection that sends and receives whole messages.
pub(super) struct Wire {
    socket: Socket,
    inbound: BytesMut,
    /// Bytes that the next [`Wire::send`] sends.
    pub(super) out: BytesMut,
}

impl Wire {
    /// A connection that is logged in, and what had been read from it since.
    pub(super) fn new(socket: Socket, inbound: BytesMut) -> Self {
        Self {
            socket,
            inbound,
            out: BytesMut::new(),
        }
    }

    /// A statement begins, and with it its time.
    pub(super) fn begin_statement(&mut self, sql: &str, limit: Option<Duration>) {
        self.socket.begin_statement(sql.as_bytes(), limit);
    }

    /// Sends all of `out` and empties it.
    pub(super) fn send(&mut self) -> Result<(), Fault> {
        self.socket.write_all(&self.out)?;
        self.out.clear();
        Ok(())
    }

    /// Waits for one message.
    pub(super) fn receive(&mut self) -> Result<Message, Fault> {
        loop {
            if let Some(message) = next_message(&mut self.inbound)? {
                if matches!(message, Message::NoticeResponse(_)) && self.inbound.is_empty() {
                    self.socket.reply_is_to_come();
                }
                return Ok(message);
            }
            match self.read_some(Socket::read) {
                Ok(0) => return Err(Fault::Lost(closed_by_server())),
                Ok(_) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// One message if the server has sent one, without waiting for it.
    pub(super) fn try_receive(&mut self) -> Result<Option<Message>, Fault> {
        match self.read_some(Socket::read_now) {
            Ok(0) => Err(Fault::Lost(closed_by_server())),
            Err(error) if error.kind() != ErrorKind::WouldBlock => Err(error.into()),
            Ok(_) | Err(_) => next_message(&mut self.inbound),
        }
    }

    /// Says goodbye, so that the server's log holds no broken connection.
    pub(super) fn close(&mut self) {
        self.out.clear();
        frontend::terminate(&mut self.out);
        // A server that is gone or stuck needs no goodbye.
        let _ = self.socket.stream().write(&self.out);
    }

    fn read_some(
        &mut self,
        read: fn(&mut Socket, &mut [u8]) -> std::io::Result<usize>,
    ) -> std::io::Result<usize> {
        let mut chunk = [0; CHUNK_BYTES];
        loop {
            match read(&mut self.socket, &mut chunk) {
                Ok(read) => {
                    self.inbound.extend_from_slice(&chunk[..read]);
                    return Ok(read);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Takes the first message out of `inbound`, or `None` while it is incomplete.
pub fn next_message(inbound: &mut BytesMut) -> Result<Option<Message>, Fault> {
    let Some(header) = Header::parse(inbound).map_err(not_postgres)? else {
        return Ok(None);
    };
    check_length(header, MAX_HELD_BYTES)?;
    if inbound.len() < message_bytes(header) {
        // Not asked of the parser, which would make room for all that the length claims.
        return Ok(None);
    }
    Message::parse(inbound).map_err(not_postgres)
}

/// The length of a whole message: it counts itself, but not the tag before it.
fn message_bytes(header: Header) -> usize {
    usize::try_from(header.len()).map_or(usize::MAX, |length| length.saturating_add(1))
}

/// Refuses a header with a length beyond `limit_bytes`.
pub(super) fn check_length(header: Header, limit_bytes: usize) -> Result<(), Fault> {
    let length = usize::try_from(header.len()).unwrap_or(usize::MAX);
    if length > limit_bytes {
        return Err(Fault::Protocol(format!(
            "a message of type {:?} with {length} bytes; at most {limit_bytes} are plausible; \
             is this a PostgreSQL server?",
            char::from(header.tag()),
        )));
    }
    Ok(())
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the shape that map_err wants"
)]
pub(super) fn not_postgres(error: std::io::Error) -> Fault {
    Fault::Protocol(format!("{error}; is this a PostgreSQL server?"))
}

pub(super) fn closed_by_server() -> std::io::Error {
    std::io::Error::new(ErrorKind::UnexpectedEof, "the server closed the connection")
}
