//! Takes a socket to a connection that is ready for statements, driven by an event loop.

use std::io::ErrorKind;
use std::sync::Arc;
use std::task::Poll;

use bytes::BytesMut;
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;

use super::handshake::{Handshake, Step};
use super::plan::Plan;
use super::preparation::Preparation;
use super::statement::Execution;
use super::wire::next_message;
use crate::driver::Fault;
use crate::driver::account::Account;
use crate::driver::socket::Stream;

/// Read at once: enough for one system call per round trip.
const CHUNK_BYTES: usize = 8 << 10;

/// Messages beyond those that the preparation of the statements brings. A log-in takes about
/// twenty; a server that goes on and on would keep the event loop to itself.
const MAX_MESSAGES: usize = 1000;
/// Messages that answer the preparation of one statement.
const MESSAGES_PER_STATEMENT: usize = 3;

/// A connection that is being made; dropped when it is there.
pub(super) struct Opening {
    account: Arc<Account>,
    plan: Arc<Plan>,
    stage: Stage,
    inbound: BytesMut,
    outbound: BytesMut,
    sent_bytes: usize,
    /// The other side has taken something: until then it is not known to be there.
    reached: bool,
    messages: usize,
}

enum Stage {
    /// The server has been asked whether it encrypts; it answers with one byte.
    Encrypting,
    LoggingIn(Handshake),
    Preparing(Preparation),
}

/// The statements of an opened connection, and bytes that the server sent beyond its readiness.
pub(super) struct Opened {
    pub(super) executions: Arc<[Execution]>,
    pub(super) early: BytesMut,
}

impl Opening {
    pub(super) fn begin(account: Arc<Account>, plan: Arc<Plan>) -> Result<Self, Fault> {
        let mut outbound = BytesMut::new();
        let stage = if account.tls.is_some() {
            frontend::ssl_request(&mut outbound);
            Stage::Encrypting
        } else {
            Stage::LoggingIn(Handshake::begin(&account.login, &mut outbound)?)
        };
        Ok(Self {
            account,
            plan,
            stage,
            inbound: BytesMut::new(),
            outbound,
            sent_bytes: 0,
            reached: false,
            messages: 0,
        })
    }

    /// Goes on as far as the socket lets it.
    pub(super) fn poll(&mut self, stream: &mut Stream) -> Poll<Result<Opened, Fault>> {
        loop {
            match self.advance(stream) {
                Ok(Some(opened)) => return Poll::Ready(Ok(opened)),
                Ok(None) => {}
                Err(Halt::WouldBlock) => return Poll::Pending,
                Err(Halt::Fault(fault)) => return Poll::Ready(Err(fault)),
            }
        }
    }

    /// Something still waits to be sent.
    pub(super) fn wants_write(&self) -> bool {
        self.sent_bytes < self.outbound.len()
    }

    /// Sends what goes, reads what is there, and takes it up.
    fn advance(&mut self, stream: &mut Stream) -> Result<Option<Opened>, Halt> {
        self.send(stream)?;
        if matches!(self.stage, Stage::Encrypting) {
            self.encrypt(stream)?;
            return Ok(None);
        }
        let mut chunk = [0; CHUNK_BYTES];
        let read = self.read(stream, &mut chunk)?;
        self.inbound.extend_from_slice(&chunk[..read]);
        while let Some(message) = next_message(&mut self.inbound)? {
            self.count_message()?;
            if let Some(executions) = self.take_up(message)? {
                let early = std::mem::take(&mut self.inbound);
                return Ok(Some(Opened { executions, early }));
            }
        }
        Ok(None)
    }

    /// Takes the answer to the demand for encryption. Not a byte more is read in clear: what
    /// somebody else slipped in behind it is no part of the conversation.
    fn encrypt(&mut self, stream: &mut Stream) -> Result<(), Halt> {
        let mut answer = [0];
        self.read(stream, &mut answer)?;
        let Some(tls) = self.account.tls.as_ref().filter(|_| answer == *b"S") else {
            return Err(no_encryption(answer[0]).into());
        };
        stream.encrypt(tls).map_err(Fault::from)?;
        self.stage = Stage::LoggingIn(Handshake::begin(&self.account.login, &mut self.outbound)?);
        Ok(())
    }

    fn take_up(&mut self, message: Message) -> Result<Option<Arc<[Execution]>>, Fault> {
        match &mut self.stage {
            Stage::LoggingIn(handshake) => {
                let step =
                    handshake.on_message(&self.account.login, message, &mut self.outbound)?;
                match step {
                    Step::Continue => Ok(None),
                    Step::Ready => Ok(self.prepare()),
                }
            }
            Stage::Preparing(preparation) => preparation.on_message(&message),
            Stage::Encrypting => Err(Fault::Protocol("a message instead of encryption".into())),
        }
    }

    /// Asks for the preparation of the catalogue; if there is nothing to prepare, it is ready.
    fn prepare(&mut self) -> Option<Arc<[Execution]>> {
        if self.plan.request.is_empty() {
            return Some(self.plan.executions(Vec::new()));
        }
        self.outbound.extend_from_slice(&self.plan.request);
        self.stage = Stage::Preparing(Preparation::new(Arc::clone(&self.plan)));
        None
    }

    fn count_message(&mut self) -> Result<(), Fault> {
        self.messages += 1;
        let limit = MAX_MESSAGES + MESSAGES_PER_STATEMENT * self.plan.asked.len();
        if self.messages > limit {
            return Err(Fault::Protocol(format!(
                "more than {limit} messages during the log-in; is this a PostgreSQL server?"
            )));
        }
        Ok(())
    }

    /// Sends as much as the socket takes.
    fn send(&mut self, stream: &mut Stream) -> Result<(), Fault> {
        let before = self.sent_bytes;
        let sent = stream.send(&self.outbound, &mut self.sent_bytes);
        self.reached |= self.sent_bytes > before;
        match sent {
            // A server that refuses us says why before it closes.
            Err(error) if error.kind() == ErrorKind::BrokenPipe && self.reached => {}
            Err(error) => return Err(self.account.broken(error, self.reached)),
            Ok(()) if self.wants_write() => return Ok(()),
            Ok(()) => {}
        }
        self.outbound.clear();
        self.sent_bytes = 0;
        Ok(())
    }

    fn read(&self, stream: &mut Stream, buffer: &mut [u8]) -> Result<usize, Halt> {
        match stream.receive(buffer) {
            Poll::Pending => Err(Halt::WouldBlock),
            Poll::Ready(read) => {
                read.map_err(|error| self.account.broken(error, self.reached).into())
            }
        }
    }
}

/// Why an opening does not go on now.
enum Halt {
    WouldBlock,
    Fault(Fault),
}

impl From<Fault> for Halt {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

fn no_encryption(answer: u8) -> Fault {
    match answer {
        b'N' => Fault::Tls(
            "the server offers no TLS; give it a certificate (ssl = on, ssl_cert_file and \
             ssl_key_file), or leave sslmode out of the URL"
                .into(),
        ),
        other => Fault::Protocol(format!(
            "{:?} in answer to the demand for encryption; is this a PostgreSQL server?",
            char::from(other)
        )),
    }
}
