//! A statement as words, with those of the comments that the MySQL family runs.

use std::ops::Range;

use super::opaque::{Opaque, is_code, opaque};
use super::{is_name_byte, name_bytes, strip};
use crate::driver::Dialect;

/// A word, and its place in the statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    pub(crate) at: usize,
    pub(crate) end: usize,
    pub(crate) what: What<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What<'a> {
    /// A keyword or a name.
    Plain(&'a [u8]),
    /// A name between its quotation marks.
    Quoted(&'a [u8]),
    /// A string.
    Text(&'a [u8]),
    Number,
    Mark(u8),
}

impl<'a> Word<'a> {
    pub(crate) fn is(self, wanted: &str) -> bool {
        match self.what {
            What::Plain(word) => word.eq_ignore_ascii_case(wanted.as_bytes()),
            What::Mark(mark) => wanted.as_bytes() == [mark],
            What::Text(_) => wanted == "'",
            What::Quoted(_) | What::Number => false,
        }
    }

    pub(super) fn name(self) -> Option<&'a [u8]> {
        match self.what {
            What::Plain(name) | What::Quoted(name) => Some(name),
            _ => None,
        }
    }
}

/// The words of a statement, one after the other.
pub(crate) struct Words<'a> {
    text: &'a [u8],
    at: usize,
    dialect: Dialect,
}

impl<'a> Words<'a> {
    pub(crate) fn new(text: &'a [u8], dialect: Dialect) -> Self {
        Self {
            text,
            at: 0,
            dialect,
        }
    }

    /// The end of a quoted name, in which a doubled mark stands for itself.
    fn doubled(&self, end: usize, mark: u8) -> usize {
        let mut end = end;
        while self.text.get(end) == Some(&mark) {
            match opaque(self.text, end, self.dialect) {
                Ok(Some(next)) => end = next.end,
                _ => break,
            }
        }
        end
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        loop {
            let at = self.at;
            let byte = *self.text.get(at)?;
            let rest = &self.text[at..];
            if byte.is_ascii_whitespace() {
                self.at += 1;
                continue;
            }
            if self.dialect == Dialect::Mysql {
                if rest.starts_with(b"/*") && is_code(rest) {
                    let begins = if rest[2] == b'M' { 4 } else { 3 };
                    let version = rest[begins..]
                        .iter()
                        .take_while(|byte| byte.is_ascii_digit());
                    self.at += begins + version.count();
                    continue;
                }
                if strip(rest, b"*/").is_some() {
                    self.at += 2;
                    continue;
                }
            }
            let length = name_bytes(rest);
            let (end, what) = match opaque(self.text, at, self.dialect) {
                Ok(Some(Opaque { end, .. })) => match byte {
                    b'\'' | b'$' => (end, What::Text(&self.text[at..end])),
                    b'"' | b'`' => {
                        let end = self.doubled(end, byte);
                        (end, What::Quoted(&self.text[at + 1..end - 1]))
                    }
                    _ => {
                        self.at = end;
                        continue;
                    }
                },
                // What never ends has been found before, but for the text that a script in Lua makes.
                Err(_) => (self.text.len(), What::Text(rest)),
                Ok(None) if length > 0 => (at + length, What::Plain(&rest[..length])),
                Ok(None) if byte.is_ascii_digit() => {
                    let number = rest
                        .iter()
                        .take_while(|&&byte| is_name_byte(byte) || byte == b'.');
                    (at + number.count(), What::Number)
                }
                Ok(None) => (at + 1, What::Mark(byte)),
            };
            self.at = end;
            return Some(Word { at, end, what });
        }
    }
}

/// The marks of a statement's parameters, `?` or `$1`: where each stands, and its number from 1.
pub(crate) fn parameters(
    sql: &[u8],
    dialect: Dialect,
) -> impl Iterator<Item = (Range<usize>, usize)> {
    let (mut count, mut dollar) = (0, None);
    Words::new(sql, dialect).filter_map(move |word| match word.what {
        What::Mark(b'?') if dialect == Dialect::Mysql => {
            count += 1;
            Some((word.at..word.end, count))
        }
        // In a name it is a letter.
        What::Mark(b'$') if dialect == Dialect::Postgres => {
            let before = sql[..word.at].last();
            dollar = (!before.is_some_and(|&byte| is_name_byte(byte))).then_some(word.at);
            None
        }
        What::Number if dollar.is_some_and(|at| at + 1 == word.at) => {
            let digits = str::from_utf8(&sql[word.at..word.end]).unwrap_or_default();
            Some((word.at - 1..word.end, digits.parse().unwrap_or(usize::MAX)))
        }
        _ => None,
    })
}
