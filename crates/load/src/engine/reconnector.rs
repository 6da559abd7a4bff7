//! Makes lost connections anew beside a worker: a log-in blocks, and the clients that still have
//! their connections must not wait for it.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use mio::Waker;

use super::message::Failure;
use super::worker::Worker;
use crate::driver::{Driver, Fault};
use crate::workload::Workload;

/// The client, and what came of connecting it.
type Outcome<D> = (usize, Result<<D as Driver>::Session, Fault>);

/// A thread of its own, which ends when this is dropped and its last log-in is over.
pub(super) struct Reconnector<D: Driver> {
    wishes: Sender<usize>,
    outcomes: Receiver<Outcome<D>>,
}

impl<D: Driver + Send + 'static> Reconnector<D> {
    /// Starts the thread; each outcome wakes the worker.
    pub(super) fn start<W: Workload>(worker: &Worker<D, W>) -> Result<Self, Failure> {
        let (wishes, inbox) = channel();
        let (outbox, outcomes) = channel();
        let driver = Arc::clone(&worker.driver);
        let workload = Arc::clone(&worker.workload);
        let waker = Arc::clone(&worker.waker);
        let protocol = worker.protocol;
        let work = move || {
            for index in inbox {
                let outcome = driver.connect(workload.catalogue().statements(), protocol);
                if outbox.send((index, outcome)).is_err() {
                    return;
                }
                wake(&waker);
            }
        };
        thread::Builder::new()
            .name(format!("reconnector {}", worker.number))
            .spawn(work)
            .map_err(Failure::internal)?;
        Ok(Self { wishes, outcomes })
    }

    pub(super) fn connect(&self, index: usize) -> Result<(), Failure> {
        self.wishes.send(index).map_err(|_| broken())
    }

    /// The next outcome, waiting for it no longer than `timeout`.
    pub(super) fn outcome(&self, timeout: Duration) -> Result<Option<Outcome<D>>, Failure> {
        match self.outcomes.recv_timeout(timeout) {
            Ok(outcome) => Ok(Some(outcome)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(broken()),
        }
    }
}

fn wake(waker: &Waker) {
    // A worker that cannot be woken looks at its outcomes when its next interval ends.
    let _ = waker.wake();
}

fn broken() -> Failure {
    Failure::internal("the thread that makes connections panicked; see standard error")
}
