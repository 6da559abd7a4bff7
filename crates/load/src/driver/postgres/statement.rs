//! One statement of the catalogue as this connection runs it, and how an execution is written.

use std::error::Error;
use std::fmt::Write;

use bytes::{BufMut, BytesMut};
use postgres_protocol::message::frontend::{self, BindError};
use postgres_protocol::{IsNull, Oid};

use crate::driver::template::Template;
use crate::driver::{Arg, Args, Dialect, Fault, ServerError, Statement};

/// `int8`, `int2` and `int4` in `pg_type`; fixed since the first release.
const INT8_OID: Oid = 20;
const INT2_OID: Oid = 21;
const INT4_OID: Oid = 23;

const TEXT_FORMAT: i16 = 0;
const BINARY_FORMAT: i16 = 1;

/// The form in which a statement is executed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Execution {
    /// A simple Query with the parameters as literals.
    Text(Template),
    /// Bind, Execute and Sync of a statement that the server has parsed.
    Prepared {
        name: String,
        parameters: Vec<ParameterType>,
    },
}

/// The server's type of a parameter, as far as it changes how an argument is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParameterType {
    Int2,
    Int4,
    Int8,
    /// Anything else is sent as text, which every type can read.
    Other,
}

impl ParameterType {
    pub(super) fn from_oid(oid: Oid) -> Self {
        match oid {
            INT2_OID => Self::Int2,
            INT4_OID => Self::Int4,
            INT8_OID => Self::Int8,
            _ => Self::Other,
        }
    }

    /// The wire format for this argument. An integer that does not fit goes as text, so that
    /// the server itself refuses it.
    fn format_of(self, arg: &Arg) -> i16 {
        let fits = match (self, arg) {
            (Self::Int2, Arg::Int(value)) => i16::try_from(*value).is_ok(),
            (Self::Int4, Arg::Int(value)) => i32::try_from(*value).is_ok(),
            (Self::Int8, Arg::Int(_)) => true,
            (_, Arg::Text(_) | Arg::Double(_) | Arg::Null) | (Self::Other, _) => false,
        };
        if fits { BINARY_FORMAT } else { TEXT_FORMAT }
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "format_of chose binary only where the value fits"
    )]
    fn put(self, arg: &Arg, args: &Args, out: &mut BytesMut) {
        match arg {
            Arg::Text(range) => out.put_slice(args.text(range)),
            Arg::Null => {}
            Arg::Double(value) => put_double(*value, out),
            Arg::Int(value) if self.format_of(arg) == TEXT_FORMAT => put_decimal(*value, out),
            Arg::Int(value) => match self {
                Self::Int2 => out.put_i16(*value as i16),
                Self::Int4 => out.put_i32(*value as i32),
                Self::Int8 | Self::Other => out.put_i64(*value),
            },
        }
    }
}

impl Execution {
    pub(super) fn text(statement: &Statement) -> Self {
        Self::Text(Template::new(&statement.sql, Dialect::Postgres))
    }

    /// Writes everything that one execution sends. Fails if the arguments do not match the
    /// statement, with the code that the server would give.
    pub(super) fn write(&self, args: &Args, out: &mut BytesMut) -> Result<(), Fault> {
        match self {
            Self::Text(template) => {
                check_count(template.parameter_count(), args)?;
                write_query(template, args, out)
            }
            Self::Prepared { name, parameters } => {
                check_count(parameters.len(), args)?;
                write_bind(name, parameters, args, out)
            }
        }
    }
}

fn check_count(expected: usize, args: &Args) -> Result<(), Fault> {
    let given = args.values().len();
    if given == expected {
        return Ok(());
    }
    Err(Fault::Server(ServerError {
        code: "08P01".into(),
        sql_state: None,
        message: format!("{given} arguments for a statement with {expected} parameters"),
        transient: false,
    }))
}

fn write_bind(
    name: &str,
    parameters: &[ParameterType],
    args: &Args,
    out: &mut BytesMut,
) -> Result<(), Fault> {
    let bound = parameters.iter().zip(args.values());
    frontend::bind(
        "",
        name,
        bound
            .clone()
            .map(|(parameter, arg)| parameter.format_of(arg)),
        bound,
        |(parameter, arg), out| {
            if *arg == Arg::Null {
                return Ok(IsNull::Yes);
            }
            parameter.put(arg, args, out);
            Ok(IsNull::No)
        },
        // Results as text, as every other load tool asks for them.
        [],
        out,
    )
    .map_err(unwritable)?;
    frontend::execute("", 0, out).map_err(|error| unwritable(error.into()))?;
    frontend::sync(out);
    Ok(())
}

