//! Statements of the catalogue as the packets that execute them.

use mysql_common::io::BufMutExt;

use super::wire::{HEADER_BYTES, LONGEST_CONTENT, header, protocol};
use crate::driver::template::Template;
use crate::driver::{Arg, Args, Dialect, Fault, Protocol, Statement};

/// The form in which a statement is sent; the same on every connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Form {
    /// Parameters as literals.
    Text(Template),
    /// Parameters bound to a statement that the server has prepared.
    Prepared { parameters: usize, sql: String },
}

/// A statement as one connection has prepared it; means nothing for one sent as text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Handle {
    pub(super) id: u32,
    /// The parameters' types as they were sent last: the server keeps them. Zero: none, or too many.
    pub(super) types: u64,
}

impl Handle {
    /// A statement without parameters that this server cannot prepare, such as BEGIN in MySQL, is
    /// sent as text, as sysbench does. Servers count their statements from 1.
    pub(super) const NOT_PREPARED: Self = Self { id: 0, types: 0 };
}

pub(super) fn forms(statements: &[Statement], wanted: Protocol) -> Vec<Form> {
    let form = |statement: &Statement| {
        let protocol = if statement.prepare {
            wanted
        } else {
            Protocol::Text
        };
        Form::new(&statement.sql, protocol)
    };
    statements.iter().map(form).collect()
}

/// The greatest `max_allowed_packet` that a server can be given.
const LONGEST_STATEMENT: usize = 1 << 30;

const COM_QUERY: u8 = 0x03;
const COM_STMT_EXECUTE: u8 = 0x17;
/// `CURSOR_TYPE_NO_CURSOR`, and one iteration.
const NO_CURSOR_ONCE: [u8; 5] = [0, 1, 0, 0, 0];
/// `LONGLONG`, `DOUBLE`, `STRING`, `NULL`.
const TYPES: [[u8; 2]; 4] = [[0x08, 0], [0x05, 0], [0xFE, 0], [0x06, 0]];

impl Form {
    pub(super) fn new(sql: &str, protocol: Protocol) -> Self {
        let template = Template::new(sql, Dialect::Mysql);
        match protocol {
            Protocol::Prepared => Self::Prepared {
                parameters: template.parameter_count(),
                sql: sql.to_owned(),
            },
            Protocol::Text => Self::Text(template),
        }
    }

    /// Puts the statement into `out`, which is emptied before. Returns how many packets it takes.
    #[inline]
    pub(super) fn write(
        &self,
        handle: &mut Handle,
        args: &Args,
        out: &mut Vec<u8>,
    ) -> Result<u8, Fault> {
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
            Self::Text(template) => {
                out.push(COM_QUERY);
                template.splice(args, Dialect::Mysql, out);
            }
            Self::Prepared { sql, .. } if *handle == Handle::NOT_PREPARED => {
                out.push(COM_QUERY);
                out.extend_from_slice(sql.as_bytes());
            }
            Self::Prepared { .. } => write_prepared(handle, args, out),
        }
        finish_packets(out)
    }

    /// Whether rows come back in the binary protocol.
    #[inline]
    pub(super) fn is_binary(&self, handle: Handle) -> bool {
        matches!(self, Self::Prepared { .. }) && handle != Handle::NOT_PREPARED
    }

    pub(super) fn parameters(&self) -> usize {
        match self {
            Self::Text(template) => template.parameter_count(),
            Self::Prepared { parameters, .. } => *parameters,
        }
    }
}

/// Puts a statement of no fixed shape into `out`, which is emptied before. Returns how many
/// packets it takes.
pub(super) fn write_sql(sql: &[u8], out: &mut Vec<u8>) -> Result<u8, Fault> {
    out.clear();
    out.extend_from_slice(&header(0, 0));
    out.push(COM_QUERY);
    out.extend_from_slice(sql);
    finish_packets(out)
}

/// Fills in the header of the statement that `out` holds; one that is too long for a packet
/// becomes several.
#[inline]
fn finish_packets(out: &mut Vec<u8>) -> Result<u8, Fault> {
    let length = out.len() - HEADER_BYTES;
    if length >= LONGEST_CONTENT {
        return split(out);
    }
    out[..HEADER_BYTES].copy_from_slice(&header(length, 0));
    Ok(1)
}

/// A packet of the greatest length says that another follows, be it an empty one.
#[cold]
fn split(out: &mut Vec<u8>) -> Result<u8, Fault> {
    let content = out.split_off(HEADER_BYTES);
    if content.len() > LONGEST_STATEMENT {
        return Err(protocol(format!(
            "a statement of {} bytes; no server takes more than {LONGEST_STATEMENT}",
            content.len()
        )));
    }
    out.clear();
    let full = content.chunks_exact(LONGEST_CONTENT);
    let rest = full.remainder();
    let mut packets = 0;
    for part in full.chain([rest]) {
        out.extend_from_slice(&header(part.len(), packets));
        out.extend_from_slice(part);
        packets += 1;
    }
    Ok(packets)
}

