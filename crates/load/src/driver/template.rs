//! A statement's text, cut at its parameters, and with literals in their places.

use bytes::BufMut;

use super::{Arg, Args, Dialect};
use crate::workload::sql::Words;

/// SQL between `?` marks: one piece more than there are parameters.
///
/// A `?` inside a string, a quoted name, a dollar-quoted body or a comment of the dialect is not a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<String>,
}

impl Template {
    pub fn new(sql: &str, dialect: Dialect) -> Self {
        let mut pieces = Vec::new();
        let mut start = 0;
        let words = Words::new(sql.as_bytes(), dialect);
        for mark in words.filter(|word| word.is("?")) {
            pieces.push(sql[start..mark.at].to_owned());
            start = mark.end;
        }
        pieces.push(sql[start..].to_owned());
        Self { pieces }
    }

    pub fn parameter_count(&self) -> usize {
        self.pieces.len() - 1
    }

    /// Appends the statement with as many arguments as it has parameters.
    #[inline]
    pub fn splice(&self, args: &Args, dialect: Dialect, out: &mut impl BufMut) {
        let mut values = args.values().iter();
        for piece in &self.pieces {
            out.put_slice(piece.as_bytes());
            if let Some(value) = values.next() {
                put_literal(value, args, dialect, out);
            }
        }
    }

    /// The statement with `$1`, `$2`, … in place of the marks.
    pub fn numbered(&self) -> String {
        let mut sql = self.pieces[0].clone();
        for (index, piece) in self.pieces[1..].iter().enumerate() {
            sql.push('$');
            sql.push_str(&(index + 1).to_string());
            sql.push_str(piece);
        }
        sql
    }
}

/// Appends an argument as a literal.
#[inline]
pub(super) fn put_literal(arg: &Arg, args: &Args, dialect: Dialect, out: &mut impl BufMut) {
    match arg {
        Arg::Int(value) => put_number(itoa::Buffer::new().format(*value), out),
        // With its exponent, so that it is a double and no decimal.
        Arg::Double(value) => put_number(&format!("{value:e}"), out),
        Arg::Text(range) => put_quoted(args.text(range), dialect, out),
        Arg::Null => out.put_slice(b"NULL"),
    }
}

/// Behind another minus, that of a number would begin a comment.
fn put_number(digits: &str, out: &mut impl BufMut) {
    let (before, after) = match digits.as_bytes() {
        [b'-', ..] => ("(", ")"),
        _ => ("", ""),
    };
    for part in [before, digits, after] {
        out.put_slice(part.as_bytes());
    }
}

/// Quotation marks, and backslashes in MySQL, stand for themselves when doubled.
fn put_quoted(text: &[u8], dialect: Dialect, out: &mut impl BufMut) {
    let doubled = |byte: &u8| *byte == b'\'' || (*byte == b'\\' && dialect == Dialect::Mysql);
    out.put_u8(b'\'');
    let mut rest = text;
    while let Some(at) = rest.iter().position(doubled) {
        out.put_slice(&rest[..=at]);
        out.put_u8(rest[at]);
        rest = &rest[at + 1..];
    }
    out.put_slice(rest);
    out.put_u8(b'\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_literals() {
        let mut args = Args::default();
        args.push_int(-7);
        args.push_double(1.5);
        args.push_null();
        args.push_text(|out| out.extend_from_slice(b"12-34"));
        args.push_text(|out| out.extend_from_slice(br"it's \ok"));
        let spliced = |dialect| {
            let mut out = b"-- ".to_vec();
            Template::new("?, ?, ?, ?, ?;", dialect).splice(&args, dialect, &mut out);
            String::from_utf8(out).unwrap()
        };
        let all = "-- (-7), 1.5e0, NULL, '12-34', ";
        assert_eq!(spliced(Dialect::Mysql), format!(r"{all}'it''s \\ok';"));
        for dialect in [Dialect::Postgres, Dialect::Sqlite] {
            assert_eq!(spliced(dialect), format!(r"{all}'it''s \ok';"));
        }
    }

    fn numbered(sql: &str) -> String {
        Template::new(sql, Dialect::Postgres).numbered()
    }

    #[test]
    fn marks_become_numbers() {
        assert_eq!(numbered("SELECT 1"), "SELECT 1");
        assert_eq!(
            numbered("SELECT c FROM t WHERE id BETWEEN ? AND ?"),
            "SELECT c FROM t WHERE id BETWEEN $1 AND $2"
        );
        assert_eq!(numbered("?"), "$1");
        let template = Template::new("a ? b ? c", Dialect::Mysql);
        assert_eq!(template.parameter_count(), 2);
    }

    #[test]
    fn marks_in_quotations_and_comments_stay() {
        for sql in [
            "SELECT '?'",
            "SELECT 'it''s ?'",
            "SELECT \"a?b\" FROM t",
            "SELECT $$ ? $$",
            "SELECT $body$ ? $ ? $body$",
            "SELECT 1 -- really?\n",
            "SELECT 1 /* really? */",
            "SELECT 'open ?",
        ] {
            assert_eq!(numbered(sql), sql);
            let template = Template::new(sql, Dialect::Postgres);
            assert_eq!(template.parameter_count(), 0, "{sql}");
        }
        for sql in [
            r"SELECT 'it\'s ?'",
            "SELECT `a?b` # really?",
            "SELECT \"?\"",
        ] {
            let template = Template::new(sql, Dialect::Mysql);
            assert_eq!(template.parameter_count(), 0, "{sql}");
        }
    }

    #[test]
    fn marks_after_quotations_count() {
        assert_eq!(numbered("SELECT 'ä?', ?"), "SELECT 'ä?', $1");
        assert_eq!(numbered("SELECT 1 /* ? */ + ?"), "SELECT 1 /* ? */ + $1");
        assert_eq!(numbered("SELECT '' , ?"), "SELECT '' , $1");
    }
}