/// A simple Query of a statement that is drawn whole. A zero byte would end the message early.
pub(super) fn write_sql(sql: &[u8], out: &mut BytesMut) -> Result<(), Fault> {
    let base = begin_query(out);
    out.put_slice(sql);
    finish_query(base, out)
}

/// A simple Query, written in place: the text never exists as a string of its own.
fn write_query(template: &Template, args: &Args, out: &mut BytesMut) -> Result<(), Fault> {
    let base = begin_query(out);
    template.splice(args, Dialect::Postgres, out);
    finish_query(base, out)
}

fn begin_query(out: &mut BytesMut) -> usize {
    let base = out.len();
    out.put_u8(b'Q');
    out.put_i32(0);
    base
}

fn finish_query(base: usize, out: &mut BytesMut) -> Result<(), Fault> {
    if out[base + 5..].contains(&0) {
        return Err(zero_byte());
    }
    out.put_u8(0);
    let length = i32::try_from(out.len() - base - 1)
        .map_err(|_| Fault::Protocol("a statement of 2 GiB or more cannot be sent".into()))?;
    out[base + 1..base + 5].copy_from_slice(&length.to_be_bytes());
    Ok(())
}

fn zero_byte() -> Fault {
    Fault::Server(ServerError {
        code: "22021".into(),
        sql_state: None,
        message: "a text argument holds a zero byte, which PostgreSQL cannot store".into(),
        transient: false,
    })
}

fn put_decimal(value: i64, out: &mut BytesMut) {
    write!(out, "{value}").expect("a growing buffer takes what is written");
}

/// Without an exponent, so that a whole number is one for an integer parameter too.
fn put_double(value: f64, out: &mut BytesMut) {
    write!(out, "{value}").expect("a growing buffer takes what is written");
}

fn unwritable(error: BindError) -> Fault {
    let error: Box<dyn Error + Send + Sync> = match error {
        BindError::Conversion(error) => error,
        BindError::Serialization(error) => error.into(),
    };
    Fault::Protocol(format!("cannot send a statement: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args() -> Args {
        let mut args = Args::default();
        args.push_int(-7);
        args.push_text(|text| text.extend_from_slice(b"it's"));
        args
    }

    #[test]
    fn text_is_spliced_and_quoted() {
        let mut out = BytesMut::new();
        Execution::text(&Statement::prepared("SELECT 1-?, ?"))
            .write(&args(), &mut out)
            .unwrap();
        assert_eq!(&out[..], b"Q\0\0\0\x1bSELECT 1-(-7), 'it''s'\0");
    }

    #[test]
    fn integers_are_bound_in_the_width_that_the_server_expects() {
        let execution = Execution::Prepared {
            name: "s1".into(),
            parameters: vec![ParameterType::Int4, ParameterType::Other],
        };
        let mut out = BytesMut::new();
        execution.write(&args(), &mut out).unwrap();
        let bind =
            b"B\0\0\0\x22\0s1\0\0\x02\0\x01\0\0\0\x02\0\0\0\x04\xff\xff\xff\xf9\0\0\0\x04it's\0\0";
        assert_eq!(&out[..bind.len()], bind);
        assert_eq!(&out[bind.len()..], b"E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04");
    }

    #[test]
    fn an_integer_too_wide_goes_as_text() {
        assert_eq!(
            ParameterType::Int4.format_of(&Arg::Int(1 << 40)),
            TEXT_FORMAT
        );
        assert_eq!(
            ParameterType::Int8.format_of(&Arg::Int(1 << 40)),
            BINARY_FORMAT
        );
    }

    #[test]
    fn a_wrong_number_of_arguments_is_refused() {
        let fault = Execution::text(&Statement::prepared("SELECT ?"))
            .write(&args(), &mut BytesMut::new())
            .unwrap_err();
        assert!(matches!(fault, Fault::Server(error) if error.code == "08P01"));
    }
}