fn write_prepared(handle: &mut Handle, args: &Args, out: &mut Vec<u8>) {
    out.push(COM_STMT_EXECUTE);
    out.extend_from_slice(&handle.id.to_le_bytes());
    out.extend_from_slice(&NO_CURSOR_ONCE);
    if args.values().is_empty() {
        return;
    }
    let bitmap_at = out.len();
    let bitmap_bytes = args.values().len().div_ceil(8);
    out.resize(bitmap_at + bitmap_bytes, 0);
    for (place, arg) in args.values().iter().enumerate() {
        out[bitmap_at + place / 8] |= u8::from(*arg == Arg::Null) << (place % 8);
    }
    let types = types_of(args.values());
    let sends_types = types == 0 || handle.types != types;
    out.push(u8::from(sends_types));
    if sends_types {
        for arg in args.values() {
            out.extend_from_slice(&TYPES[type_of(arg)]);
        }
        handle.types = types;
    }
    for arg in args.values() {
        match arg {
            Arg::Int(value) => out.extend_from_slice(&value.to_le_bytes()),
            Arg::Double(value) => out.extend_from_slice(&value.to_le_bytes()),
            Arg::Text(range) => out.put_lenenc_str(args.text(range)),
            Arg::Null => {}
        }
    }
}

fn type_of(arg: &Arg) -> usize {
    match arg {
        Arg::Int(_) => 0,
        Arg::Double(_) => 1,
        Arg::Text(_) => 2,
        Arg::Null => 3,
    }
}

/// The types of so many values that two bits for each fit; zero for more, whose types are always sent.
fn types_of(values: &[Arg]) -> u64 {
    let packed = |types: u64, arg| types << 2 | type_of(arg) as u64;
    match values.len() {
        ..=31 => values.iter().fold(1, packed),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args() -> Args {
        let mut args = Args::default();
        args.push_text(|out| out.extend_from_slice(b"ab"));
        args.push_int(300);
        args
    }

    #[test]
    fn text_holds_literals() {
        let forms = forms(
            &[Statement::prepared("UPDATE t SET c=? WHERE id=?")],
            Protocol::Text,
        );
        let mut out = vec![1, 2, 3];
        forms[0]
            .write(&mut Handle::default(), &args(), &mut out)
            .unwrap();
        assert_eq!(out, b"\x21\0\0\0\x03UPDATE t SET c='ab' WHERE id=300");
    }

    #[test]
    fn types_are_sent_once() {
        let forms = forms(
            &[Statement::prepared("UPDATE t SET c=? WHERE id=?")],
            Protocol::Prepared,
        );
        let mut handle = Handle { id: 9, types: 0 };
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
    fn many_types_are_sent_once_too() {
        for (count, again) in [(15, 0), (31, 0), (32, 1)] {
            let sql = format!("SELECT {}", vec!["?"; count].join(","));
            let forms = forms(&[Statement::prepared(&sql)], Protocol::Prepared);
            let mut args = Args::default();
            (0..count).for_each(|_| args.push_double(0.5));
            let mut handle = Handle { id: 9, types: 0 };
            let mut out = Vec::new();
            let head = 4 + 10 + count.div_ceil(8);
            for sends in [1, again] {
                forms[0].write(&mut handle, &args, &mut out).unwrap();
                assert_eq!(out[head], sends, "{count} parameters");
                let length = head + 1 + usize::from(sends) * 2 * count + 8 * count;
                assert_eq!(out.len(), length, "{count} parameters");
            }
        }
    }

    #[test]
    fn what_the_server_cannot_prepare_goes_as_text() {
        let forms = forms(&[Statement::prepared("BEGIN")], Protocol::Prepared);
        let mut out = Vec::new();
        let mut handle = Handle::NOT_PREPARED;
        forms[0]
            .write(&mut handle, &Args::default(), &mut out)
            .unwrap();
        assert_eq!(out, b"\x06\0\0\0\x03BEGIN");
    }

    #[test]
    fn lengths_of_strings() {
        for (length, prefix) in [
            (250, &[250][..]),
            (251, &[0xFC, 251, 0]),
            (70_000, &[0xFD, 0x70, 0x11, 0x01]),
            (1 << 24, &[0xFE, 0, 0, 0, 1, 0, 0, 0, 0]),
        ] {
            let mut out = Vec::new();
            out.put_lenenc_str(&vec![b'x'; length]);
            assert_eq!(&out[..prefix.len()], prefix);
            assert_eq!(out.len(), prefix.len() + length);
        }
    }

    #[test]
    fn a_long_statement_takes_several_packets() {
        let mut out = Vec::new();
        for (length, packets, last) in [
            (LONGEST_CONTENT - 2, 1, LONGEST_CONTENT - 1),
            (LONGEST_CONTENT - 1, 2, 0),
            (2 * LONGEST_CONTENT + 5, 3, 6),
        ] {
            assert_eq!(write_sql(&vec![b'x'; length], &mut out).unwrap(), packets);
            let start = usize::from(packets - 1) * (HEADER_BYTES + LONGEST_CONTENT);
            assert_eq!(out[start..][..HEADER_BYTES], header(last, packets - 1));
            assert_eq!(out.len(), start + HEADER_BYTES + last);
            assert_eq!(out[HEADER_BYTES], COM_QUERY);
        }
    }

    #[test]
    fn a_wrong_number_of_parameters_is_an_error() {
        let forms = forms(&[Statement::prepared("SELECT ?")], Protocol::Text);
        assert!(
            forms[0]
                .write(&mut Handle::default(), &args(), &mut Vec::new())
                .is_err()
        );
    }
}
