//! SQL as a client has to read it: where statements end, what may stand in them, and what a
//! statement would reach. Text is bytes, because a dump holds any of them in its strings.

mod classes;
mod fence;
mod opaque;
mod piece;
mod routine;
#[cfg(test)]
mod tests;
mod words;

use std::ops::Range;

pub use fence::{Errand, Fence, Names};
pub(crate) use fence::{Fate, not_text};
use opaque::{Opaque, opaque};
pub(crate) use piece::{Piece, Pieces, Unread, next_piece};
use routine::Routine;
pub(crate) use words::{What, Word, Words, parameters};

use crate::driver::{self, Dialect, Kind};

/// The mistake, and its place: a byte of the text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) at: usize,
    pub(crate) message: String,
    /// Whether more text could mend it.
    is_endless: bool,
}

impl Mistake {
    pub(crate) fn new(at: usize, message: impl Into<String>) -> Self {
        Self {
            at,
            message: message.into(),
            is_endless: false,
        }
    }

    fn endless(at: usize, message: &str) -> Self {
        Self {
            is_endless: true,
            ..Self::new(at, message)
        }
    }
}

/// A statement as it stands in the text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Scanned {
    /// The start of its first word, and the end of its last one.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Where parsing continues: after its semicolon, or at the backslash or the end of the text.
    pub(crate) next: usize,
    pub(crate) marks: Vec<Mark>,
    /// The words outside of quotations and comments, the first ones.
    words: Vec<Range<usize>>,
}

/// `:name` in a statement, from the colon to the end of the name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) at: usize,
    pub(crate) end: usize,
    pub(crate) place: Place,
}

impl Mark {
    /// The name; empty if it is no text, which no variable is called.
    pub(crate) fn name<'a>(&self, text: &'a [u8]) -> &'a str {
        std::str::from_utf8(&text[self.at + 1..self.end]).unwrap_or_default()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A place where a parameter can stand.
    Value,
    /// In a string or a quoted name.
    Quotation,
    /// With letters or digits before it: part of a name.
    Name,
}

pub(crate) const WRITING: [&str; 5] = ["INSERT", "UPDATE", "DELETE", "REPLACE", "MERGE"];

/// The kind of a statement that begins with this word, and may write behind it.
pub(crate) fn kind_of(first: &str, writes: bool) -> Kind {
    match first {
        "WITH" if writes => Kind::Write,
        "SELECT" | "WITH" | "VALUES" | "TABLE" | "SHOW" | "EXPLAIN" | "DESC" | "DESCRIBE"
        | "FETCH" => Kind::Read,
        _ if WRITING.contains(&first) => Kind::Write,
        _ => Kind::Other,
    }
}

/// The effect of a statement on the transaction around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bracket {
    Begins,
    Ends,
    Neither,
}

/// Enough words to recognise a statement's kind.
const WORDS_KEPT: usize = 4096;

impl Scanned {
    fn word<'a>(&self, text: &'a [u8], number: usize) -> &'a [u8] {
        let place = self.words.get(number);
        place.map_or(&[][..], |place| &text[place.clone()])
    }

    fn has(&self, text: &[u8], wanted: &[&str]) -> bool {
        self.words.iter().any(|place| {
            let word = &text[place.clone()];
            let is = |own: &&str| word.eq_ignore_ascii_case(own.as_bytes());
            wanted.iter().any(is)
        })
    }

    /// For the counts.
    pub(crate) fn kind(&self, text: &[u8]) -> Kind {
        kind_of(&self.first_word(text), self.has(text, &WRITING))
    }

    pub(crate) fn bracket(&self, text: &[u8]) -> Bracket {
        let second = self.word(text, 1);
        match self.first_word(text).as_str() {
            "BEGIN" => Bracket::Begins,
            "START" if second.eq_ignore_ascii_case(b"transaction") => Bracket::Begins,
            "COMMIT" | "END" | "ABORT" => Bracket::Ends,
            "ROLLBACK" if !self.has(text, &["to"]) => Bracket::Ends,
            _ => Bracket::Neither,
        }
    }

    /// Whether the server would wait for rows after it, as `COPY t FROM stdin` makes it.
    pub(crate) fn copies_from_client(&self, text: &[u8]) -> bool {
        let is = |place: &Range<usize>, wanted: &str| {
            text[place.clone()].eq_ignore_ascii_case(wanted.as_bytes())
        };
        self.first_word(text) == "COPY"
            && self
                .words
                .windows(2)
                .any(|pair| is(&pair[0], "from") && is(&pair[1], "stdin"))
    }

    pub(crate) fn first_word(&self, text: &[u8]) -> String {
        String::from_utf8_lossy(self.word(text, 0)).to_ascii_uppercase()
    }
}

