//! An answer to the kernel that has not been sent yet.

use fuser::{Errno, ReplyData, ReplyEmpty, ReplyWrite};

use crate::request::Nanos;

/// Everything that is needed to answer a request, so that any thread can do so at its time.
pub(super) enum Answer {
    /// The bytes were read when the request arrived, so that the answer leaves on time.
    Read(ReplyData, Vec<u8>),
    Written(ReplyWrite, u32),
    Done(ReplyEmpty),
    /// Another step follows the request, and is started when the model has answered it.
    Then(Box<dyn FnOnce(Result<Nanos, Errno>) + Send>),
}

impl Answer {
    /// The model's moment, without timing that of the arrival; or what has failed.
    pub(super) fn give(self, outcome: Result<Nanos, Errno>) {
        match (self, outcome) {
            (Self::Read(reply, bytes), Ok(_)) => reply.data(&bytes),
            (Self::Written(reply, bytes), Ok(_)) => reply.written(bytes),
            (Self::Done(reply), Ok(_)) => reply.ok(),
            (Self::Read(reply, _), Err(errno)) => reply.error(errno),
            (Self::Written(reply, _), Err(errno)) => reply.error(errno),
            (Self::Done(reply), Err(errno)) => reply.error(errno),
            (Self::Then(next), outcome) => next(outcome),
        }
    }
}
