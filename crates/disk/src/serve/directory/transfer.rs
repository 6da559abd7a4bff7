//! A transfer of a file's bytes: as many requests of the disk as it lies in pieces, and one answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use fuser::Errno;
use parking_lot::Mutex;

use super::Directory;
use crate::directory::{BLOCK_BYTES, Piece};
use crate::request::{Kind, Nanos, Request};
use crate::serve::answer::Answer;

const SECTOR_BYTES: u64 = 512;

/// The smallest transfer: a sector for direct requests, a block for those through the kernel's
/// cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Sector,
    Block,
}

impl Unit {
    fn bytes(self) -> u64 {
        match self {
            Self::Sector => SECTOR_BYTES,
            Self::Block => BLOCK_BYTES,
        }
    }
}

impl Directory {
    /// Answers when the disk has done all pieces; at once if all are holes.
    pub(super) fn transfer(
        &self,
        kind: Kind,
        pieces: &[Piece],
        unit: Unit,
        arrived: Nanos,
        answer: Answer,
    ) {
        let requests: Vec<Request> = pieces
            .iter()
            .filter_map(|piece| request(kind, piece, unit))
            .collect();
        match requests[..] {
            [] => answer.send(arrived),
            [one] => self.engine.arrive(one, arrived, answer),
            _ => {
                let whole = Arc::new(Whole::new(requests.len(), answer));
                for request in requests {
                    let whole = whole.clone();
                    let part = Answer::Then(Box::new(move |outcome| whole.part_done(outcome)));
                    self.engine.arrive(request, arrived, part);
                }
            }
        }
    }
}

/// The whole units that a piece touches; `None` for a hole.
fn request(kind: Kind, piece: &Piece, unit: Unit) -> Option<Request> {
    let start = piece.disk_bytes?;
    let end = (start + piece.length_bytes).next_multiple_of(unit.bytes());
    let offset_bytes = start - start % unit.bytes();
    Some(Request {
        kind,
        offset_bytes,
        length_bytes: end - offset_bytes,
    })
}

/// An answer that several requests stand between.
struct Whole {
    left: AtomicUsize,
    answer: Mutex<Option<Answer>>,
}

impl Whole {
    fn new(parts: usize, answer: Answer) -> Self {
        Self {
            left: AtomicUsize::new(parts),
            answer: Mutex::new(Some(answer)),
        }
    }

    /// The last part answers; the first that fails does so at once.
    fn part_done(&self, outcome: Result<Nanos, Errno>) {
        let last = self.left.fetch_sub(1, Ordering::AcqRel) == 1;
        if !last && outcome.is_ok() {
            return;
        }
        if let Some(answer) = self.answer.lock().take() {
            match outcome {
                Ok(at) => answer.send(at),
                Err(errno) => answer.fail(errno),
            }
        }
    }
}
