//! Text in which no statement is looked for: quotations and comments, as each family has them.

use super::is_name_part;
use crate::driver::Dialect;
use crate::workload::script::lexer::name_bytes;
use crate::workload::script::source::Mistake;

/// A quotation or a comment.
pub(super) struct Opaque {
    pub(super) end: usize,
    /// Whether the server reads it: a quotation, or `MySQL`'s `/*! … */`, of which dumps are full.
    pub(super) is_read: bool,
}

/// The quotation or comment that begins at `at`, if one does.
pub(super) fn opaque(text: &str, at: usize, dialect: Dialect) -> Result<Option<Opaque>, Mistake> {
    let rest = &text[at..];
    let mysql = dialect == Dialect::Mysql;
    let comment = |end: Option<usize>| {
        Ok(Some(Opaque {
            end: end.map_or(text.len(), |end| at + end),
            is_read: mysql && (rest.starts_with("/*!") || rest.starts_with("/*M!")),
        }))
    };
    let dashes = rest.strip_prefix("--");
    if dashes
        .is_some_and(|after| !mysql || after.is_empty() || after.starts_with(char::is_whitespace))
        || (mysql && rest.starts_with('#'))
    {
        return comment(rest.find('\n'));
    }
    if rest.starts_with("/*") {
        return match comment_bytes(rest, dialect) {
            Some(bytes) => comment(Some(bytes)),
            None => Err(Mistake::new(at, "this comment never ends")),
        };
    }
    let bytes = match rest.as_bytes().first() {
        Some(b'\'') => quoted_bytes(rest, b'\'', mysql || is_escape_string(text, at, dialect)),
        Some(b'"') => quoted_bytes(rest, b'"', mysql),
        Some(b'`') if dialect != Dialect::Postgres => quoted_bytes(rest, b'`', false),
        Some(b'$') if dialect == Dialect::Postgres => match dollar_tag(text, at) {
            Some(tag) => rest[tag.len()..].find(tag).map(|end| end + 2 * tag.len()),
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    match bytes {
        Some(bytes) => Ok(Some(Opaque {
            end: at + bytes,
            is_read: true,
        })),
        None => Err(Mistake::new(at, "this quotation never ends")),
    }
}

/// `PostgreSQL` nests comments, the others do not.
fn comment_bytes(text: &str, dialect: Dialect) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    loop {
        let rest = &text[at..];
        if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return Some(at);
            }
        } else if rest.starts_with("/*") && (depth == 0 || dialect == Dialect::Postgres) {
            depth += 1;
            at += 2;
        } else {
            at += rest.chars().next()?.len_utf8();
        }
    }
}

/// From one quotation mark to the other. A doubled mark reads as two adjacent quotations, which has
/// the same effect.
fn quoted_bytes(text: &str, mark: u8, escapes: bool) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    loop {
        match *bytes.get(at)? {
            b'\\' if escapes => at += 2,
            byte if byte == mark => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// `E'…'`, the one string in which `PostgreSQL` gives backslashes a meaning.
fn is_escape_string(text: &str, at: usize, dialect: Dialect) -> bool {
    dialect == Dialect::Postgres
        && text[..at]
            .strip_suffix(['e', 'E'])
            .is_some_and(|before| !before.ends_with(is_name_part))
}

/// `$$` or `$tag$`, unless it stands inside a name.
fn dollar_tag(text: &str, at: usize) -> Option<&str> {
    if text[..at].ends_with(is_name_part) {
        return None;
    }
    let length = name_bytes(&text[at + 1..]);
    let tag = &text[at..at + 1 + length];
    text[at + tag.len()..]
        .starts_with('$')
        .then(|| &text[at..=at + tag.len()])
}
