//! A transfer of a file's bytes: as many requests of the disk as it lies in pieces, and one answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use fuser::Errno;
use parking_lot::Mutex;

use super::Directory;
use crate::directory::Piece;
use crate::faults::Befalls;
use crate::request::{Kind, Nanos, Request};
use crate::serve::answer::Answer;
use crate::serve::engine::Arrival;

/// A piece of a transfer that lies on the disk, and its faults.
pub(super) struct Part {
    pub(super) request: Request,
    pub(super) befalls: Befalls,
}

impl Directory {
    /// The disk's requests for some pieces, `None` for a hole; the error if a fault fails one.
    pub(super) fn parts(
        &self,
        kind: Kind,
        pieces: &[Piece],
        unit_bytes: u64,
        arrived: Nanos,
    ) -> Result<Vec<Option<Part>>, Errno> {
        let befallen = |request| -> Result<Part, Errno> {
            let befalls = self.engine.faults.befalls(request, true, arrived)?;
            Ok(Part { request, befalls })
        };
        let requests = pieces.iter().map(|piece| request(kind, piece, unit_bytes));
        requests
            .map(|request| request.map(befallen).transpose())
            .collect()
    }

    /// Answers when the disk has done all parts; at once if all are holes.
    pub(super) fn transfer(&self, parts: Vec<Option<Part>>, arrived: Nanos, answer: Answer) {
        let arrivals = parts.into_iter().flatten().map(|part| Arrival {
            request: part.request,
            ticket: None,
            arrived,
            delay: part.befalls.delay,
        });
        let arrivals: Vec<Arrival> = arrivals.collect();
        match arrivals[..] {
            [] => answer.give(Ok(arrived)),
            [one] => self.engine.arrive_with(one, answer),
            _ => {
                let whole = Arc::new(Whole::new(arrivals.len(), answer));
                for arrival in arrivals {
                    let whole = whole.clone();
                    let part = Answer::Then(Box::new(move |outcome| whole.part_done(outcome)));
                    self.engine.arrive_with(arrival, part);
                }
            }
        }
    }
}

/// The whole units that a piece touches; `None` for a hole.
fn request(kind: Kind, piece: &Piece, unit_bytes: u64) -> Option<Request> {
    let start = piece.disk_bytes?;
    let end = (start + piece.length_bytes).next_multiple_of(unit_bytes);
    let offset_bytes = start - start % unit_bytes;
    Some(Request::new(kind, offset_bytes, end - offset_bytes))
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
            answer.give(outcome);
        }
    }
}
