//! A script in pieces: statements, and commands to the client that take their line.

use std::io::{self, Read};
use std::ops::Range;

use super::{Mistake, Scanned, blank_bytes, name_bytes, scan};
use crate::driver::Dialect;

/// A piece of a script. Places are bytes of the text that it was read from.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Statement(Scanned),
    /// A backslash command, from the backslash to the end of its line.
    Command {
        at: usize,
        end: usize,
    },
    /// The mysql client's DELIMITER, which dumps write around routines, with the text that ends
    /// statements from here on.
    Delimiter {
        end: usize,
        text: Option<Vec<u8>>,
    },
    /// Nothing but space and comments is left.
    End,
}

impl Piece {
    /// The start of what is not blank, and the place where the next piece begins.
    fn places(&self, length: usize) -> (usize, usize) {
        match self {
            Self::Statement(scanned) => (scanned.start, scanned.next),
            Self::Command { at, end } => (*at, *end),
            Self::Delimiter { end, .. } => (*end, *end),
            Self::End => (length, length),
        }
    }
}

/// The piece after `start`.
pub(crate) fn next_piece(
    text: &[u8],
    start: usize,
    dialect: Dialect,
    delimiter: Option<&[u8]>,
) -> Result<Piece, Mistake> {
    let at = start + blank_bytes(text, start, dialect)?;
    let rest = &text[at..];
    if rest.is_empty() {
        return Ok(Piece::End);
    }
    if rest.starts_with(b"\\") {
        let end = line_end(text, at);
        return Ok(Piece::Command { at, end });
    }
    let word = name_bytes(rest);
    if dialect == Dialect::Mysql && rest[..word].eq_ignore_ascii_case(b"DELIMITER") {
        let end = line_end(text, at + word);
        let text = match text[at + word..end].trim_ascii() {
            b"" => {
                let what = "DELIMITER needs the text that ends a statement";
                return Err(Mistake::new(at, what));
            }
            b";" => None,
            delimiter => Some(delimiter.to_vec()),
        };
        return Ok(Piece::Delimiter { end, text });
    }
    scan(text, at, dialect, delimiter).map(Piece::Statement)
}

/// The end of a command's line, which a backslash at its end puts off.
fn line_end(text: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(newline) = text[at..].iter().position(|&byte| byte == b'\n') {
        let line = &text[at..at + newline];
        if !line.strip_suffix(b"\r").unwrap_or(line).ends_with(b"\\") {
            return at + newline;
        }
        at += newline + 1;
    }
    text.len()
}

/// Bytes that are read at a time. The extended INSERTs of a dump are about a megabyte.
const CHUNK_BYTES: usize = 4 << 20;

/// The longest packet that MySQL takes, and more than PostgreSQL does.
const LONGEST_BYTES: usize = 1 << 30;

/// No word, mark or delimiter that decides where a piece ends is longer.
const MARGIN_BYTES: usize = 256;

/// The pieces of a file of any size, one after the other; only one is in memory.
pub(crate) struct Pieces<R> {
    input: R,
    dialect: Dialect,
    delimiter: Option<Vec<u8>>,
    buffer: Vec<u8>,
    /// Where the last piece ended in the buffer.
    next: usize,
    has_ended: bool,
    pub(super) chunk_bytes: usize,
    /// The line at the last piece's beginning.
    line: usize,
    counted: usize,
}

/// Why a file cannot be read on.
#[derive(Debug)]
pub(crate) enum Unread {
    Mistake(Mistake),
    File(io::Error),
}

impl<R: Read> Pieces<R> {
    pub(crate) fn new(input: R, dialect: Dialect) -> Self {
        Self {
            input,
            dialect,
            delimiter: None,
            buffer: Vec::new(),
            next: 0,
            has_ended: false,
            chunk_bytes: CHUNK_BYTES,
            line: 1,
            counted: 0,
        }
    }

    /// Reads the next piece. Its places are bytes of [`Pieces::text`].
    pub(crate) fn read(&mut self) -> Result<Piece, Unread> {
        if self.buffer.is_empty() {
            self.fill().map_err(Unread::File)?;
            if self.buffer.starts_with(b"\xEF\xBB\xBF") {
                self.next = 3;
                self.counted = 3;
            }
        }
        loop {
            let delimiter = self.delimiter.as_deref();
            let read = next_piece(&self.buffer, self.next, self.dialect, delimiter);
            let is_whole = match &read {
                _ if self.has_ended => true,
                Ok(piece) => piece.places(self.buffer.len()).1 + MARGIN_BYTES <= self.buffer.len(),
                Err(mistake) => !mistake.is_endless,
            };
            if !is_whole {
                if self.buffer.len() - self.next >= LONGEST_BYTES {
                    let what = "this statement is longer than 1 GiB, which no server takes";
                    return Err(Unread::Mistake(self.placed(Mistake::new(self.next, what))));
                }
                self.fill().map_err(Unread::File)?;
                continue;
            }
            return match read {
                Ok(piece) => {
                    let (at, next) = piece.places(self.buffer.len());
                    self.next = next;
                    self.count_lines(at);
                    if let Piece::Delimiter { text, .. } = &piece {
                        self.delimiter.clone_from(text);
                    }
                    Ok(piece)
                }
                Err(mistake) => Err(Unread::Mistake(self.placed(mistake))),
            };
        }
    }

