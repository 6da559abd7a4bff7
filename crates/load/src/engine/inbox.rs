//! Messages to a run from its workers and from outside.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use super::conductor::RunError;
use super::message::{Message, Outside};
use crate::failure::Failure;

/// Leave to continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line {
    /// The number that stood in it.
    pub(super) number: Option<u64>,
}

/// Both ends of the channel that everyone writes to.
pub(super) struct Inbox {
    pub(super) outbox: Sender<Message>,
    receiver: Receiver<Message>,
    /// Whether the program that started the run says when it continues; without it the run ends.
    lockstep: bool,
}

impl Inbox {
    pub(super) fn new(mailbox: (Sender<Message>, Receiver<Message>), lockstep: bool) -> Self {
        let (outbox, receiver) = mailbox;
        Self {
            outbox,
            receiver,
            lockstep,
        }
    }

    /// The next message; `None` when none came within the time (`None`: however long it takes).
    pub(super) fn receive(&self, time: Option<Duration>) -> Result<Option<Message>, RunError> {
        let received = match time {
            None => self
                .receiver
                .recv()
                .map_err(|_| RecvTimeoutError::Disconnected),
            Some(time) => self.receiver.recv_timeout(time),
        };
        match received {
            Ok(Message::Failed(failure)) => Err(failure.into()),
            Ok(Message::FromOutside(Outside::InputClosed)) if self.lockstep => {
                Err(RunError::InputClosed)
            }
            Ok(message) => Ok(Some(message)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                Err(Failure::internal("every worker has ended without a word").into())
            }
        }
    }

    /// In lockstep, waits until the other side lets the run continue; `None` if a signal came
    /// instead.
    pub(super) fn await_line(&self) -> Result<Option<Line>, RunError> {
        if !self.lockstep {
            return Ok(Some(Line { number: None }));
        }
        loop {
            match self.receive(None)? {
                Some(Message::FromOutside(Outside::Line(number))) => {
                    return Ok(Some(Line { number }));
                }
                Some(Message::FromOutside(Outside::Interrupt)) => return Ok(None),
                _ => {}
            }
        }
    }

    /// Whether a signal has come. Other messages no longer matter.
    pub(super) fn is_interrupted(&self) -> Result<bool, RunError> {
        while let Some(message) = self.receive(Some(Duration::ZERO))? {
            if matches!(message, Message::FromOutside(Outside::Interrupt)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
