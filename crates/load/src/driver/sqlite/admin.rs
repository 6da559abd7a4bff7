//! A connection for tables, loading and questions.

use rusqlite::Connection;
use rusqlite::types::Value;

use super::error;
use super::execute::run;
use super::options::as_text;
use crate::driver::{Admin, Args, Fault, Reply};

pub(super) struct SqliteAdmin {
    connection: Connection,
}

impl SqliteAdmin {
    pub(super) fn new(connection: Connection) -> Self {
        Self { connection }
    }

    fn insert_rows(
        &self,
        sql: &str,
        next_row: &mut dyn FnMut(&mut Args) -> bool,
    ) -> Result<u64, Fault> {
        let mut insert = self.connection.prepare(sql).map_err(error::fault)?;
        let mut args = Args::default();
        let mut rows = 0;
        while next_row(&mut args) {
            run(&self.connection, &mut insert, &args)?;
            args.clear();
            rows += 1;
        }
        Ok(rows)
    }
}

impl Admin for SqliteAdmin {
    fn server_version(&mut self) -> Result<String, Fault> {
        Ok(super::version())
    }

    fn execute(&mut self, sql: &str) -> Result<Reply, Fault> {
        let mut statement = self.connection.prepare(sql).map_err(error::fault)?;
        run(&self.connection, &mut statement, &Args::default())
    }

    fn query_column(&mut self, sql: &str) -> Result<Vec<Option<String>>, Fault> {
        let mut statement = self.connection.prepare(sql).map_err(error::fault)?;
        let mut rows = statement.query([]).map_err(error::fault)?;
        let mut values = Vec::new();
        while let Some(row) = rows.next().map_err(error::fault)? {
            values.push(match row.get::<_, Value>(0).map_err(error::fault)? {
                Value::Null => None,
                value => Some(as_text(&value)),
            });
        }
        Ok(values)
    }

    /// One transaction of prepared INSERTs: a row costs no parsing and no flush of its own.
    fn load(
        &mut self,
        table: &str,
        columns: &[&str],
        next_row: &mut dyn FnMut(&mut Args) -> bool,
    ) -> Result<u64, Fault> {
        let marks = vec!["?"; columns.len()].join(", ");
        let insert = format!(
            "INSERT INTO {table} ({}) VALUES ({marks})",
            columns.join(", ")
        );
        self.execute("BEGIN IMMEDIATE")?;
        match self.insert_rows(&insert, next_row) {
            Ok(rows) => {
                self.execute("COMMIT")?;
                Ok(rows)
            }
            Err(fault) => {
                // A full disk has made SQLite roll back already; the first fault is what counts.
                let _ = self.execute("ROLLBACK");
                Err(fault)
            }
        }
    }
}
