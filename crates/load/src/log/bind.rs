//! Values of prepared statements: put into a statement's text, and read out of it.

use std::sync::LazyLock;

use regex::bytes::Regex;
use serde::{Deserialize, Serialize};

use super::LONGEST_BYTES;
use super::moment::pattern;
use crate::driver::{Args, Dialect};
use crate::workload::sql::{Words, parameters};

/// A statement as it was prepared, with the values of one execution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bound {
    pub(crate) sql: Vec<u8>,
    pub(crate) values: Vec<Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Value {
    Null,
    Int(i64),
    Double(f64),
    Text(Vec<u8>),
}

/// No server takes more of them.
const MOST_VALUES: usize = 65_535;

/// A number as far as a word may end in it.
static BEFORE_DIGITS: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(-|-?[\d.]+[eE][-+]?)$"));

impl Bound {
    /// `None`: a literal is of none of the forms in which values are bound, or the statement is no text.
    pub(super) fn new(sql: &[u8], literals: &[impl AsRef<[u8]>], dialect: Dialect) -> Option<Self> {
        str::from_utf8(sql).ok()?;
        // There may be more values than the statement has marks.
        let count = parameters(sql, dialect).map(|(_, number)| number).max();
        let values = literals.iter().take(count.unwrap_or(0));
        let values = values.map(|own| Value::of(own.as_ref(), dialect));
        Some(Self {
            values: values.collect::<Option<_>>()?,
            sql: sql.to_vec(),
        })
    }

    /// The execution that stands in a log with its values in their places; `None`: it is another statement's.
    pub(crate) fn read(sql: &[u8], executed: &[u8], dialect: Dialect) -> Option<Self> {
        let (mut rest, mut copied) = (executed, 0);
        let mut literals = Vec::new();
        for (mark, number) in parameters(sql, dialect) {
            rest = behind(&sql[copied..mark.start], rest)?;
            let mut words = Words::new(rest, dialect);
            let mut end = words.next()?.end;
            // A sign is a word, also in an exponent, and so is what follows a doubled mark.
            let may_go_on = |end: usize| b"-+eE".contains(&rest[end - 1]);
            while (may_go_on(end) && BEFORE_DIGITS.is_match(&rest[..end]))
                || rest.get(end) == Some(&b'\'')
            {
                end = words.next()?.end;
            }
            let place = number.checked_sub(1).filter(|place| *place < MOST_VALUES)?;
            literals.resize(literals.len().max(number), &b"NULL"[..]);
            (literals[place], rest) = rest.split_at(end);
            copied = mark.end;
        }
        let is_whole = behind(&sql[copied..], rest)?.is_empty();
        str::from_utf8(sql).ok()?;
        let values = literals.iter().map(|own| Value::of(own, dialect));
        let (sql, values) = (sql.to_vec(), values.collect::<Option<_>>()?);
        is_whole.then_some(Self { sql, values })
    }

    /// The values as arguments.
    pub(crate) fn put(&self, args: &mut Args) {
        args.clear();
        for value in &self.values {
            match value {
                Value::Null => args.push_null(),
                Value::Int(number) => args.push_int(*number),
                Value::Double(number) => args.push_double(*number),
                Value::Text(text) => args.push_text(|out| out.extend_from_slice(text)),
            }
        }
    }
}

impl Value {
    /// What a literal stands for. A number that is no integer of 64 bits and has no exponent is decimal: its text is
    /// exact.
    fn of(literal: &[u8], dialect: Dialect) -> Option<Self> {
        let text = std::str::from_utf8(literal).unwrap_or_default();
        Some(match literal {
            [b'\'', rest @ ..] => {
                // Behind it there may be its type.
                let end = rest.iter().rposition(|&byte| byte == b'\'')?;
                let marks = &b"'\\"[..=usize::from(dialect == Dialect::Mysql)];
                Self::Text(unquoted(&rest[..end], marks))
            }
            [b'0', b'x', digits @ ..] => {
                let (pairs, _) = digits.as_chunks::<2>();
                let byte = |pair: &[u8; 2]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
                Self::Text(pairs.iter().map(byte).collect::<Option<_>>()?)
            }
            [b'-' | b'0'..=b'9', ..] => match (text.parse(), text.parse()) {
                (Ok(number), _) => Self::Int(number),
                (_, Ok(number)) if text.contains(['e', 'E']) => Self::Double(number),
                (_, Ok(_)) => Self::Text(literal.to_vec()),
                _ => return None,
            },
            _ => text.eq_ignore_ascii_case("NULL").then_some(Self::Null)?,
        })
    }
}

/// What follows a piece of a statement, which may begin with the type of the value before it.
fn behind<'a>(piece: &[u8], text: &'a [u8]) -> Option<&'a [u8]> {
    text.strip_prefix(piece).or_else(|| {
        let mut rest = piece.strip_prefix(b"::")?;
        while let [b'0'..=b'9' | b'a'..=b'z', after @ ..] = rest {
            rest = after;
        }
        text.strip_prefix(rest)
    })
}

/// The inside of a string as it is meant, in which these bytes give the next one its meaning.
pub(super) fn unquoted(text: &[u8], marks: &[u8]) -> Vec<u8> {
    let mut bytes = text.iter();
    let mut plain = Vec::with_capacity(text.len());
    while let Some(&byte) = bytes.next() {
        let next = marks.contains(&byte).then(|| bytes.next()).flatten();
        plain.push(match next {
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'Z') => 26,
            Some(b'0') => 0,
            Some(&other) => other,
            None => byte,
        });
    }
    plain
}

/// Replaces the marks of parameters by literals; `None` if there are others than there are literals.
pub(super) fn bind(sql: &[u8], dialect: Dialect, literals: &[impl AsRef<[u8]>]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(sql.len() + 16 * literals.len());
    let mut copied = 0;
    for (mark, number) in parameters(sql, dialect) {
        out.extend_from_slice(&sql[copied..mark.start]);
        out.extend_from_slice(literals.get(number.checked_sub(1)?)?.as_ref());
        if out.len() > LONGEST_BYTES {
            return None;
        }
        copied = mark.end;
    }
    out.extend_from_slice(&sql[copied..]);
    Some(out)
}
