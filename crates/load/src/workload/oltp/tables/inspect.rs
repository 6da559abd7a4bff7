//! What a run finds in the database: whether the tables are those that it asks for.

use crate::driver::{Admin, Dialect, Fault};
use crate::workload::tables::{has_index_on, is_transactional};

/// A table that is there. `None`: the database makes no such difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// Whether its numbers are unsigned.
    pub unsigned: Option<bool>,
    /// Whether its storage engine has transactions.
    pub transactional: Option<bool>,
    /// Whether column `k` has its index.
    pub indexed: bool,
}

/// Looks at a table that exists.
pub fn inspect(admin: &mut dyn Admin, dialect: Dialect, name: &str) -> Result<Found, Fault> {
    let indexed = has_index_on(admin, dialect, name, "k")?;
    if dialect != Dialect::Mysql {
        return Ok(Found {
            unsigned: None,
            transactional: None,
            indexed,
        });
    }
    let column_type = admin.query_value(&format!(
        "SELECT column_type FROM information_schema.columns \
         WHERE table_schema = DATABASE() AND table_name = '{name}' AND column_name = 'id'"
    ))?;
    Ok(Found {
        unsigned: column_type.map(|text| text.to_ascii_lowercase().contains("unsigned")),
        transactional: is_transactional(admin, dialect, name)?,
        indexed,
    })
}

/// The highest id in the table; `None`: the table is empty.
pub fn highest_id(admin: &mut dyn Admin, name: &str) -> Result<Option<u64>, Fault> {
    let value = admin.query_value(&format!("SELECT MAX(id) FROM {name}"))?;
    Ok(value.and_then(|id| id.parse().ok()))
}
