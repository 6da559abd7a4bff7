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
    /// The model's moment is `at`; without timing, the moment of arrival.
    pub(super) fn send(self, at: Nanos) {
        match self {
            Self::Read(reply, bytes) => reply.data(&bytes),
            Self::Written(reply, bytes) => reply.written(bytes),
            Self::Done(reply) => reply.ok(),
            Self::Then(next) => next(Ok(at)),
        }
    }

    pub(super) fn fail(self, errno: Errno) {
        match self {
            Self::Read(reply, _) => reply.error(errno),
            Self::Written(reply, _) => reply.error(errno),
            Self::Done(reply) => reply.error(errno),
            Self::Then(next) => next(Err(errno)),
        }
    }
}