/// A statement's beginning on one line, as messages and reports show it.
pub(crate) fn in_short(statement: &[u8]) -> String {
    driver::in_short(statement, 40)
}

/// Bytes of white space and comments at the start of the text.
fn blank_bytes(text: &[u8], start: usize, dialect: Dialect) -> Result<usize, Mistake> {
    let mut at = start;
    loop {
        at += text[at..].len() - text[at..].trim_ascii_start().len();
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
fn scan(
    text: &[u8],
    start: usize,
    dialect: Dialect,
    delimiter: Option<&[u8]>,
) -> Result<Scanned, Mistake> {
    let mut scanned = Scanned {
        start,
        end: start,
        next: text.len(),
        marks: Vec::new(),
        words: Vec::new(),
    };
    let mut routine = Routine::default();
    let mut first_words: Vec<&[u8]> = Vec::new();
    let mut parentheses = 0_usize;
    let mut at = start;
    while let Some(&byte) = text.get(at) {
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
        match byte {
            b';' if delimiter.is_none() && parentheses == 0 && !routine.is_open() => {
                scanned.next = at + 1;
                return Ok(scanned);
            }
            b';' => routine.end_statement(),
            0 => return Err(Mistake::new(at, "a NUL, which no SQL holds")),
            b'\\' if text[at + 1..].starts_with(b";") => {
                return Err(Mistake::new(
                    at,
                    "\\; would send several statements as one; end each with a semicolon of its own",
                ));
            }
            b'\\' => {
                scanned.next = at;
                return Ok(scanned);
            }
            b'(' => parentheses += 1,
            b')' => parentheses = parentheses.saturating_sub(1),
            b':' => {
                at = colon(text, at, &mut scanned.marks);
                scanned.end = at;
                continue;
            }
            _ => {}
        }
        let word = name_bytes(&text[at..]);
        if word > 0 {
            let place = at..at + word;
            routine.take(&text[place.clone()], &first_words);
            if first_words.len() < routine::WORDS {
                first_words.push(&text[place.clone()]);
            }
            if scanned.words.len() < WORDS_KEPT {
                scanned.words.push(place);
            }
        }
        // A number is passed with the letters that are part of it: 1e5 has no word.
        let alike = text[at..]
            .iter()
            .take_while(|&&byte| is_name_byte(byte))
            .count();
        at += alike.max(1);
        if !byte.is_ascii_whitespace() {
            scanned.end = at;
        }
    }
    Ok(scanned)
}

/// Letters of any language, digits and underscores, as the servers read names.
fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// A name's bytes at the start of the text; the first of them is no digit. 0: none.
fn name_bytes(text: &[u8]) -> usize {
    if text.first().is_none_or(u8::is_ascii_digit) {
        return 0;
    }
    text.iter().take_while(|&&byte| is_name_byte(byte)).count()
}

fn strip<'a>(text: &'a [u8], beginning: &[u8]) -> Option<&'a [u8]> {
    text.strip_prefix(beginning)
}

/// A colon outside quotations; returns where parsing continues. Several colons are a cast, or
/// nothing of ours.
fn colon(text: &[u8], at: usize, marks: &mut Vec<Mark>) -> usize {
    let colons = text[at..].iter().take_while(|&&byte| byte == b':').count();
    if colons > 1 {
        return at + colons;
    }
    let end = at + 1 + name_bytes(&text[at + 1..]);
    if end > at + 1 {
        let place = if text[..at].last().is_some_and(|&byte| is_name_byte(byte)) {
            Place::Name
        } else {
            Place::Value
        };
        marks.push(Mark { at, end, place });
    }
    end
}

fn marks_in_quotation(text: &[u8], start: usize, end: usize, marks: &mut Vec<Mark>) {
    let mut at = start;
    while let Some(found) = text[at..end].iter().position(|&byte| byte == b':') {
        at += found;
        let colons = text[at..end]
            .iter()
            .take_while(|&&byte| byte == b':')
            .count();
        let length = name_bytes(&text[at + 1..end]);
        if colons == 1 && length > 0 {
            marks.push(Mark {
                at,
                end: at + 1 + length,
                place: Place::Quotation,
            });
        }
        at += colons;
    }
}
