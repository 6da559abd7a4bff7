//! The queries of a table, as in the experiment's own library.

use super::history::RECORDED;
use super::tables::table_name;
use crate::driver::{Kind, Statement};

/// A type of statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Query {
    /// When the next entry begins, and so the one that is asked for ends.
    ValidityEnd,
    /// The latest entry not after a time.
    Entry,
    /// A new entry.
    Append,
}

impl Query {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ValidityEnd => "validity_end",
            Self::Entry => "entry",
            Self::Append => "append",
        }
    }

    pub(super) fn kind(self) -> Kind {
        match self {
            Self::ValidityEnd | Self::Entry => Kind::Read,
            Self::Append => Kind::Write,
        }
    }

    /// The statement on a table.
    pub(super) fn statement(self, number: usize) -> Statement {
        let table = table_name(number);
        // Entries for other purposes and entries that were found wrong are passed over.
        let standing = format!("elementID=? AND flavor='{RECORDED}' AND deactive=0");
        let sql = match self {
            Self::ValidityEnd => format!(
                "SELECT beginTime FROM {table} WHERE {standing} AND beginTime>? \
                 ORDER BY beginTime LIMIT 1"
            ),
            Self::Entry => format!(
                "SELECT dataID, beginTime, entryTime, payload FROM {table} WHERE {standing} AND beginTime<=? \
                 ORDER BY beginTime DESC LIMIT 1"
            ),
            Self::Append => format!(
                "INSERT INTO {table} (entryTime, elementID, beginTime, flavor, deactive, payload) \
                 VALUES (?, ?, ?, '{RECORDED}', 0, ?)"
            ),
        };
        Statement { sql, prepare: true }
    }
}
