//! One worker thread: connects its clients, lets them work, reports.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

use mio::{Interest, Poll, Registry, Token};

use super::client::ClientOf;
use super::conductor::RunOptions;
use super::control::Control;
use super::crew::Crew;
use super::message::{Message, Start};
use crate::driver::{Driver, Fault, Session, ask};
use crate::failure::Failure;
use crate::measure::Clock;
use crate::workload::Workload;

/// How long all sessions of a worker may take to say whether they are read-only.
const GUARD_LIMIT: Duration = Duration::from_secs(10);

/// How the clients of a job differ from those of a steady run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner {
    /// The clients connect when the phase begins, so that it counts.
    pub(super) connects_late: bool,
    /// A client that has given up this many transactions in a row has no more work.
    pub(super) most_failures: u32,
}

impl Default for Manner {
    fn default() -> Self {
        Self {
            connects_late: false,
            most_failures: u32::MAX,
        }
    }
}

/// The parts of a worker.
pub(super) struct Worker<D: Driver, W: Workload> {
    pub(super) number: usize,
    /// Of the whole run.
    pub(super) options: RunOptions,
    /// The numbers of its clients, unique in the run.
    pub(super) clients: Vec<usize>,
    pub(super) driver: Arc<D>,
    pub(super) workload: Arc<W>,
    pub(super) manner: Manner,
    pub(super) clock: Clock,
    pub(super) control: Arc<Control>,
    /// Registers connections with the poll that the worker runs.
    pub(super) registry: Registry,
    pub(super) inbox: Receiver<Start>,
    pub(super) outbox: Sender<Message>,
}

impl<D: Driver, W: Workload> Worker<D, W> {
    /// Connects, waits for the start, runs to the end, and keeps the connections open until the
    /// conductor releases the worker.
    pub(super) fn run(&self, mut poll: Poll) -> Result<(), Failure> {
        let mut crew = Crew::new(self)?;
        if !self.manner.connects_late {
            crew.connect(&mut poll)?;
        }
        if self.outbox.send(Message::Connected).is_err() {
            return Ok(());
        }
        let Ok(start) = self.inbox.recv() else {
            return Ok(());
        };
        crew.work(&mut poll, start)?;
        self.ask_guards(&mut crew.clients);
        let still_connected = crew.finish();
        let _ = self.inbox.recv();
        drop(still_connected);
        Ok(())
    }

    /// Asks the sessions whether they are still read-only, if they were opened so.
    fn ask_guards(&self, clients: &mut [ClientOf<D, W>]) {
        let Some(question) = self.driver.guard() else {
            return;
        };
        let end = Instant::now() + GUARD_LIMIT;
        for session in clients
            .iter_mut()
            .filter_map(|client| client.session.as_mut())
        {
            if let Some(source) = session.source() {
                // A client that is alone has done so.
                let _ = self.registry.deregister(source);
            }
            if let Ok(reply) = ask(session, question, end) {
                self.control.count_guard(reply.rows > 0);
            }
        }
    }

    /// Begins a client's connection and has it announced when it can be read from.
    ///
    /// Readability alone: on a Unix socket, every read by the server would make us writable again
    /// and wake us for nothing.
    pub(super) fn open(&self, index: usize) -> Result<D::Session, Fault> {
        let statements = self.workload.catalogue().statements();
        let mut session = self.driver.open(statements, self.options.protocol)?;
        if let Some(keep) = self.workload.keeps() {
            session.keep_rows(keep);
        }
        let (control, clock) = (Arc::clone(&self.control), self.clock);
        session.end_when(move || clock.now_ns() > control.given_up_ns())?;
        if let Some(source) = session.source() {
            self.registry
                .register(source, Token(index), Interest::READABLE)?;
        }
        Ok(session)
    }
}
