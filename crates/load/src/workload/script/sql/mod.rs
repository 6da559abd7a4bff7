//! One statement in a script: its end, and the places of its variables.

mod opaque;
mod routine;
#[cfg(test)]
mod tests;

use super::lexer::name_bytes;
use super::source::Mistake;
use crate::driver::{Dialect, Kind};
use opaque::{Opaque, opaque};
use routine::Routine;

/// A statement as it stands in the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Scanned<'a> {
    /// The start of its first word, and the end of its last one.
    pub(super) start: usize,
    pub(super) end: usize,
    /// Where parsing continues: after its semicolon, or at the backslash or the end of the text.
    pub(super) next: usize,
    pub(super) marks: Vec<Mark<'a>>,
    /// The words outside of quotations and comments, the first ones.
    words: Vec<&'a str>,
}

/// `:name` in a statement.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mark<'a> {
    pub(super) at: usize,
    pub(super) name: &'a str,
    pub(super) place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A place where a parameter can stand.
    Value,
    /// In a string or a quoted name.
    Quotation,
    /// With letters or digits before it: part of a name.
    Name,
}

/// The effect of a statement on the transaction around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bracket {
    Begins,
    Ends,
    Neither,
}

/// Enough words to recognise a statement's kind.
const WORDS_KEPT: usize = 4096;

impl Scanned<'_> {
    /// For the counts.
    pub(super) fn kind(&self) -> Kind {
        let is_write = |word: &&str| {
            let writes = ["INSERT", "UPDATE", "DELETE", "REPLACE", "MERGE"];
            writes.iter().any(|known| known.eq_ignore_ascii_case(word))
        };
        match self.first_word().as_str() {
            "INSERT" | "UPDATE" | "DELETE" | "REPLACE" | "MERGE" => Kind::Write,
            "WITH" if self.words.iter().any(is_write) => Kind::Write,
            "SELECT" | "WITH" | "VALUES" | "TABLE" | "SHOW" | "EXPLAIN" | "FETCH" => Kind::Read,
            _ => Kind::Other,
        }
    }

    pub(super) fn bracket(&self) -> Bracket {
        let second = self.words.get(1).copied().unwrap_or_default();
        let to_savepoint = self
            .words
            .iter()
            .any(|word| word.eq_ignore_ascii_case("to"));
        match self.first_word().as_str() {
            "BEGIN" => Bracket::Begins,
            "START" if second.eq_ignore_ascii_case("transaction") => Bracket::Begins,
            "COMMIT" | "END" | "ABORT" => Bracket::Ends,
            "ROLLBACK" if !to_savepoint => Bracket::Ends,
            _ => Bracket::Neither,
        }
    }

    /// Whether the server would wait for rows after it, as `COPY t FROM stdin` makes it.
    pub(super) fn copies_from_client(&self) -> bool {
        self.first_word() == "COPY"
            && self.words.windows(2).any(|pair| {
                pair[0].eq_ignore_ascii_case("from") && pair[1].eq_ignore_ascii_case("stdin")
            })
    }

    pub(super) fn first_word(&self) -> String {
        self.words
            .first()
            .map(|word| word.to_ascii_uppercase())
            .unwrap_or_default()
    }
}

/// Bytes of white space and comments at the start of the text.
pub(super) fn blank_bytes(text: &str, start: usize, dialect: Dialect) -> Result<usize, Mistake> {
    let mut at = start;
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        match opaque(text, at, dialect)? {
            Some(Opaque {
                end,
                is_read: false,
            }) => at = end,
            _ => return Ok(at - start),
        }
    }
}

/// Reads the statement that begins at `start`. It ends at `delimiter`, as the mysql client's DELIMITER
/// names it, else at the semicolon that closes it.
pub(super) fn scan<'a>(
    text: &'a str,
    start: usize,
    dialect: Dialect,
    delimiter: Option<&str>,
) -> Result<Scanned<'a>, Mistake> {
    let mut scanned = Scanned {
        start,
        end: start,
        next: text.len(),
        marks: Vec::new(),
        words: Vec::new(),
    };
    let mut routine = Routine::default();
    let mut parentheses = 0_usize;
    let mut at = start;
    while let Some(character) = text[at..].chars().next() {
        if let Some(Opaque { end, is_read }) = opaque(text, at, dialect)? {
            if is_read {
                marks_in_quotation(text, at, end, &mut scanned.marks);
                scanned.end = end;
            }
            at = end;
            continue;
        }
        if let Some(delimiter) = delimiter
            && text[at..].starts_with(delimiter)
        {
            scanned.next = at + delimiter.len();
            return Ok(scanned);
        }
        match character {
            ';' if delimiter.is_none() && parentheses == 0 && !routine.is_open() => {
                scanned.next = at + 1;
                return Ok(scanned);
            }
            ';' => routine.end_statement(),
            '\\' if text[at + 1..].starts_with(';') => {
                return Err(Mistake::new(
                    at,
                    "\\; would send several statements as one; end each with a semicolon of its own",
                ));
            }
            '\\' => {
                scanned.next = at;
                return Ok(scanned);
            }
            '(' => parentheses += 1,
            ')' => parentheses = parentheses.saturating_sub(1),
            ':' => {
                at = colon(text, at, &mut scanned.marks);
                scanned.end = at;
                continue;
            }
            _ => {}
        }
        let word = name_bytes(&text[at..]);
        if word > 0 {
            let word = &text[at..at + word];
            routine.take(word, &scanned.words);
            if scanned.words.len() < WORDS_KEPT {
                scanned.words.push(word);
            }
        }
        // A number is passed with the letters that are part of it: 1e5 has no word.
        let alike = text[at..]
            .find(|c: char| !is_name_part(c))
            .unwrap_or(text.len() - at);
        at += alike.max(character.len_utf8());
        if !character.is_whitespace() {
            scanned.end = at;
        }
    }
    Ok(scanned)
}

fn is_name_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// A colon outside quotations; returns where parsing continues. Several colons are a cast, or
/// nothing of ours.
fn colon<'a>(text: &'a str, at: usize, marks: &mut Vec<Mark<'a>>) -> usize {
    let colons = text[at..].bytes().take_while(|&byte| byte == b':').count();
    if colons > 1 {
        return at + colons;
    }
    let length = name_bytes(&text[at + 1..]);
    if length > 0 {
        let place = if text[..at].ends_with(is_name_part) {
            Place::Name
        } else {
            Place::Value
        };
        marks.push(Mark {
            at,
            name: &text[at + 1..at + 1 + length],
            place,
        });
    }
    at + 1 + length
}

fn marks_in_quotation<'a>(text: &'a str, start: usize, end: usize, marks: &mut Vec<Mark<'a>>) {
    let mut at = start;
    while let Some(found) = text[at..end].find(':') {
        at += found;
        let colons = text[at..end]
            .bytes()
            .take_while(|&byte| byte == b':')
            .count();
        let length = name_bytes(&text[at + 1..end]);
        if colons == 1 && length > 0 {
            marks.push(Mark {
                at,
                name: &text[at + 1..at + 1 + length],
                place: Place::Quotation,
            });
        }
        at += colons;
    }
}
