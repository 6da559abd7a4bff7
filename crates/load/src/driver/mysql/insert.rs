//! Rows become INSERT statements of many rows each.

use crate::driver::admin::NextRow;
use crate::driver::template::put_literal;
use crate::driver::{Admin, Args, Dialect, Fault};

/// Longer statements load no faster.
const WANTED_BYTES: usize = 1 << 20;
/// MySQL's `max_allowed_packet` before 5.6.6, the smallest default of all.
const SMALLEST_LIMIT_BYTES: usize = 1 << 20;
/// Bytes that the last row may add beyond the length of a full statement.
const ROOM_BYTES: usize = 64 << 10;

/// Few enough to keep the transaction small, enough to make few flushes: about 8 MiB.
const STATEMENTS_PER_COMMIT: u64 = 8;

/// Loads rows by INSERTs of many rows each, a few to a transaction.
pub(super) fn insert(
    admin: &mut dyn Admin,
    table: &str,
    columns: &[&str],
    next_row: NextRow<'_>,
) -> Result<u64, Fault> {
    let longest = admin.query_value("SELECT @@max_allowed_packet")?;
    let longest = longest.and_then(|bytes| bytes.parse().ok());
    let mut insert = BulkInsert::new(table, columns, insert_bytes(longest));
    let (mut args, mut loaded, mut statements) = (Args::default(), 0, 0_u64);
    admin.execute("BEGIN")?;
    while let Some(sql) = insert.next_statement(&mut args, next_row) {
        loaded += admin.execute_bytes(sql)?.affected;
        statements += 1;
        if statements.is_multiple_of(STATEMENTS_PER_COMMIT) {
            admin.execute("COMMIT")?;
            admin.execute("BEGIN")?;
        }
    }
    admin.execute("COMMIT")?;
    Ok(loaded)
}

/// The length at which a statement is full, for a server that takes packets of that size.
fn insert_bytes(max_allowed_packet: Option<usize>) -> usize {
    let limit = max_allowed_packet.unwrap_or(SMALLEST_LIMIT_BYTES);
    limit.saturating_sub(ROOM_BYTES).min(WANTED_BYTES)
}

/// Builds the statements that insert rows, reusing one buffer.
struct BulkInsert {
    sql: Vec<u8>,
    head_bytes: usize,
    full_bytes: usize,
}

impl BulkInsert {
    fn new(table: &str, columns: &[&str], full_bytes: usize) -> Self {
        let sql = format!("INSERT INTO {table} ({}) VALUES", columns.join(",")).into_bytes();
        Self {
            head_bytes: sql.len(),
            sql,
            full_bytes,
        }
    }

    /// The next statement, with as many rows as fit; `None` after the last row.
    fn next_statement(&mut self, args: &mut Args, next_row: NextRow<'_>) -> Option<&[u8]> {
        self.sql.truncate(self.head_bytes);
        while self.sql.len() < self.full_bytes && next_row(args) {
            if self.sql.len() > self.head_bytes {
                self.sql.push(b',');
            }
            self.push_row(args);
        }
        (self.sql.len() > self.head_bytes).then_some(&self.sql[..])
    }

    fn push_row(&mut self, args: &Args) {
        self.sql.push(b'(');
        for (index, arg) in args.values().iter().enumerate() {
            if index > 0 {
                self.sql.push(b',');
            }
            put_literal(arg, args, Dialect::Mysql, &mut self.sql);
        }
        self.sql.push(b')');
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
        while let Some(sql) = insert.next_statement(&mut args, &mut next_row) {
            statements.push(String::from_utf8(sql.to_vec()).unwrap());
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