    /// Goes to the line after the last piece, where the rows of a COPY … FROM stdin begin.
    pub(crate) fn begin_rows(&mut self) -> Result<(), Unread> {
        loop {
            let held = &self.buffer[self.next..];
            let newline = held.iter().position(|&byte| byte == b'\n');
            let line = newline.or(self.has_ended.then_some(held.len()));
            if let Some(length) = line {
                let rest = held[..length].trim_ascii();
                if !rest.is_empty() && !rest.starts_with(b"--") {
                    let what = "rows follow this line, so nothing may stand behind the semicolon";
                    return Err(Unread::Mistake(self.placed(Mistake::new(self.next, what))));
                }
                self.next = (self.next + length + 1).min(self.buffer.len());
                return Ok(());
            }
            self.fill_within_bounds()?;
        }
    }

    /// The next lines of the rows; `None` after the line `\.`, which ends them. Its places are bytes of
    /// [`Pieces::text`].
    pub(crate) fn rows(&mut self) -> Result<Option<Range<usize>>, Unread> {
        loop {
            let (whole, end) = lines_to_end(&self.buffer[self.next..], self.has_ended);
            if whole > 0 {
                let begins = self.next;
                self.next += whole;
                return Ok(Some(begins..self.next));
            }
            if let Some(end) = end {
                self.next += end;
                return Ok(None);
            }
            if self.has_ended {
                let what = "the rows of a COPY … FROM stdin must end with a line \\.";
                let at = self.buffer.len();
                return Err(Unread::Mistake(self.placed(Mistake::new(at, what))));
            }
            self.fill_within_bounds()?;
        }
    }

    /// Goes behind the rows that follow the last piece.
    pub(crate) fn pass_rows(&mut self) -> Result<(), Unread> {
        self.begin_rows()?;
        while self.rows()?.is_some() {}
        Ok(())
    }

    fn fill_within_bounds(&mut self) -> Result<(), Unread> {
        if self.buffer.len() - self.next >= LONGEST_BYTES {
            let what = "this line is longer than 1 GiB, which no server takes";
            return Err(Unread::Mistake(self.placed(Mistake::new(self.next, what))));
        }
        self.fill().map_err(Unread::File)
    }

    /// What is in memory: the piece read last, and its surroundings.
    pub(crate) fn text(&self) -> &[u8] {
        &self.buffer
    }

    /// The line of a byte of the text.
    pub(crate) fn line_of(&mut self, at: usize) -> usize {
        self.count_lines(at.min(self.buffer.len()));
        self.line
    }

    fn placed(&mut self, mistake: Mistake) -> Mistake {
        self.count_lines(mistake.at.min(self.buffer.len()));
        mistake
    }

    fn count_lines(&mut self, at: usize) {
        if at >= self.counted {
            self.line += newlines(&self.buffer[self.counted..at]);
        } else {
            self.line -= newlines(&self.buffer[at..self.counted]);
        }
        self.counted = at;
    }

    /// Reads more, as much again as is held, and forgets what is done.
    fn fill(&mut self) -> io::Result<()> {
        self.count_lines(self.next);
        self.buffer.drain(..self.next);
        self.counted = 0;
        self.next = 0;
        let wanted = self.buffer.len().max(self.chunk_bytes);
        let before = self.buffer.len();
        let mut more = self.input.by_ref().take(wanted as u64);
        more.read_to_end(&mut self.buffer)?;
        self.has_ended = self.buffer.len() - before < wanted;
        Ok(())
    }
}

/// How many bytes of whole lines come first, and where the line `\.` after them ends, if it is there.
fn lines_to_end(held: &[u8], has_ended: bool) -> (usize, Option<usize>) {
    let mut start = 0;
    loop {
        if let Some(rest) = held[start..].strip_prefix(b"\\.") {
            let ends = rest
                .iter()
                .position(|&byte| byte != b'\r')
                .unwrap_or(rest.len());
            match rest.get(ends) {
                Some(b'\n') => return (start, Some(held.len() - rest.len() + ends)),
                None => return (start, has_ended.then_some(held.len())),
                // A row of CSV may begin so.
                Some(_) => {}
            }
        }
        let Some(newline) = held[start..].windows(3).position(|three| three == b"\n\\.") else {
            let newline = held.iter().rposition(|&byte| byte == b'\n');
            return (newline.map_or(0, |newline| newline + 1), None);
        };
        start += newline + 1;
    }
}

fn newlines(text: &[u8]) -> usize {
    text.split(|&byte| byte == b'\n').count() - 1
}
