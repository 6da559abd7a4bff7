//! The statements that one client's script has prepared.

use std::io::Write;

use mlua::Value;

use super::statement::Verb;
use crate::driver::template::Template;
use crate::driver::{Args, Dialect};

/// One prepared statement.
#[derive(Debug)]
pub(super) struct Own {
    pub(super) sql: Vec<u8>,
    pub(super) verb: Verb,
    /// Its number on the present connection, once it is prepared there.
    pub(super) number: Option<usize>,
    /// A letter for each parameter's type. The server keeps the types of the first execution.
    kinds: Vec<u8>,
    /// It is sent as text, its parameters in place.
    text: Option<Template>,
}

impl Own {
    pub(super) fn new(sql: &[u8]) -> Self {
        Self {
            verb: Verb::of(sql),
            sql: sql.to_vec(),
            number: None,
            kinds: Vec::new(),
            text: None,
        }
    }

    /// Its text, once more in the template, and what keeps it.
    pub(super) fn memory_bytes(&self) -> usize {
        2 * self.sql.len() + size_of::<Self>()
    }

    /// From here on it is sent as text.
    pub(super) fn splice(&mut self) {
        self.text = Some(Template::new(&String::from_utf8_lossy(&self.sql)));
    }

    pub(super) fn is_text(&self) -> bool {
        self.text.is_some()
    }

    /// Parameters of other kinds make another statement of it for the server.
    pub(super) fn expect(&mut self, kinds: &[u8]) {
        if self.kinds != kinds {
            if !self.kinds.is_empty() {
                self.number = None;
            }
            self.kinds = kinds.to_vec();
        }
    }

    /// The parameters, in the arguments.
    pub(super) fn bind(&self, values: &[Value], args: &mut Args) -> Result<(), String> {
        args.clear();
        for (place, kind) in self.kinds.iter().enumerate() {
            let value = values.get(place).unwrap_or(&Value::Nil);
            match (kind, value) {
                (_, Value::Nil) => args.push_null(),
                (b'i', value) => args.push_int(whole(value)?),
                (b'd', value) => args.push_double(number(value)?),
                (_, Value::String(text)) => {
                    args.push_text(|out| out.extend_from_slice(&text.as_bytes()));
                }
                (_, value) => {
                    let text = super::state::text(value);
                    args.push_text(|out| out.extend_from_slice(text.as_bytes()));
                }
            }
        }
        Ok(())
    }

    /// The statement with its parameters in place, as text in the arguments.
    pub(super) fn write(
        &self,
        values: &[Value],
        dialect: Dialect,
        args: &mut Args,
    ) -> Result<(), String> {
        let Some(template) = &self.text else {
            return Err("a statement that was to be text is not".into());
        };
        if values.len() > template.parameter_count() {
            return Err(format!(
                "{} parameters for a statement that has {}: {}",
                values.len(),
                template.parameter_count(),
                String::from_utf8_lossy(&self.sql)
            ));
        }
        let out = args.begin_sql();
        for (place, piece) in template.pieces().enumerate() {
            if place > 0 {
                let kind = self.kinds.get(place - 1).copied().unwrap_or(b't');
                let value = values.get(place - 1).unwrap_or(&Value::Nil);
                write_literal(kind, value, dialect, out)?;
            }
            out.extend_from_slice(piece.as_bytes());
        }
        Ok(())
    }
}

fn write_literal(
    kind: u8,
    value: &Value,
    dialect: Dialect,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    // A vector takes what is written.
    match (kind, value) {
        (_, Value::Nil) => out.extend_from_slice(b"NULL"),
        (b'i', value) => drop(write!(out, "{}", whole(value)?)),
        (b'd', value) => drop(write!(out, "{:e}", number(value)?)),
        (_, Value::String(text)) => push_quoted(&text.as_bytes(), dialect, out),
        (_, value) => push_quoted(super::state::text(value).as_bytes(), dialect, out),
    }
    Ok(())
}

fn push_quoted(text: &[u8], dialect: Dialect, out: &mut Vec<u8>) {
    out.push(b'\'');
    for &byte in text {
        if byte == b'\'' || (byte == b'\\' && dialect == Dialect::Mysql) {
            out.push(byte);
        }
        out.push(byte);
    }
    out.push(b'\'');
}

#[expect(clippy::cast_possible_truncation)]
fn whole(value: &Value) -> Result<i64, String> {
    match value {
        Value::Integer(value) => Ok(*value),
        other => number(other).map(|value| value as i64),
    }
}

fn number(value: &Value) -> Result<f64, String> {
    match value {
        Value::Integer(value) => Ok(*value as f64),
        Value::Number(value) => Ok(*value),
        other => Err(format!(
            "a parameter that was bound as a number is a {}",
            other.type_name()
        )),
    }
}
