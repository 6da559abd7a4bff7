//! A table of sixteen columns in mixed types, all of them parts of its primary key and most with
//! an index of their own.

use super::schema::Table;
use crate::driver::Dialect;

pub(super) const COLUMNS: u64 = 16;
/// From this one on, all are characters.
pub(super) const FIRST_SHORT: u64 = 8;

/// The table without its other indexes; `extra` columns follow the first, and the last nine hold
/// that many characters.
pub(super) fn table(name: &str, dialect: Dialect, extra: &[&str], characters: u32) -> Table {
    // PostgreSQL has neither of the two.
    let (tiny, medium) = match dialect {
        Dialect::Mysql | Dialect::Sqlite => ("TINYINT", "MEDIUMINT"),
        Dialect::Postgres => ("SMALLINT", "INTEGER"),
    };
    let mut columns = vec![format!("field1 {tiny} NOT NULL")];
    columns.extend(extra.iter().map(|name| format!("{name} {tiny} NOT NULL")));
    let types = [
        medium,
        "SMALLINT",
        "CHAR(16)",
        "INTEGER",
        "FLOAT",
        "DOUBLE PRECISION",
    ];
    for (number, data_type) in (2..).zip(types) {
        columns.push(format!("field{number} {data_type} NOT NULL"));
    }
    for number in FIRST_SHORT..=COLUMNS {
        columns.push(format!("field{number} CHAR({characters}) NOT NULL"));
    }
    let parts: Vec<_> = (1..=COLUMNS)
        .map(|number| format!("field{number}"))
        .collect();
    Table::new(name, columns).primary_key(&parts.join(","))
}

/// An index on each column from this one on.
pub(super) fn index_from(table: Table, first: u64) -> Table {
    (first..=COLUMNS).fold(table, |table, number| {
        table.index(&format!("field{number}"))
    })
}
