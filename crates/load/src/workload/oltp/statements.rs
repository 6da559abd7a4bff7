//! The statements of the OLTP scripts, in each family's SQL.

use super::Schema;
use crate::driver::{Dialect, Kind, Statement};

/// A kind of statement in a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Query {
    Begin,
    /// In place of `Begin` if the storage engine has no transactions.
    Lock,
    PointSelect,
    SimpleRange,
    SumRange,
    OrderRange,
    DistinctRange,
    IndexUpdate,
    NonIndexUpdate,
    Delete,
    /// A row with a given id.
    Insert,
    /// A row with a given id and otherwise fixed values, as sysbench 0.4 sends it.
    FixedInsert,
    /// A row with an id that the database chooses.
    AppendedInsert,
    Commit,
    Unlock,
}

/// The target of the statements.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    pub(super) dialect: Dialect,
    pub(super) schema: Schema,
    pub(super) tables: usize,
    /// Whether the transaction writes.
    pub(super) writes: bool,
}

impl Query {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Begin => "begin",
            Self::Lock => "lock_tables",
            Self::PointSelect => "point_select",
            Self::SimpleRange => "simple_range",
            Self::SumRange => "sum_range",
            Self::OrderRange => "order_range",
            Self::DistinctRange => "distinct_range",
            Self::IndexUpdate => "index_update",
            Self::NonIndexUpdate => "non_index_update",
            Self::Delete => "delete",
            Self::Insert | Self::FixedInsert | Self::AppendedInsert => "insert",
            Self::Commit => "commit",
            Self::Unlock => "unlock_tables",
        }
    }

    pub(super) fn kind(self) -> Kind {
        match self {
            Self::PointSelect
            | Self::SimpleRange
            | Self::SumRange
            | Self::OrderRange
            | Self::DistinctRange => Kind::Read,
            Self::IndexUpdate
            | Self::NonIndexUpdate
            | Self::Delete
            | Self::Insert
            | Self::FixedInsert
            | Self::AppendedInsert => Kind::Write,
            _ => Kind::Other,
        }
    }

    /// Whether each table has its own statement.
    pub(super) fn is_on_table(self) -> bool {
        self.kind() != Kind::Other
    }

    /// One statement, or one for each table.
    pub(super) fn statements(self, target: Target) -> Vec<Statement> {
        match self {
            // sysbench prepares its brackets, too, if the server can.
            Self::Begin => vec![Statement::prepared(begin(target))],
            Self::Commit => vec![Statement::prepared("COMMIT")],
            Self::Lock => vec![Statement::as_text(lock(target))],
            Self::Unlock => vec![Statement::as_text("UNLOCK TABLES")],
            _ => (1..=target.tables)
                .map(|number| self.sql(target.dialect, &target.schema.table_name(number)))
                .map(Statement::prepared)
                .collect(),
        }
    }

    fn sql(self, dialect: Dialect, table: &str) -> String {
        let range = format!("FROM {table} WHERE id BETWEEN ? AND ?");
        match self {
            Self::PointSelect => format!("SELECT c FROM {table} WHERE id=?"),
            Self::SimpleRange => format!("SELECT c {range}"),
            Self::SumRange => format!("SELECT SUM(k) {range}"),
            Self::OrderRange => format!("SELECT c {range} ORDER BY c"),
            Self::DistinctRange => format!("SELECT DISTINCT c {range} ORDER BY c"),
            Self::IndexUpdate => format!("UPDATE {table} SET k=k+1 WHERE id=?"),
            Self::NonIndexUpdate => format!("UPDATE {table} SET c=? WHERE id=?"),
            Self::Delete => format!("DELETE FROM {table} WHERE id=?"),
            Self::Insert => format!("INSERT INTO {table} (id, k, c, pad) VALUES (?, ?, ?, ?)"),
            Self::FixedInsert => format!(
                "INSERT INTO {table} VALUES(?,0,' ',\
                 'aaaaaaaaaaffffffffffrrrrrrrrrreeeeeeeeeeyyyyyyyyyy')"
            ),
            // MySQL chooses an id for 0, and sysbench sends one; elsewhere 0 would be an id.
            Self::AppendedInsert if dialect == Dialect::Mysql => {
                format!("INSERT INTO {table} (id, k, c, pad) VALUES (0, ?, ?, ?)")
            }
            Self::AppendedInsert => format!("INSERT INTO {table} (k, c, pad) VALUES (?, ?, ?)"),
            Self::Begin | Self::Lock | Self::Commit | Self::Unlock => {
                unreachable!("brackets are the same for every table")
            }
        }
    }
}

/// By default SQLite takes its write lock at the first write. A transaction that has read before
/// cannot wait for the lock then and fails at once, so writers take it at BEGIN.
fn begin(target: Target) -> &'static str {
    match target.dialect {
        Dialect::Sqlite if target.writes => "BEGIN IMMEDIATE",
        _ => "BEGIN",
    }
}

/// All tables, since a client that holds some may use no other; sysbench 0.4 lets readers share
/// its table, the legacy script of 0.5 does not.
fn lock(target: Target) -> String {
    let mode = match target.schema {
        Schema::Single if !target.writes => "READ",
        _ => "WRITE",
    };
    let tables: Vec<String> = (1..=target.tables)
        .map(|number| format!("{} {mode}", target.schema.table_name(number)))
        .collect();
    format!("LOCK TABLES {}", tables.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(schema: Schema, writes: bool) -> Target {
        Target {
            dialect: Dialect::Mysql,
            schema,
            tables: if schema == Schema::Numbered { 3 } else { 1 },
            writes,
        }
    }

    #[test]
    fn locks_are_those_of_the_legacy_scripts() {
        let sql = |schema, writes| {
            Query::Lock.statements(target(schema, writes))[0]
                .sql
                .clone()
        };
        let three = "LOCK TABLES sbtest1 WRITE, sbtest2 WRITE, sbtest3 WRITE";
        assert_eq!(sql(Schema::Numbered, true), three);
        assert_eq!(sql(Schema::Numbered, false), three);
        assert_eq!(sql(Schema::Single, true), "LOCK TABLES sbtest WRITE");
        assert_eq!(sql(Schema::Single, false), "LOCK TABLES sbtest READ");
    }

    #[test]
    fn the_row_that_0_4_puts_back_is_always_the_same() {
        let statements = Query::FixedInsert.statements(target(Schema::Single, true));
        let [statement] = &statements[..] else {
            panic!("{statements:?}")
        };
        let pad = statement.sql.split('\'').nth(3).unwrap();
        assert_eq!(pad.len(), 50, "{}", statement.sql);
        assert_eq!(statement.sql.matches('?').count(), 1);
    }
}
