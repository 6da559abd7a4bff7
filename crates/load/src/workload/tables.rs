//! Sets of tables that a workload makes, fills and drops: what is the same for all of them.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::driver::{Admin, Args, Dialect, Fault};

/// Tables, or other parts that can be loaded side by side, numbered from 1.
pub trait TableSet: Sync {
    /// The workload's name on the command line.
    fn workload(&self) -> &'static str;

    /// Number of parts.
    fn count(&self) -> usize;

    /// Rows that one of them is loaded with.
    fn rows(&self, number: usize) -> u64;

    fn name(&self, number: usize) -> String;

    /// The tables that all parts are in.
    fn tables(&self) -> Vec<String> {
        (1..=self.count()).map(|number| self.name(number)).collect()
    }

    /// Makes what the parts share, before any of them.
    fn begin(&self, _admin: &mut dyn Admin, _dialect: Dialect) -> Result<(), Fault> {
        Ok(())
    }

    /// Builds what is better built when all parts are loaded.
    fn finish(&self, _admin: &mut dyn Admin, _dialect: Dialect) -> Result<(), Fault> {
        Ok(())
    }

    /// Makes one part, such as a table with its indexes; returns the rows loaded. `progress` is
    /// raised as rows are handed over.
    fn build(
        &self,
        admin: &mut dyn Admin,
        dialect: Dialect,
        number: usize,
        progress: &Progress,
    ) -> Result<u64, Fault>;
}

/// Rows handed to the database so far, by all threads that load.
#[derive(Debug, Default)]
pub struct Progress(AtomicU64);

impl Progress {
    /// Updating a shared counter costs more than making a row, so it is raised by this many at a
    /// time.
    pub const ROWS: u64 = 1000;

    /// Says that row `done + 1` of `rows` is about to be made.
    #[inline]
    pub fn row(&self, done: u64, rows: u64) {
        if done.is_multiple_of(Self::ROWS) {
            self.add(Self::ROWS.min(rows - done));
        }
    }

    pub fn add(&self, rows: u64) {
        self.0.fetch_add(rows, Ordering::Relaxed);
    }

    #[must_use]
    pub fn rows(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Loads one row for each key.
pub fn load<K>(
    admin: &mut dyn Admin,
    table: &str,
    columns: &[&str],
    keys: impl IntoIterator<Item = K>,
    progress: &Progress,
    mut fill: impl FnMut(K, &mut Args),
) -> Result<u64, Fault> {
    let mut keys = keys.into_iter();
    let mut untold = 0;
    let loaded = admin.load(table, columns, &mut |args| {
        args.clear();
        let Some(key) = keys.next() else {
            return false;
        };
        fill(key, args);
        untold += 1;
        if untold == Progress::ROWS {
            progress.add(untold);
            untold = 0;
        }
        true
    })?;
    progress.add(untold);
    Ok(loaded)
}

/// Whether the table exists; an empty table counts.
pub fn exists(admin: &mut dyn Admin, dialect: Dialect, name: &str) -> Result<bool, Fault> {
    let sql = match dialect {
        Dialect::Mysql => format!(
            "SELECT COUNT(*) FROM information_schema.tables \
             WHERE table_schema = DATABASE() AND table_name = '{name}'"
        ),
        Dialect::Postgres => format!("SELECT COUNT(to_regclass('{name}'))"),
        Dialect::Sqlite => {
            format!("SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = '{name}'")
        }
    };
    counts_some(admin, &sql)
}

/// Whether a secondary index of the table begins with this column.
pub fn has_index_on(
    admin: &mut dyn Admin,
    dialect: Dialect,
    name: &str,
    column: &str,
) -> Result<bool, Fault> {
    let sql = match dialect {
        Dialect::Mysql => format!(
            "SELECT COUNT(*) FROM information_schema.statistics \
             WHERE table_schema = DATABASE() AND table_name = '{name}' \
             AND column_name = '{column}' AND seq_in_index = 1"
        ),
        Dialect::Postgres => format!(
            "SELECT COUNT(*) FROM pg_index i \
             JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] \
             WHERE i.indrelid = to_regclass('{name}') AND i.indisvalid AND a.attname = '{}'",
            // Names that are not quoted are kept in small letters.
            column.to_ascii_lowercase()
        ),
        Dialect::Sqlite => format!(
            "SELECT COUNT(*) FROM pragma_index_list('{name}') l \
             JOIN pragma_index_info(l.name) i WHERE i.seqno = 0 AND i.name = '{column}'"
        ),
    };
    counts_some(admin, &sql)
}

/// Whether the table's storage engine has transactions; `None`: the database has no such
/// difference.
pub fn is_transactional(
    admin: &mut dyn Admin,
    dialect: Dialect,
    name: &str,
) -> Result<Option<bool>, Fault> {
    if dialect != Dialect::Mysql {
        return Ok(None);
    }
    let transactions = admin.query_value(&format!(
        "SELECT e.transactions FROM information_schema.tables t \
         JOIN information_schema.engines e ON e.engine = t.engine \
         WHERE t.table_schema = DATABASE() AND t.table_name = '{name}'"
    ))?;
    Ok(transactions.map(|text| text.eq_ignore_ascii_case("yes")))
}

fn counts_some(admin: &mut dyn Admin, sql: &str) -> Result<bool, Fault> {
    let count = admin.query_value(sql)?;
    Ok(count.is_some_and(|count| count != "0"))
}

/// Drops the table if it is there.
pub fn drop(admin: &mut dyn Admin, name: &str) -> Result<(), Fault> {
    admin.execute(&format!("DROP TABLE IF EXISTS {name}"))?;
    Ok(())
}
