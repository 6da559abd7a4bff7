//! The statements of the OLTP scripts, in each family's SQL.

use super::tables::table_name;
use crate::driver::{Dialect, Kind, Statement};

/// A kind of statement in a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Query {
    Begin,
    PointSelect,
    SimpleRange,
    SumRange,
    OrderRange,
    DistinctRange,
    IndexUpdate,
    NonIndexUpdate,
    Delete,
    /// Of a row under a given id.
    Insert,
    /// Of a row whose id the database chooses.
    AppendedInsert,
    Commit,
}

impl Query {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Begin => "begin",
            Self::PointSelect => "point_select",
            Self::SimpleRange => "simple_range",
            Self::SumRange => "sum_range",
            Self::OrderRange => "order_range",
            Self::DistinctRange => "distinct_range",
            Self::IndexUpdate => "index_update",
            Self::NonIndexUpdate => "non_index_update",
            Self::Delete => "delete",
            Self::Insert | Self::AppendedInsert => "insert",
            Self::Commit => "commit",
        }
    }

    pub(super) fn kind(self) -> Kind {
        match self {
            Self::Begin | Self::Commit => Kind::Other,
            Self::PointSelect
            | Self::SimpleRange
            | Self::SumRange
            | Self::OrderRange
            | Self::DistinctRange => Kind::Read,
            Self::IndexUpdate
            | Self::NonIndexUpdate
            | Self::Delete
            | Self::Insert
            | Self::AppendedInsert => Kind::Write,
        }
    }

    /// One statement, or one for each table.
    pub(super) fn statements(
        self,
        dialect: Dialect,
        tables: usize,
        writes: bool,
    ) -> Vec<Statement> {
        match self {
            Self::Begin => vec![as_text(begin(dialect, writes))],
            Self::Commit => vec![as_text("COMMIT")],
            _ => (1..=tables)
                .map(|number| Statement {
                    sql: self.sql(dialect, &table_name(number)),
                    prepare: true,
                })
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
            // MySQL chooses an id for 0, and sysbench sends one; elsewhere 0 would be an id.
            Self::AppendedInsert if dialect == Dialect::Mysql => {
                format!("INSERT INTO {table} (id, k, c, pad) VALUES (0, ?, ?, ?)")
            }
            Self::AppendedInsert => format!("INSERT INTO {table} (k, c, pad) VALUES (?, ?, ?)"),
            Self::Begin | Self::Commit => unreachable!("brackets name no table"),
        }
    }
}

/// SQLite takes its write lock at the first write unless told otherwise; a transaction that has
/// read before cannot wait for the lock then and fails at once, so writers take it at BEGIN.
fn begin(dialect: Dialect, writes: bool) -> &'static str {
    match dialect {
        Dialect::Sqlite if writes => "BEGIN IMMEDIATE",
        _ => "BEGIN",
    }
}

fn as_text(sql: &str) -> Statement {
    Statement {
        sql: sql.to_owned(),
        prepare: false,
    }
}
