//! Transactions that can be looked up after a power cut: each that writes puts a row into a table of ours, and
//! commits with it.

use std::io::{self, Write};

use crate::driver::{Dialect, Driver, Fault};
use crate::workload::ledger::Acknowledgements;

/// The mark of the transaction under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    None,
    /// The transaction has written something.
    Wanted,
    /// The row is there, and goes with the commit.
    Set,
    /// The server has refused something.
    Refused,
}

/// A transaction of ours around a statement that would commit itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Around {
    None,
    Open,
    /// The session has locked tables, which a transaction of ours would unlock.
    Locked,
    /// The statement is through.
    Through,
}

/// What is sent beside the log's statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
    RollBack,
    Begin,
    Mark,
    Commit,
}

/// The marks of all clients.
#[derive(Debug)]
pub(crate) struct Marks {
    pub(super) file: Acknowledgements,
    pub(super) table: &'static str,
    /// Tables whose rows no transaction holds: a mark says nothing of them.
    pub(super) untransactional: Vec<String>,
}

impl Marks {
    /// Makes the table, without rows.
    pub(crate) fn new<D: Driver>(file: Acknowledgements, driver: &D) -> Result<Self, Fault> {
        let mut admin = driver.admin()?;
        let (table, engine, others) = match driver.dialect() {
            Dialect::Mysql | Dialect::Sqlite => (
                "diskproof_commits",
                " ENGINE=InnoDB",
                "SELECT own.table_name FROM information_schema.tables own JOIN information_schema.engines kind \
                 ON kind.engine = own.engine WHERE own.table_schema = DATABASE() AND kind.transactions <> 'YES'",
            ),
            // A session of the log may have a search path of its own, or drop its schema.
            Dialect::Postgres => {
                admin.execute("CREATE SCHEMA IF NOT EXISTS diskproof")?;
                (
                    "diskproof.diskproof_commits",
                    "",
                    "SELECT relname FROM pg_class WHERE relpersistence = 'u'",
                )
            }
        };
        admin.execute(&format!("DROP TABLE IF EXISTS {table}"))?;
        // Some servers take no table without a primary key.
        admin.execute(&format!(
            "CREATE TABLE {table} (client INTEGER, number BIGINT, PRIMARY KEY (client, number)){engine}"
        ))?;
        let untransactional = admin.query_column(others)?;
        Ok(Self {
            file,
            table,
            untransactional: untransactional.into_iter().flatten().collect(),
        })
    }

    /// The statement that marks a client's transaction.
    pub(super) fn push_sql(&self, client: usize, number: u64, sql: &mut Vec<u8>) {
        // Writing to a vector does not fail.
        let _ = write!(
            sql,
            "INSERT INTO {} VALUES ({client}, {number})",
            self.table
        );
    }

    /// Writes down that a transaction was acknowledged, and which of the log's it is.
    pub(super) fn add(
        &self,
        client: usize,
        number: u64,
        (session, at_us): (usize, u64),
    ) -> io::Result<()> {
        self.file
            .add_recorded(client, number, [session as u64, at_us])
    }

    /// Writes down that a write was acknowledged of which no mark tells, and why. Marks begin with number 1.
    pub(super) fn add_unmarked(&self, client: usize, why: &str) {
        self.add_failure(client, 0, why);
    }

    /// Writes down that one has failed, which may be there after all. A line that cannot be written leaves a gap
    /// in the numbers, which whoever reads them refuses.
    pub(super) fn add_failure(&self, client: usize, number: u64, code: &str) {
        let _ = self.file.add_failure(client, number, code);
    }
}
