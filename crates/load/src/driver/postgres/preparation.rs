//! The server's answers to the preparation of a catalogue, without a socket.
//!
//! The server infers the parameters' types from the statement and returns them. Arguments are then
//! sent in exactly these types, so that `id = $1` on an integer column stays an integer comparison
//! and finds its index.

use std::sync::Arc;

use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::{Message, ParameterDescriptionBody};

use super::error::Refusal;
use super::plan::{Asked, Plan};
use super::statement::{Execution, ParameterType};
use crate::driver::{Fault, protocol};

/// A catalogue on its way to being runnable on one connection.
pub(super) struct Preparation {
    plan: Arc<Plan>,
    /// Statements with a complete answer.
    answered: usize,
    /// How much of the answer to the next one has arrived.
    progress: Progress,
    types: Vec<ParameterType>,
}

enum Progress {
    Asked,
    Parsed,
    /// Its parameters are known; the description of its rows is still to come.
    Described,
}

impl Preparation {
    /// Awaits the answers to the plan's request.
    pub(super) fn new(plan: Arc<Plan>) -> Self {
        Self {
            plan,
            answered: 0,
            progress: Progress::Asked,
            types: Vec::new(),
        }
    }

    /// Takes one message; the runnable catalogue when it was the last one.
    pub(super) fn on_message(
        &mut self,
        message: &Message,
    ) -> Result<Option<Arc<[Execution]>>, Fault> {
        self.progress = match (&self.progress, message) {
            (
                _,
                Message::NoticeResponse(_)
                | Message::ParameterStatus(_)
                | Message::NotificationResponse(_)
                | Message::CloseComplete,
            ) => return Ok(None),
            (_, Message::ErrorResponse(body)) => return Err(self.blame(Refusal::read(body)?)),
            (Progress::Asked, Message::ReadyForQuery(_)) if self.awaited().is_none() => {
                return Ok(Some(self.plan.executions(std::mem::take(&mut self.types))));
            }
            (Progress::Asked, Message::ParseComplete) if self.awaited().is_some() => {
                Progress::Parsed
            }
            (Progress::Parsed, Message::ParameterDescription(body)) => {
                self.describe(body)?;
                Progress::Described
            }
            (Progress::Described, Message::RowDescription(_) | Message::NoData) => {
                self.answered += 1;
                Progress::Asked
            }
            _ => {
                let what = "a message that does not answer the preparation of a statement";
                return Err(protocol(what));
            }
        };
        Ok(None)
    }

    fn awaited(&self) -> Option<&Asked> {
        self.plan.asked.get(self.answered)
    }

    fn describe(&mut self, body: &ParameterDescriptionBody) -> Result<(), Fault> {
        let before = self.types.len();
        let mut oids = body.parameters();
        while let Some(oid) = oids
            .next()
            .map_err(|error| protocol(format!("a malformed description: {error}")))?
        {
            self.types.push(ParameterType::from_oid(oid));
        }
        let found = self.types.len() - before;
        match self.awaited() {
            Some(statement) if found != statement.parameter_count => Err(protocol(format!(
                "{}: the server counts {found} parameters, but there are {}",
                statement.sql, statement.parameter_count
            ))),
            _ => Ok(()),
        }
    }

    /// Names the statement that the server would not prepare.
    fn blame(&self, refusal: Refusal) -> Fault {
        let mut error = refusal.into_server_error();
        if let Some(statement) = self.awaited() {
            error.message = format!("preparing `{}`: {}", statement.sql, error.message);
        }
        Fault::Server(error)
    }
}
