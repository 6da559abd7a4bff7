//! Statements that one connection prepares for a script, one at a time and at any time.

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;

use super::error::Refusal;
use super::statement::{Execution, ParameterType};
use super::wire::next_message;
use crate::driver::template::Template;
use crate::driver::{Fault, Reply};

/// The statements of one connection's own.
#[derive(Default)]
pub(super) struct Own {
    statements: Vec<Execution>,
    under_way: Option<Box<UnderWay>>,
}

/// A preparation with an answer that is still to come.
#[derive(Default)]
struct UnderWay {
    inbound: BytesMut,
    types: Vec<ParameterType>,
    refusal: Option<Refusal>,
}

impl Own {
    pub(super) fn get(&self, number: usize) -> Result<&Execution, Fault> {
        self.statements
            .get(number)
            .ok_or_else(|| Fault::Protocol("a statement that was never prepared".into()))
    }

    pub(super) fn is_preparing(&self) -> bool {
        self.under_way.is_some()
    }

    /// Writes the request for one more statement.
    pub(super) fn ask(&mut self, sql: &str, out: &mut BytesMut) -> Result<(), Fault> {
        let name = name(self.statements.len());
        let numbered = Template::new(sql).numbered();
        frontend::parse(&name, &numbered, [], out)
            .and_then(|()| frontend::describe(b'S', &name, out))
            .map_err(|error| Fault::Protocol(format!("{sql}: cannot be sent: {error}")))?;
        frontend::sync(out);
        self.under_way = Some(Box::default());
        Ok(())
    }

    /// Takes what has arrived; the outcome once the server is ready again.
    pub(super) fn take_answer(&mut self, bytes: &[u8]) -> Result<Option<Reply>, Fault> {
        let Some(mut under_way) = self.under_way.take() else {
            return Err(unexpected());
        };
        under_way.inbound.extend_from_slice(bytes);
        while let Some(message) = next_message(&mut under_way.inbound)? {
            match message {
                Message::NoticeResponse(_)
                | Message::ParameterStatus(_)
                | Message::NotificationResponse(_)
                | Message::ParseComplete
                | Message::RowDescription(_)
                | Message::NoData => {}
                Message::ParameterDescription(body) => {
                    let mut oids = body.parameters();
                    while let Some(oid) = oids.next().map_err(|_| unexpected())? {
                        under_way.types.push(ParameterType::from_oid(oid));
                    }
                }
                Message::ErrorResponse(body) => under_way.refusal = Some(Refusal::read(&body)?),
                Message::ReadyForQuery(_) => {
                    if let Some(refusal) = under_way.refusal {
                        return Err(refusal.into_fault());
                    }
                    let name = name(self.statements.len());
                    self.statements.push(Execution::Prepared {
                        name,
                        parameters: under_way.types,
                    });
                    return Ok(Some(Reply::default()));
                }
                _ => return Err(unexpected()),
            }
        }
        self.under_way = Some(under_way);
        Ok(None)
    }
}

fn unexpected() -> Fault {
    Fault::Protocol("a message that does not answer the preparation of a statement".into())
}

fn name(number: usize) -> String {
    format!("own{number}")
}
