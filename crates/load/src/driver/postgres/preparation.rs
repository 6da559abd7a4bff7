//! Preparing the catalogue, without a socket: Parse and Describe for each statement.
//!
//! The server infers the parameters' types from the statement and tells them; arguments are
//! then sent in exactly these types, so that `id = $1` on an integer column stays an integer
//! comparison and finds its index.

use std::collections::VecDeque;

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::{Message, ParameterDescriptionBody};
use postgres_protocol::message::frontend;

use super::error::Refusal;
use super::statement::{Execution, ParameterType};
use crate::driver::template::Template;
use crate::driver::{Fault, Protocol, Statement};

/// Statements parsed in one round trip. The server's answers to that many fit into the socket's
/// buffers, so that neither side can wait for the other to read.
const BATCH_STATEMENTS: usize = 32;

/// The statements of a catalogue on their way to being runnable on one connection.
pub(super) struct Preparation {
    executions: Vec<Execution>,
    /// Statements of the batch under way, in order: those whose answers are still due.
    awaited: VecDeque<Awaited>,
    waiting: VecDeque<Awaited>,
}

struct Awaited {
    index: usize,
    sql: String,
    expected_parameters: usize,
}

impl Preparation {
    /// Starts with the text form of every statement; those that are to be prepared wait.
    pub(super) fn new(statements: &[Statement], protocol: Protocol) -> Self {
        let waiting = statements
            .iter()
            .enumerate()
            .filter(|(_, statement)| protocol == Protocol::Prepared && statement.prepare)
            .map(|(index, statement)| {
                let template = Template::new(&statement.sql);
                Awaited {
                    index,
                    sql: template.numbered(),
                    expected_parameters: template.parameter_count(),
                }
            })
            .collect();
        Self {
            executions: statements.iter().map(Execution::text).collect(),
            awaited: VecDeque::new(),
            waiting,
        }
    }

    /// Writes the next batch to `out`; false when there is none: everything is prepared.
    pub(super) fn next_batch(&mut self, out: &mut BytesMut) -> Result<bool, Fault> {
        let batch = self.waiting.len().min(BATCH_STATEMENTS);
        self.awaited = self.waiting.drain(..batch).collect();
        for statement in &self.awaited {
            let name = name(statement.index);
            frontend::parse(&name, &statement.sql, [], out)
                .and_then(|()| frontend::describe(b'S', &name, out))
                .map_err(|error| {
                    Fault::Protocol(format!("{}: cannot be sent: {error}", statement.sql))
                })?;
        }
        if batch > 0 {
            frontend::sync(out);
        }
        Ok(batch > 0)
    }

    /// Takes one message; true when the batch is done.
    pub(super) fn on_message(&mut self, message: &Message) -> Result<bool, Fault> {
        match message {
            Message::ParseComplete
            | Message::NoticeResponse(_)
            | Message::ParameterStatus(_)
            | Message::NotificationResponse(_) => Ok(false),
            Message::ParameterDescription(body) => self.describe(body),
            Message::RowDescription(_) | Message::NoData => {
                self.awaited.pop_front().map(|_| false).ok_or_else(surplus)
            }
            Message::ReadyForQuery(_) if self.awaited.is_empty() => Ok(true),
            Message::ErrorResponse(body) => Err(self.blame(Refusal::read(body)?)),
            _ => Err(Fault::Protocol(
                "a message that does not answer the preparation of a statement".into(),
            )),
        }
    }

    pub(super) fn into_executions(self) -> Vec<Execution> {
        self.executions
    }

    fn describe(&mut self, body: &ParameterDescriptionBody) -> Result<bool, Fault> {
        let statement = self.awaited.front().ok_or_else(surplus)?;
        let parameters: Vec<_> = body
            .parameters()
            .map(|oid| Ok(ParameterType::from_oid(oid)))
            .collect()
            .map_err(|error| Fault::Protocol(format!("a malformed description: {error}")))?;
        if parameters.len() != statement.expected_parameters {
            return Err(Fault::Protocol(format!(
                "{}: the server finds {} parameters where there are {}",
                statement.sql,
                parameters.len(),
                statement.expected_parameters
            )));
        }
        self.executions[statement.index] = Execution::Prepared {
            name: name(statement.index),
            parameters,
        };
        Ok(false)
    }

    /// Names the statement that the server would not prepare.
    fn blame(&self, refusal: Refusal) -> Fault {
        let mut error = refusal.into_server_error();
        if let Some(statement) = self.awaited.front() {
            error.message = format!("preparing `{}`: {}", statement.sql, error.message);
        }
        Fault::Server(error)
    }
}

fn name(index: usize) -> String {
    format!("s{index}")
}

fn surplus() -> Fault {
    Fault::Protocol("an answer to more statements than were to be prepared".into())
}
