//! A connection for tables, loading and questions.

use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::execute::{parse, run};
use crate::driver::admin::column;
use crate::driver::patience::no_reply;
use crate::driver::rows::{Keep, Rows};
use crate::driver::{Admin, Args, Fault, QUESTION_LIMIT, Reply};

/// Work waits its turn for as long as this: while one thread loads its table, the others' loads
/// must not fail, and loading a large table takes minutes.
const WORK_BUSY_TIMEOUT: Duration = Duration::from_secs(3600);

/// Steps of a statement between two looks at the clock: about a millisecond.
pub(super) const STEPS: i32 = 100_000;

pub(super) struct SqliteAdmin {
    connection: Connection,
    limit: Option<Duration>,
    work_limit: Option<Duration>,
}

impl SqliteAdmin {
    pub(super) fn new(connection: Connection, work_limit: Option<Duration>) -> Result<Self, Fault> {
        let limit = Some(QUESTION_LIMIT);
        let admin = Self {
            connection,
            limit,
            work_limit,
        };
        admin.wait_for_locks()?;
        Ok(admin)
    }

    fn wait_for_locks(&self) -> Result<(), Fault> {
        let longest = self.limit.unwrap_or(WORK_BUSY_TIMEOUT);
        Ok(self.connection.busy_timeout(longest)?)
    }

    /// Runs a statement within its limit. One that computes for ever is interrupted.
    fn in_time<T>(
        &mut self,
        sql: &str,
        run: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let Some(limit) = self.limit else {
            return run(self);
        };
        let end = Instant::now() + limit;
        self.interrupt_when(Some(move || Instant::now() > end))?;
        let outcome = run(self);
        self.interrupt_when(None::<fn() -> bool>)?;
        match outcome {
            Err(Fault::Server(error)) if error.code == "SQLITE_INTERRUPT" => {
                Err(no_reply(sql.as_bytes(), limit))
            }
            outcome => outcome,
        }
    }

    fn interrupt_when(
        &mut self,
        handler: Option<impl FnMut() -> bool + Send + 'static>,
    ) -> Result<(), Fault> {
        Ok(self.connection.progress_handler(STEPS, handler)?)
    }

    fn run(&self, sql: &str, kept: Option<&mut Rows>) -> Result<Reply, Fault> {
        let mut statement = parse(&self.connection, sql)?;
        run(&self.connection, &mut statement, &Args::default(), kept)
    }

    fn insert_rows(
        &self,
        sql: &str,
        next_row: &mut dyn FnMut(&mut Args) -> bool,
    ) -> Result<u64, Fault> {
        let mut insert = self.connection.prepare(sql)?;
        let mut args = Args::default();
        let mut rows = 0;
        while next_row(&mut args) {
            run(&self.connection, &mut insert, &args, None)?;
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

    fn begin_work(&mut self) -> Result<(), Fault> {
        self.limit = self.work_limit;
        self.wait_for_locks()
    }

    fn execute_bytes(&mut self, sql: &[u8]) -> Result<Reply, Fault> {
        let no_text = |_| Fault::Protocol("a statement that is not UTF-8 text".into());
        let sql = std::str::from_utf8(sql).map_err(no_text)?;
        self.in_time(sql, |admin| admin.run(sql, None))
    }

    fn query_column(&mut self, sql: &str) -> Result<Vec<Option<String>>, Fault> {
        let mut rows = Rows::new(Keep::ALL);
        self.in_time(sql, |admin| admin.run(sql, Some(&mut rows)))?;
        column(&rows)
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
        match self.in_time(&insert, |admin| admin.insert_rows(&insert, next_row)) {
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
