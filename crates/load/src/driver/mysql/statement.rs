//! Statements of the catalogue as the packets that execute them.

use super::literal::push_literal;
use super::wire::{LONGEST_CONTENT, header, protocol};
use crate::driver::template::Template;
use crate::driver::{Arg, Args, Fault, Protocol, Statement};

/// How a statement is sent; the same on every connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Form {
    /// Parameters between the pieces, as literals.
    Text { pieces: Vec<Vec<u8>> },
    /// Parameters bound to a statement that the server has prepared.
    Prepared { parameters: usize },
}

/// A statement as one connection has prepared it; means nothing for one sent as text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Handle {
    pub(super) id: u32,
    /// Whether the parameters' types have been sent: the server keeps them from then on.
    pub(super) types_known: bool,
}

pub(super) fn forms(statements: &[Statement], wanted: Protocol) -> Vec<Form> {
    let form = |statement: &Statement| {
        let template = Template::new(&statement.sql);
        if statement.prepare && wanted == Protocol::Prepared {
            Form::Prepared {
                parameters: template.parameter_count(),
            }
        } else {
            Form::Text {
                pieces: template
                    .pieces()
                    .map(|piece| piece.as_bytes().to_vec())
                    .collect(),
            }
        }
    };
    statements.iter().map(form).collect()
}

const COM_QUERY: u8 = 0x03;
const COM_STMT_EXECUTE: u8 = 0x17;
/// `CURSOR_TYPE_NO_CURSOR`, and one iteration.
const NO_CURSOR_ONCE: [u8; 5] = [0, 1, 0, 0, 0];
const TYPE_LONGLONG: [u8; 2] = [0x08, 0];
const TYPE_STRING: [u8; 2] = [0xFE, 0];

impl Form {
    /// Puts the whole packet into `out`, which is emptied before.
    #[inline]
    pub(super) fn write(
        &self,
        handle: &mut Handle,
        args: &Args,
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let given = args.values().len();
        if given != self.parameters() {
            return Err(protocol(format!(
                "a statement of {} parameters was given {given}",
                self.parameters()
            )));
        }
        out.clear();
        out.extend_from_slice(&header(0, 0));
        match self {
            Self::Text { pieces } => write_text(pieces, args, out),
            Self::Prepared { .. } => write_prepared(handle, args, out),
        }
        finish_packet(out)
    }

    fn parameters(&self) -> usize {
        match self {
            Self::Text { pieces } => pieces.len() - 1,
            Self::Prepared { parameters } => *parameters,
        }
    }
}

/// Puts a statement of no fixed shape into `out`, which is emptied before.
pub(super) fn write_sql(sql: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
    out.clear();
    out.extend_from_slice(&header(0, 0));
    out.push(COM_QUERY);
    out.extend_from_slice(sql);
    finish_packet(out)
}

/// Fills in the header of the packet that `out` holds.
fn finish_packet(out: &mut [u8]) -> Result<(), Fault> {
    let length = out.len() - 4;
    if length >= LONGEST_CONTENT {
        return Err(protocol(format!(
            "a statement of {length} bytes does not fit into one packet"
        )));
    }
    out[..4].copy_from_slice(&header(length, 0));
    Ok(())
}

fn write_text(pieces: &[Vec<u8>], args: &Args, out: &mut Vec<u8>) {
    out.push(COM_QUERY);
    out.extend_from_slice(&pieces[0]);
    for (arg, piece) in args.values().iter().zip(&pieces[1..]) {
        push_literal(arg, args, out);
        out.extend_from_slice(piece);
    }
}

fn write_prepared(handle: &mut Handle, args: &Args, out: &mut Vec<u8>) {
    out.push(COM_STMT_EXECUTE);
    out.extend_from_slice(&handle.id.to_le_bytes());
    out.extend_from_slice(&NO_CURSOR_ONCE);
    if args.values().is_empty() {
        return;
    }
    // No parameter is NULL.
    let bitmap_bytes = args.values().len().div_ceil(8);
    out.resize(out.len() + bitmap_bytes, 0);
    out.push(u8::from(!handle.types_known));
    if !handle.types_known {
        for arg in args.values() {
            out.extend_from_slice(match arg {
                Arg::Int(_) => &TYPE_LONGLONG,
                Arg::Text(_) => &TYPE_STRING,
            });
        }
        handle.types_known = true;
    }
    for arg in args.values() {
        match arg {
            Arg::Int(value) => out.extend_from_slice(&value.to_le_bytes()),
            Arg::Text(range) => push_string(args.text(range), out),
        }
    }
}

/// A string with its length before it, as short as the length allows.
fn push_string(text: &[u8], out: &mut Vec<u8>) {
    let [first, second, third, ..] = text.len().to_le_bytes();
    match text.len() {
        0..=250 => out.push(first),
        251..=0xFFFF => out.extend_from_slice(&[0xFC, first, second]),
        // A statement is shorter than 2^24 bytes, and so are its parameters.
        _ => out.extend_from_slice(&[0xFD, first, second, third]),
    }
    out.extend_from_slice(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(sql: &str) -> Statement {
        Statement {
            sql: sql.into(),
            prepare: true,
        }
    }

    fn args() -> Args {
        let mut args = Args::default();
        args.push_text(|out| out.extend_from_slice(b"ab"));
        args.push_int(300);
        args
    }

    #[test]
    fn text_holds_literals() {
        let forms = forms(&[statement("UPDATE t SET c=? WHERE id=?")], Protocol::Text);
        let mut out = vec![1, 2, 3];
        forms[0]
            .write(&mut Handle::default(), &args(), &mut out)
            .unwrap();
        assert_eq!(out, b"\x21\0\0\0\x03UPDATE t SET c='ab' WHERE id=300");
    }

    #[test]
    fn types_are_sent_once() {
        let forms = forms(
            &[statement("UPDATE t SET c=? WHERE id=?")],
            Protocol::Prepared,
        );
        let mut handle = Handle {
            id: 9,
            types_known: false,
        };
        let mut out = Vec::new();
        forms[0].write(&mut handle, &args(), &mut out).unwrap();
        let head = b"\x17\x09\0\0\0\0\x01\0\0\0\0";
        let values = b"\x02ab\x2c\x01\0\0\0\0\0\0";
        assert_eq!(out[4..], [&head[..], b"\x01\xFE\0\x08\0", values].concat());
        forms[0].write(&mut handle, &args(), &mut out).unwrap();
        assert_eq!(out[4..], [&head[..], b"\0", values].concat());
        assert_eq!(usize::from(out[0]), out.len() - 4);
    }

    #[test]
    fn brackets_are_text_even_when_prepared_is_asked_for() {
        let begin = Statement {
            sql: "BEGIN".into(),
            prepare: false,
        };
        assert!(matches!(
            forms(&[begin], Protocol::Prepared)[0],
            Form::Text { .. }
        ));
    }

    #[test]
    fn lengths_of_strings() {
        for (length, prefix) in [
            (250, &[250][..]),
            (251, &[0xFC, 251, 0]),
            (70_000, &[0xFD, 0x70, 0x11, 0x01]),
        ] {
            let mut out = Vec::new();
            push_string(&vec![b'x'; length], &mut out);
            assert_eq!(&out[..prefix.len()], prefix);
            assert_eq!(out.len(), prefix.len() + length);
        }
    }

    #[test]
    fn a_wrong_number_of_parameters_is_an_error() {
        let forms = forms(&[statement("SELECT ?")], Protocol::Text);
        assert!(
            forms[0]
                .write(&mut Handle::default(), &args(), &mut Vec::new())
                .is_err()
        );
    }
}
