//! Takes a fresh connection to one that is logged in and prepared, without ever blocking.

use std::sync::Arc;
use std::task::Poll;

use super::error::server_error;
use super::handshake::{Handshake, Step};
use super::inbound::Inbound;
use super::outbound::Outbound;
use super::preparation::Preparations;
use super::session::READ_BUFFER;
use super::statement::{Form, Handle};
use super::wire::protocol;
use crate::driver::Fault;
use crate::driver::account::Account;
use crate::driver::socket::Stream;

/// A query, after its code: from MySQL 5.6 and MariaDB 10.0 on the server then refuses what writes.
const READ_ONLY: &[u8] = b"\x03SET SESSION TRANSACTION READ ONLY";

/// A connection being opened; dropped when it is open.
pub(super) struct Opening {
    account: Arc<Account>,
    handshake: Handshake,
    /// The preparations; answers are read into them once the log-in is over.
    preparations: Preparations,
    logged_in: bool,
    /// The answer to [`READ_ONLY`] is still to come.
    guarding: bool,
    inbound: Inbound,
    /// The log-in's next packet, which waits until the request for encryption has gone.
    encrypted_answer: Option<Vec<u8>>,
    /// Whether the server has sent anything yet.
    reached: bool,
}

impl Opening {
    pub(super) fn new(account: Arc<Account>, handshake: Handshake, forms: Arc<[Form]>) -> Self {
        Self {
            account,
            handshake,
            preparations: Preparations::new(forms),
            logged_in: false,
            guarding: false,
            inbound: Inbound::default(),
            encrypted_answer: None,
            reached: false,
        }
    }

    /// The columns of each result are to be described with it: the workload reads the values.
    pub(super) fn ask_for_definitions(&mut self) {
        self.handshake.ask_for_definitions();
    }

    /// Goes on as far as the server has answered. `Ready` with the statements' handles.
    pub(super) fn poll(
        &mut self,
        stream: &mut Stream,
        outbound: &mut Outbound,
    ) -> Poll<Result<Box<[Handle]>, Fault>> {
        READ_BUFFER
            .with_borrow_mut(|buffer| self.proceed(stream, outbound, buffer))
            .map_or_else(|fault| Poll::Ready(Err(fault)), |poll| poll.map(Ok))
    }

    fn proceed(
        &mut self,
        stream: &mut Stream,
        outbound: &mut Outbound,
        buffer: &mut [u8],
    ) -> Result<Poll<Box<[Handle]>>, Fault> {
        loop {
            if self.take_packets(outbound)? {
                return Ok(Poll::Ready(self.preparations.take_handles()));
            }
            self.send(stream, outbound)?;
            match stream.receive(buffer) {
                Poll::Pending => return Ok(Poll::Pending),
                Poll::Ready(Ok(read)) => {
                    self.reached = true;
                    self.inbound.extend(&buffer[..read]);
                }
                Poll::Ready(Err(error)) => return Err(self.account.broken(error, self.reached)),
            }
        }
    }

    /// Takes up what has arrived; true when the connection is open.
    fn take_packets(&mut self, outbound: &mut Outbound) -> Result<bool, Fault> {
        while !self.logged_in {
            let Some(packet) = self.inbound.next_packet()? else {
                return Ok(false);
            };
            match self.handshake.on_packet(&self.account.login, packet)? {
                Step::Wait => {}
                Step::Send(answer) => outbound.push(self.inbound.number_sent(), &answer)?,
                Step::Encrypt { request, answer } => {
                    outbound.push(self.inbound.number_sent(), &request)?;
                    self.encrypted_answer = Some(answer);
                    return self.refuse_surplus().map(|()| false);
                }
                Step::Done => {
                    self.refuse_surplus()?;
                    self.logged_in = true;
                    if self.account.login.read_only {
                        outbound.push(0, READ_ONLY)?;
                        self.inbound.begin_answer();
                        self.guarding = true;
                    }
                    self.preparations.ask(outbound)?;
                }
            }
        }
        if self.guarding {
            match self.inbound.next_packet()? {
                None => return Ok(false),
                Some([0x00, ..]) => self.guarding = false,
                Some(refusal) => return Err(server_error(refusal)),
            }
        }
        self.preparations.take_answers(&mut self.inbound)
    }

    fn send(&mut self, stream: &mut Stream, outbound: &mut Outbound) -> Result<(), Fault> {
        outbound.send(stream)?;
        if outbound.is_waiting() {
            return Ok(());
        }
        if let Some(answer) = self.encrypted_answer.take()
            && let Some(tls) = &self.account.tls
        {
            stream.encrypt(tls)?;
            outbound.push(self.inbound.number_sent(), &answer)?;
            outbound.send(stream)?;
        }
        Ok(())
    }

    /// Nothing may arrive before it was asked for: before encryption, somebody else could have sent
    /// it in clear text.
    fn refuse_surplus(&self) -> Result<(), Fault> {
        if self.inbound.is_empty() {
            return Ok(());
        }
        Err(protocol("words in a log-in that nothing asked for"))
    }
}
