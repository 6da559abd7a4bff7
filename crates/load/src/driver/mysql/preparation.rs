//! Statements are prepared once per connection, before anything is timed.

use std::io::{Read, Write};

use super::error::server_error;
use super::statement::{Form, Handle};
use super::wire::{Wire, protocol};
use crate::driver::{Fault, Statement};

const COM_STMT_PREPARE: u8 = 0x16;
const OK: u8 = 0x00;
const ERROR: u8 = 0xFF;

/// Prepares those statements whose form asks for it.
pub(super) fn prepare<S: Read + Write>(
    wire: &mut Wire<S>,
    statements: &[Statement],
    forms: &[Form],
) -> Result<Vec<Handle>, Fault> {
    let pairs = statements.iter().zip(forms);
    pairs
        .map(|(statement, form)| match form {
            Form::Text { .. } => Ok(Handle::default()),
            Form::Prepared { parameters } => prepare_one(wire, &statement.sql, *parameters),
        })
        .collect()
}

fn prepare_one<S: Read + Write>(
    wire: &mut Wire<S>,
    sql: &str,
    parameters: usize,
) -> Result<Handle, Fault> {
    let mut command = vec![COM_STMT_PREPARE];
    command.extend_from_slice(sql.as_bytes());
    wire.command(&command)?;
    let mut preparation = Preparation::new(parameters);
    loop {
        if let Some(handle) = preparation.on_packet(wire.receive()?)? {
            return Ok(handle);
        }
    }
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
    /// Expects a statement with so many parameters.
    #[must_use]
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
        Ok(self.id.filter(|_| self.packets_left == 0).map(|id| Handle {
            id,
            types_known: false,
        }))
    }

    fn begin(&mut self, content: &[u8]) -> Result<(), Fault> {
        let Some(
            &[
                id0,
                id1,
                id2,
                id3,
                columns0,
                columns1,
                parameters0,
                parameters1,
            ],
        ) = content.first_chunk::<8>()
        else {
            return Err(protocol("the answer to a preparation breaks off"));
        };
        let columns = u16::from_le_bytes([columns0, columns1]);
        let parameters = u16::from_le_bytes([parameters0, parameters1]);
        if usize::from(parameters) != self.parameters {
            return Err(protocol(format!(
                "the server counts {parameters} parameters where there are {}",
                self.parameters
            )));
        }
        let with_end = |definitions: u16| usize::from(definitions) + usize::from(definitions > 0);
        self.id = Some(u32::from_le_bytes([id0, id1, id2, id3]));
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
