//! What is asked of a table, in the words of the experiment's own library.

use super::history::RECORDED;
use super::tables::table_name;
use crate::driver::Statement;

/// A statement of this type on a table.
pub(super) fn statement(name: &str, number: usize) -> Statement {
    let table = table_name(number);
    // Entries for other purposes and entries that were found wrong are there, and are passed over.
    let standing = format!("elementID=? AND flavor='{RECORDED}' AND deactive=0");
    let sql = match name {
        "validity_end" => format!(
            "SELECT beginTime FROM {table} WHERE {standing} AND beginTime>? \
             ORDER BY beginTime LIMIT 1"
        ),
        "entry" => format!(
            "SELECT dataID, beginTime, entryTime, payload FROM {table} WHERE {standing} AND beginTime<=? \
             ORDER BY beginTime DESC LIMIT 1"
        ),
        "append" => format!(
            "INSERT INTO {table} (entryTime, elementID, beginTime, flavor, deactive, payload) \
             VALUES (?, ?, ?, '{RECORDED}', 0, ?)"
        ),
        other => unreachable!("no statement is called {other}"),
    };
    Statement { sql, prepare: true }
}
