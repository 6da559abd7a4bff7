//! Statements are prepared once per connection, before anything is timed.

use std::sync::Arc;

use mysql_common::io::ParseBuf;

use super::error::server_error;
use super::inbound::Inbound;
use super::outbound::Outbound;
use super::reply::{ERROR, OK};
use super::statement::{Form, Handle};
use super::wire::protocol;
use crate::driver::{Fault, ServerError};

pub(super) const COM_STMT_PREPARE: u8 = 0x16;
/// It has no reply.
pub(super) const COM_STMT_CLOSE: u8 = 0x19;
/// `ER_UNSUPPORTED_PS`
const NOT_SUPPORTED: &str = "1295";

/// The preparation of a catalogue: all statements are sent at once, then the answers are read.
#[derive(Debug)]
pub(super) struct Preparations {
    forms: Arc<[Form]>,
    handles: Vec<Handle>,
    /// The answer that is being read: to the statement after those that have their handles.
    under_way: Option<Preparation>,
}

impl Preparations {
    pub(super) fn new(forms: Arc<[Form]>) -> Self {
        Self {
            handles: Vec::with_capacity(forms.len()),
            forms,
            under_way: None,
        }
    }

    /// Puts every statement that is to be prepared into `outbound`.
    pub(super) fn ask(&self, outbound: &mut Outbound) -> Result<(), Fault> {
        let mut command = Vec::new();
        for form in &*self.forms {
            if let Form::Prepared { sql, .. } = form {
                command.clear();
                command.push(COM_STMT_PREPARE);
                command.extend_from_slice(sql.as_bytes());
                outbound.push(0, &command)?;
            }
        }
        Ok(())
    }

    /// Reads what has arrived of the answers; true after the last.
    pub(super) fn take_answers(&mut self, inbound: &mut Inbound) -> Result<bool, Fault> {
        while let Some(form) = self.forms.get(self.handles.len()) {
            let handle = match form {
                Form::Text(_) => Handle::default(),
                Form::Prepared { parameters, sql } => {
                    let preparation = self.under_way.get_or_insert_with(|| {
                        inbound.begin_answer();
                        Preparation::new(*parameters)
                    });
                    let Some(packet) = inbound.next_packet()? else {
                        return Ok(false);
                    };
                    match preparation.on_packet(packet) {
                        Ok(Some(handle)) => handle,
                        Ok(None) => continue,
                        Err(Fault::Server(error)) if goes_as_text(&error, *parameters) => {
                            Handle::NOT_PREPARED
                        }
                        Err(fault) => return Err(blame(sql, fault)),
                    }
                }
            };
            self.under_way = None;
            self.handles.push(handle);
        }
        if inbound.is_empty() {
            return Ok(true);
        }
        Err(protocol("an answer to more statements than were prepared"))
    }

    /// One handle for each statement of the catalogue, once all answers have been read.
    pub(super) fn take_handles(&mut self) -> Box<[Handle]> {
        std::mem::take(&mut self.handles).into_boxed_slice()
    }
}

/// Whether a statement that the server cannot prepare can be sent as it is.
fn goes_as_text(error: &ServerError, parameters: usize) -> bool {
    error.code == NOT_SUPPORTED && parameters == 0
}

/// Names the statement that the server would not prepare.
fn blame(sql: &str, fault: Fault) -> Fault {
    match fault {
        Fault::Server(mut error) => {
            error.message = format!("preparing `{sql}`: {}", error.message);
            Fault::Server(error)
        }
        other => other,
    }
}

/// A statement's number, and how many columns and parameters it has, behind the first byte of the answer.
pub(crate) fn prepared(content: &[u8]) -> Option<(u32, u16, u16)> {
    let mut rest = ParseBuf(content);
    let id = rest.checked_eat_u32_le()?;
    let columns = rest.checked_eat_u16_le()?;
    Some((id, columns, rest.checked_eat_u16_le()?))
}

/// The reply to one preparation, without a socket: packets go in.
#[derive(Debug)]
pub struct Preparation {
    parameters: usize,
    id: Option<u32>,
    /// Definitions of parameters and columns, and the markers of their ends, still to come.
    packets_left: usize,
}

impl Preparation {
    /// Expects a statement with that many parameters.
    pub fn new(parameters: usize) -> Self {
        Self {
            parameters,
            id: None,
            packets_left: 0,
        }
    }

    /// Takes the server's next packet; the statement's handle after the last.
    pub fn on_packet(&mut self, packet: &[u8]) -> Result<Option<Handle>, Fault> {
        match (self.id, packet) {
            (_, [ERROR, ..]) => return Err(server_error(packet)),
            (None, [OK, id @ ..]) => self.begin(id)?,
            (Some(_), [_, ..]) if self.packets_left > 0 => self.packets_left -= 1,
            _ => return Err(protocol("a packet that answers no preparation")),
        }
        Ok(self
            .id
            .filter(|_| self.packets_left == 0)
            .map(|id| Handle { id, types: 0 }))
    }

    fn begin(&mut self, content: &[u8]) -> Result<(), Fault> {
        let (id, columns, parameters) =
            prepared(content).ok_or_else(|| protocol("the answer to a preparation breaks off"))?;
        if usize::from(parameters) != self.parameters {
            return Err(protocol(format!(
                "the server counts {parameters} parameters, but there are {}",
                self.parameters
            )));
        }
        let with_end = |definitions: u16| usize::from(definitions) + usize::from(definitions > 0);
        self.id = Some(id);
        self.packets_left = with_end(columns) + with_end(parameters);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &[u8] = b"\0\x05\0\0\0\x01\0\x02\0\0\0\0";

    #[test]
    fn definitions_are_passed_over() {
        let mut preparation = Preparation::new(2);
        assert_eq!(preparation.on_packet(ANSWER).unwrap(), None);
        // Two parameters and their end, one column and its end.
        for _ in 0..4 {
            assert_eq!(preparation.on_packet(b"\x03def").unwrap(), None);
        }
        assert_eq!(
            preparation
                .on_packet(b"\xFE\0\0\x02\0")
                .unwrap()
                .unwrap()
                .id,
            5
        );
    }

    #[test]
    fn without_parameters_and_columns_the_answer_is_all() {
        let handle = Preparation::new(0)
            .on_packet(b"\0\x07\0\0\0\0\0\0\0\0\0\0")
            .unwrap();
        assert_eq!(handle.unwrap().id, 7);
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(matches!(
            Preparation::new(1).on_packet(ANSWER),
            Err(Fault::Protocol(_))
        ));
        assert!(matches!(
            Preparation::new(2).on_packet(&ANSWER[..6]),
            Err(Fault::Protocol(_))
        ));
        assert!(matches!(
            Preparation::new(2).on_packet(b""),
            Err(Fault::Protocol(_))
        ));
        assert!(matches!(
            Preparation::new(2).on_packet(b"\xFF\x7A\x04#42S02x"),
            Err(Fault::Server(_))
        ));
    }
}
