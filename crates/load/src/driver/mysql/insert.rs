//! Rows become INSERT statements of many rows each.

use super::literal::push_literal;
use crate::driver::Args;

const COM_QUERY: u8 = 0x03;

/// Longer statements load no faster.
const WANTED_BYTES: usize = 1 << 20;
/// MySQL's `max_allowed_packet` before 5.6.6, the smallest default of all.
const SMALLEST_LIMIT_BYTES: usize = 1 << 20;
/// Bytes that the last row may add beyond the length of a full statement.
const ROOM_BYTES: usize = 64 << 10;

/// The length at which a statement is full, for a server that takes packets of that size.
pub(super) fn insert_bytes(max_allowed_packet: Option<usize>) -> usize {
    let limit = max_allowed_packet.unwrap_or(SMALLEST_LIMIT_BYTES);
    limit.saturating_sub(ROOM_BYTES).min(WANTED_BYTES)
}

/// Builds the commands that insert rows, reusing one buffer.
pub(super) struct BulkInsert {
    command: Vec<u8>,
    head_bytes: usize,
    full_bytes: usize,
}

impl BulkInsert {
    pub(super) fn new(table: &str, columns: &[&str], full_bytes: usize) -> Self {
        let mut command = vec![COM_QUERY];
        let head = format!("INSERT INTO {table} ({}) VALUES", columns.join(","));
        command.extend_from_slice(head.as_bytes());
        Self {
            head_bytes: command.len(),
            command,
            full_bytes,
        }
    }

    /// The next command, with as many rows as fit; `None` after the last row.
    pub(super) fn next_statement(
        &mut self,
        args: &mut Args,
        next_row: &mut dyn FnMut(&mut Args) -> bool,
    ) -> Option<&[u8]> {
        self.command.truncate(self.head_bytes);
        while self.command.len() < self.full_bytes && next_row(args) {
            if self.command.len() > self.head_bytes {
                self.command.push(b',');
            }
            self.push_row(args);
        }
        (self.command.len() > self.head_bytes).then_some(&self.command[..])
    }

    fn push_row(&mut self, args: &Args) {
        self.command.push(b'(');
        for (index, arg) in args.values().iter().enumerate() {
            if index > 0 {
                self.command.push(b',');
            }
            push_literal(arg, args, &mut self.command);
        }
        self.command.push(b')');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_spread_over_statements() {
        let mut insert = BulkInsert::new("t", &["a", "b"], 40);
        let mut args = Args::default();
        let mut row = 0;
        let mut next_row = |args: &mut Args| {
            row += 1;
            args.clear();
            args.push_int(row);
            args.push_text(|out| out.extend_from_slice(b"xy"));
            row <= 3
        };
        let mut statements = Vec::new();
        while let Some(command) = insert.next_statement(&mut args, &mut next_row) {
            assert_eq!(command[0], COM_QUERY);
            statements.push(String::from_utf8(command[1..].to_vec()).unwrap());
        }
        assert_eq!(
            statements,
            [
                "INSERT INTO t (a,b) VALUES(1,'xy'),(2,'xy')",
                "INSERT INTO t (a,b) VALUES(3,'xy')"
            ]
        );
    }

    #[test]
    fn statements_fit_into_the_servers_packets() {
        assert_eq!(insert_bytes(Some(16 << 20)), 1 << 20);
        assert_eq!(insert_bytes(None), (1 << 20) - (64 << 10));
    }
}
