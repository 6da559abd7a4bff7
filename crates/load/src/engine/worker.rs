//! One worker thread: connects its clients, lets them work, reports.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use mio::{Interest, Poll, Registry, Token, Waker};

use super::client::{Client, ClientOf};
use super::crew::Crew;
use super::message::{Control, Failure, Message, Start};
use super::recorder::Recorder;
use super::scheduling;
use crate::driver::{Driver, Fault, Protocol, Session};
use crate::measure::Clock;
use crate::workload::Workload;

/// How the clients of a job differ from those of a steady run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner {
    /// The clients connect when the phase begins, so that it counts.
    pub(super) connects_late: bool,
    /// A client that has given up so many transactions in a row has no more work.
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

/// What a worker is made from.
pub(super) struct Worker<D: Driver, W: Workload> {
    pub(super) number: usize,
    /// The numbers of its clients, unique in the run.
    pub(super) clients: Vec<usize>,
    pub(super) driver: Arc<D>,
    pub(super) workload: Arc<W>,
    pub(super) protocol: Protocol,
    pub(super) manner: Manner,
    pub(super) clock: Clock,
    pub(super) control: Arc<Control>,
    /// Where connections are registered: that of the poll which the worker is run with.
    pub(super) registry: Registry,
    /// Wakes that poll.
    pub(super) waker: Arc<Waker>,
    pub(super) inbox: Receiver<Start>,
    pub(super) outbox: Sender<Message>,
}

impl<D: Driver + Send + 'static, W: Workload> Worker<D, W> {
    /// Connects, waits for the start, runs to the end, and keeps the connections open until the
    /// conductor lets go of the worker.
    pub(super) fn run(&self, poll: Poll) -> Result<(), Failure> {
        scheduling::take_turns();
        let connects_late = self.manner.connects_late;
        let early = (!connects_late).then(|| self.connect()).transpose()?;
        if self.outbox.send(Message::Connected).is_err() {
            return Ok(());
        }
        let Ok(Start(schedule)) = self.inbox.recv() else {
            return Ok(());
        };
        let clients = early.map_or_else(|| self.connect(), Ok)?;
        let outbox = self.outbox.clone();
        let recorder = Recorder::new(self.number, outbox, self.workload.catalogue(), schedule);
        let mut crew = Crew::new(self, clients, recorder);
        crew.work(poll)?;
        let still_connected = crew.finish();
        let _ = self.inbox.recv();
        drop(still_connected);
        Ok(())
    }

    fn connect(&self) -> Result<Vec<ClientOf<D, W>>, Failure> {
        let mut clients = Vec::with_capacity(self.clients.len());
        for number in &self.clients {
            let mut session = self
                .session()
                .map_err(|fault| Failure::from_fault("connecting a client", &fault))?;
            self.register(clients.len(), &mut session)
                .map_err(Failure::internal)?;
            clients.push(Client::new(session, self.workload.script(*number)));
        }
        Ok(clients)
    }

    fn session(&self) -> Result<D::Session, Fault> {
        self.driver
            .connect(self.workload.catalogue().statements(), self.protocol)
    }

    /// Asks for readability alone: on a Unix socket, every read by the server would make us
    /// writable again and wake us for nothing.
    pub(super) fn register(&self, index: usize, session: &mut D::Session) -> io::Result<()> {
        match session.source() {
            Some(source) => self
                .registry
                .register(source, Token(index), Interest::READABLE),
            None => Ok(()),
        }
    }
}
