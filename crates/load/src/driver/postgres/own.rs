//! Statements that one connection prepares for a script, one at a time and at any time.

use std::sync::Arc;

use bytes::BytesMut;
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;

use super::error::Refusal;
use super::plan::Plan;
use super::preparation::Preparation;
use super::statement::Execution;
use super::wire::next_message;
use crate::driver::{Fault, Protocol, Reply, Statement};

/// The statements of one connection's own: each is a catalogue of one.
#[derive(Default)]
pub(super) struct Own {
    statements: Vec<Arc<[Execution]>>,
    under_way: Option<Box<UnderWay>>,
    /// Which one the next takes the place of.
    pub(super) replaces: Option<usize>,
}

/// A preparation with an answer that is still to come.
struct UnderWay {
    inbound: BytesMut,
    preparation: Preparation,
    refusal: Option<Refusal>,
}

impl Own {
    pub(super) fn get(&self, number: usize) -> Result<&Execution, Fault> {
        let statement = self.statements.get(number).and_then(|own| own.first());
        statement.ok_or_else(|| Fault::Protocol("a statement that was never prepared".into()))
    }

    pub(super) fn is_preparing(&self) -> bool {
        self.under_way.is_some()
    }

    /// Writes the request for one more statement.
    pub(super) fn ask(&mut self, sql: &str, out: &mut BytesMut) -> Result<(), Fault> {
        let number = self.replaces.unwrap_or(self.statements.len());
        let name = format!("own{number}_");
        // The name that the plan gives its statement: that there may be none yet is no error.
        frontend::close(b'S', &format!("{name}0"), out)?;
        let plan = Plan::new(&name, &[Statement::prepared(sql)], Protocol::Prepared)?;
        out.extend_from_slice(&plan.request);
        self.under_way = Some(Box::new(UnderWay {
            inbound: BytesMut::new(),
            preparation: Preparation::new(Arc::new(plan)),
            refusal: None,
        }));
        Ok(())
    }

    /// Takes part of the answer; `Some` when it is whole.
    pub(super) fn take_answer(&mut self, bytes: &[u8]) -> Result<Option<Reply>, Fault> {
        let Some(mut under_way) = self.under_way.take() else {
            return Ok(None);
        };
        under_way.inbound.extend_from_slice(bytes);
        while let Some(message) = next_message(&mut under_way.inbound)? {
            match (message, under_way.refusal.take()) {
                (Message::ErrorResponse(body), _) => {
                    under_way.refusal = Some(Refusal::read(&body)?);
                }
                (Message::ReadyForQuery(_), Some(refusal)) => return Err(refusal.into_fault()),
                (message, refusal) => {
                    under_way.refusal = refusal;
                    if let Some(prepared) = under_way.preparation.on_message(&message)? {
                        self.statements.push(prepared);
                        if let Some(number) = self.replaces {
                            self.statements.swap_remove(number);
                        }
                        return Ok(Some(Reply::default()));
                    }
                }
            }
        }
        self.under_way = Some(under_way);
        Ok(None)
    }
}
