//! Rows become the "file" of LOAD DATA LOCAL: the server parses it at half the cost of INSERTs.

use std::io::Write;

use crate::driver::{Arg, Args};

/// Bytes of one packet; larger ones load no faster.
const CHUNK_BYTES: usize = 256 << 10;

/// One statement is one transaction: this many rows of sysbench's tables are some 20 MB of undo.
const ROWS_PER_STATEMENT: u64 = 100_000;

/// The rows of one LOAD DATA statement, in MySQL's default format: tabs between columns, a
/// line feed after each row, backslashes before what would be mistaken for either.
pub(super) struct LocalData<'a> {
    next_row: &'a mut dyn FnMut(&mut Args) -> bool,
    args: Args,
    chunk: Vec<u8>,
    rows_left: u64,
    /// Whether `args` holds a row that is in no chunk yet.
    pending: bool,
}

impl<'a> LocalData<'a> {
    pub(super) fn new(next_row: &'a mut dyn FnMut(&mut Args) -> bool) -> Self {
        Self {
            next_row,
            args: Args::default(),
            chunk: Vec::with_capacity(CHUNK_BYTES + 1024),
            rows_left: 0,
            pending: false,
        }
    }

    /// Prepares another statement; false if there are no more rows.
    pub(super) fn begin_statement(&mut self) -> bool {
        self.rows_left = ROWS_PER_STATEMENT;
        self.pending = (self.next_row)(&mut self.args);
        self.pending
    }

    /// The next packet's content; `None` at the end of the statement.
    pub(super) fn next_chunk(&mut self) -> Option<&[u8]> {
        self.chunk.clear();
        while self.pending && self.chunk.len() < CHUNK_BYTES {
            push_row(&self.args, &mut self.chunk);
            self.rows_left -= 1;
            self.pending = self.rows_left > 0 && (self.next_row)(&mut self.args);
        }
        (!self.chunk.is_empty()).then_some(&self.chunk[..])
    }
}

fn push_row(args: &Args, out: &mut Vec<u8>) {
    for (index, arg) in args.values().iter().enumerate() {
        if index > 0 {
            out.push(b'\t');
        }
        match arg {
            Arg::Int(value) => {
                out.extend_from_slice(itoa::Buffer::new().format(*value).as_bytes());
            }
            Arg::Double(value) => drop(write!(out, "{value:e}")),
            Arg::Text(range) => push_escaped(args.text(range), out),
            Arg::Null => out.extend_from_slice(b"\\N"),
        }
    }
    out.push(b'\n');
}

fn push_escaped(text: &[u8], out: &mut Vec<u8>) {
    if !text
        .iter()
        .any(|byte| matches!(byte, b'\t' | b'\n' | b'\\'))
    {
        out.extend_from_slice(text);
        return;
    }
    for &byte in text {
        if matches!(byte, b'\t' | b'\n' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_statements(rows: i64) -> Vec<Vec<u8>> {
        let mut row = 0;
        let mut next_row = |args: &mut Args| {
            row += 1;
            args.clear();
            args.push_int(row);
            args.push_text(|out| out.extend_from_slice(b"a\tb\\c\nd"));
            row <= rows
        };
        let mut data = LocalData::new(&mut next_row);
        let mut statements = Vec::new();
        while data.begin_statement() {
            let mut whole = Vec::new();
            while let Some(chunk) = data.next_chunk() {
                assert!(chunk.len() < CHUNK_BYTES + 1024);
                whole.extend_from_slice(chunk);
            }
            statements.push(whole);
        }
        statements
    }

    #[test]
    fn columns_are_separated_and_escaped() {
        assert_eq!(all_statements(1), [b"1\ta\\\tb\\\\c\\\nd\n"]);
        assert!(all_statements(0).is_empty());
    }

    #[test]
    fn many_rows_are_spread_over_statements_without_loss() {
        let statements = all_statements(250_000);
        // Every row ends with the one line feed that no backslash escapes.
        let rows = |data: &[u8]| data.windows(2).filter(|pair| *pair == b"d\n").count();
        let counts: Vec<_> = statements.iter().map(|data| rows(data)).collect();
        assert_eq!(counts, [100_000, 100_000, 50_000]);
        assert!(statements[2].starts_with(b"200001\t"));
    }
}
