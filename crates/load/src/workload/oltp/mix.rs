//! The mixes: sysbench's scripts, and what is particular to each.

use super::{Schema, TablePer};
use crate::driver::Protocol;

/// sysbench's OLTP scripts by the names of what they do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Mix {
    /// The legacy oltp.lua: 20 statements on one table, unsigned ids, text protocol
    Complex,
    /// BEGIN, 10 point and 4 range SELECTs, COMMIT
    ReadOnly,
    /// The 20 statements of complex, a table drawn for each group of statements
    ReadWrite,
    /// BEGIN, 2 UPDATEs, DELETE and INSERT of one row, COMMIT
    WriteOnly,
    /// One SELECT by primary key
    PointSelect,
    /// One UPDATE of the indexed column
    UpdateIndex,
    /// One UPDATE of a column without index
    UpdateNonIndex,
    /// One INSERT
    Insert,
    /// One DELETE by primary key
    Delete,
}

impl Mix {
    /// The name as it is written on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Complex => "complex",
            Self::ReadOnly => "read-only",
            Self::ReadWrite => "read-write",
            Self::WriteOnly => "write-only",
            Self::PointSelect => "point-select",
            Self::UpdateIndex => "update-index",
            Self::UpdateNonIndex => "update-non-index",
            Self::Insert => "insert",
            Self::Delete => "delete",
        }
    }

    /// How sysbench's own version of this mix sends its parameters: 0.4 prepares all statements.
    #[must_use]
    pub fn default_protocol(self, schema: Schema) -> Protocol {
        match (schema, self) {
            (Schema::Numbered, Self::Complex | Self::Insert) => Protocol::Text,
            _ => Protocol::Prepared,
        }
    }

    /// How long sysbench's own version of this mix keeps a table.
    #[must_use]
    pub fn default_table_per(self) -> TablePer {
        if self.is_legacy() {
            TablePer::Transaction
        } else {
            TablePer::Group
        }
    }

    /// Whether sysbench 0.4 has the mix: as its test modes complex (with or without
    /// `--oltp-read-only`), simple and nontrx. Its nontrx inserts empty the table first, and its
    /// deletes go through the rows in an order that all clients share; these two are not supported
    /// here.
    #[must_use]
    pub fn is_in_0_4(self) -> bool {
        matches!(
            self,
            Self::Complex
                | Self::ReadOnly
                | Self::PointSelect
                | Self::UpdateIndex
                | Self::UpdateNonIndex
        )
    }

    /// The script of sysbench before 1.0: its tables have unsigned numbers (if the database has
    /// such a type), and it locks tables without transactions.
    #[must_use]
    pub fn is_legacy(self) -> bool {
        self == Self::Complex
    }

    /// Whether the transaction has more than one statement, and so a BEGIN and a COMMIT.
    #[must_use]
    pub fn is_transaction(self) -> bool {
        matches!(
            self,
            Self::Complex | Self::ReadOnly | Self::ReadWrite | Self::WriteOnly
        )
    }
}
