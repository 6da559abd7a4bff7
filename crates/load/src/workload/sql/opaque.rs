//! Text in which no statement is looked for: quotations and comments, as each family has them.

use super::{Mistake, is_name_byte, name_bytes, strip};
use crate::driver::Dialect;

/// A quotation or a comment.
pub(super) struct Opaque {
    pub(super) end: usize,
    /// Whether the server reads it: a quotation, or `MySQL`'s `/*! … */`, of which dumps are full.
    pub(super) is_read: bool,
}

/// The quotation or comment that begins at `at`, if one does.
pub(super) fn opaque(text: &[u8], at: usize, dialect: Dialect) -> Result<Option<Opaque>, Mistake> {
    let rest = &text[at..];
    let mysql = dialect == Dialect::Mysql;
    let comment = |end: Option<usize>| {
        Ok(Some(Opaque {
            end: end.map_or(text.len(), |end| at + end),
            is_read: mysql && is_code(rest),
        }))
    };
    let bytes = match rest.first() {
        Some(b'-' | b'#') => {
            let begins = match strip(rest, b"--") {
                Some(after) => !mysql || after.first().is_none_or(u8::is_ascii_whitespace),
                None => mysql && rest.starts_with(b"#"),
            };
            if begins {
                return comment(rest.iter().position(|&byte| byte == b'\n'));
            }
            return Ok(None);
        }
        Some(b'/') if rest.starts_with(b"/*") => {
            return match comment_bytes(rest, dialect) {
                Some(bytes) => comment(Some(bytes)),
                None => Err(Mistake::endless(at, "this comment never ends")),
            };
        }
        Some(b'\'') => quoted_bytes(rest, b'\'', mysql || is_escape_string(text, at, dialect)),
        Some(b'"') => quoted_bytes(rest, b'"', mysql),
        Some(b'`') if dialect != Dialect::Postgres => quoted_bytes(rest, b'`', false),
        Some(b'$') if dialect == Dialect::Postgres => match dollar_tag(text, at) {
            Some(tag) => find(&rest[tag.len()..], tag).map(|end| end + 2 * tag.len()),
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    match bytes {
        Some(bytes) => Ok(Some(Opaque {
            end: at + bytes,
            is_read: true,
        })),
        None => Err(Mistake::endless(at, "this quotation never ends")),
    }
}

/// Whether the MySQL family runs the comment that begins here. No server has the version 999999:
/// `MariaDB` begins its dumps with such a one, for clients.
pub(super) fn is_code(rest: &[u8]) -> bool {
    let body = strip(rest, b"/*!").or_else(|| strip(rest, b"/*M!"));
    body.is_some_and(|body| !body.starts_with(b"999999"))
}

/// `PostgreSQL` nests comments, the others do not.
fn comment_bytes(text: &[u8], dialect: Dialect) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    loop {
        let rest = text.get(at..)?;
        if rest.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return Some(at);
            }
        } else if rest.starts_with(b"/*") && (depth == 0 || dialect == Dialect::Postgres) {
            depth += 1;
            at += 2;
        } else {
            at += 1;
            text.get(at)?;
        }
    }
}

/// From one quotation mark to the other. A doubled mark reads as two adjacent quotations, which has
/// the same effect.
fn quoted_bytes(text: &[u8], mark: u8, escapes: bool) -> Option<usize> {
    let mut at = 1;
    loop {
        let rest = text.get(at..)?;
        at += rest
            .iter()
            .position(|&byte| byte == mark || byte == b'\\')?;
        match text[at] {
            b'\\' if escapes => at += 2,
            byte if byte == mark => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// `E'…'`, the one string in which `PostgreSQL` gives backslashes a meaning.
fn is_escape_string(text: &[u8], at: usize, dialect: Dialect) -> bool {
    dialect == Dialect::Postgres
        && matches!(text[..at], [.., b'e' | b'E'])
        && !text[..at - 1]
            .last()
            .is_some_and(|&byte| is_name_byte(byte))
}

/// `$$` or `$tag$`, unless it stands inside a name.
fn dollar_tag(text: &[u8], at: usize) -> Option<&[u8]> {
    if text[..at].last().is_some_and(|&byte| is_name_byte(byte)) {
        return None;
    }
    let length = name_bytes(&text[at + 1..]);
    let end = at + 1 + length;
    (text.get(end) == Some(&b'$')).then(|| &text[at..=end])
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|own| own == wanted)
}
