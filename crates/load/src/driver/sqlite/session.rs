//! One connection that runs statements while they are submitted.

use std::task::Poll;

use rusqlite::Connection;

use super::admin::STEPS;
use super::execute::{check_count, parse, run};
use crate::driver::rows::{Keep, Rows};
use crate::driver::template::Template;
use crate::driver::{Args, Dialect, Fault, Protocol, Reply, Session, Statement, StatementId};

/// A connection with its catalogue; `poll` hands over what `submit` has brought.
pub struct SqliteSession {
    connection: Connection,
    statements: Vec<Execution>,
    /// The text of the current statement, if its parameters are spliced in.
    text: Vec<u8>,
    outcome: Option<Result<Reply, Fault>>,
    /// The values of the last reply, if the workload reads them.
    kept: Option<Rows>,
    /// Of the statements, those that a script has prepared on this connection begin here.
    own: usize,
}

/// The form in which a statement is run.
enum Execution {
    /// Parsed once and kept in the connection's cache under its text.
    Cached(String),
    /// Its parameters become literals and it is parsed anew each time.
    Spliced(Template),
    /// SQLite has often rolled back by itself (disk full, I/O error) or never begun (busy at
    /// BEGIN); rolling back then is nothing to do, not an error.
    Rollback,
}

impl SqliteSession {
    pub(super) fn new(
        connection: Connection,
        statements: &[Statement],
        protocol: Protocol,
    ) -> Result<Self, Fault> {
        // No statement of the catalogue ever pushes another out of the cache.
        connection.set_prepared_statement_cache_capacity(statements.len() + 1);
        let session = Self {
            statements: statements
                .iter()
                .map(|statement| Execution::new(statement, protocol))
                .collect(),
            connection,
            text: Vec::new(),
            outcome: None,
            own: statements.len(),
            kept: None,
        };
        session.prepare()?;
        Ok(session)
    }

    /// Parses what is to be kept, so that a missing table is found before anything is timed.
    fn prepare(&self) -> Result<(), Fault> {
        for statement in &self.statements {
            if let Execution::Cached(sql) = statement {
                parse(&self.connection, sql)?;
                self.connection.prepare_cached(sql)?;
            }
        }
        Ok(())
    }

    fn execute(&mut self, statement: StatementId, args: &Args) -> Result<Reply, Fault> {
        match &self.statements[statement] {
            Execution::Cached(sql) => {
                let mut prepared = self.connection.prepare_cached(sql)?;
                run(&self.connection, &mut prepared, args, self.kept.as_mut())
            }
            Execution::Spliced(template) => {
                check_count(args, template.parameter_count())?;
                self.text.clear();
                template.splice(args, Dialect::Sqlite, &mut self.text);
                let sql = String::from_utf8_lossy(&self.text);
                let mut parsed = parse(&self.connection, &sql)?;
                run(
                    &self.connection,
                    &mut parsed,
                    &Args::default(),
                    self.kept.as_mut(),
                )
            }
            Execution::Rollback if self.connection.is_autocommit() => Ok(Reply::default()),
            Execution::Rollback => {
                let mut rollback = self.connection.prepare_cached("ROLLBACK")?;
                run(&self.connection, &mut rollback, args, None)
            }
        }
    }
}

impl SqliteSession {
    fn execute_text(&mut self, sql: &str) -> Result<Reply, Fault> {
        let mut parsed = parse(&self.connection, sql)?;
        let kept = self.kept.as_mut();
        run(&self.connection, &mut parsed, &Args::default(), kept)
    }

    /// Parses a statement once and keeps it; the cache has room for all of them.
    fn prepare_own(&mut self, sql: &str) -> Result<Reply, Fault> {
        let room = self.statements.len() + 2;
        self.connection.set_prepared_statement_cache_capacity(room);
        parse(&self.connection, sql)?;
        self.connection.prepare_cached(sql)?;
        self.statements.push(Execution::Cached(sql.to_owned()));
        Ok(Reply::default())
    }
}

impl Execution {
    /// `prepare` says what a server can prepare; SQLite can keep every statement, BEGIN too.
    fn new(statement: &Statement, protocol: Protocol) -> Self {
        if statement.sql.trim().eq_ignore_ascii_case("rollback") {
            return Self::Rollback;
        }
        match protocol {
            Protocol::Prepared => Self::Cached(statement.sql.clone()),
            Protocol::Text => Self::Spliced(Template::new(&statement.sql, Dialect::Sqlite)),
        }
    }
}

impl Session for SqliteSession {
    fn source(&mut self) -> Option<&mut dyn mio::event::Source> {
        None
    }

    fn end_when(&mut self, over: impl FnMut() -> bool + Send + 'static) -> Result<(), Fault> {
        Ok(self.connection.progress_handler(STEPS, Some(over))?)
    }

    fn keep_rows(&mut self, keep: Keep) {
        self.kept = Some(Rows::new(keep));
    }

    fn rows(&self) -> Option<&Rows> {
        self.kept.as_ref()
    }

    #[inline]
    fn submit(&mut self, statement: StatementId, args: &Args) -> Result<(), Fault> {
        self.outcome = Some(self.execute(statement, args));
        Ok(())
    }

    fn submit_text(&mut self, sql: &[u8]) -> Result<(), Fault> {
        self.outcome = Some(self.execute_text(&String::from_utf8_lossy(sql)));
        Ok(())
    }

    fn submit_preparation(&mut self, sql: &[u8], _: Option<usize>) -> Result<(), Fault> {
        self.outcome = Some(self.prepare_own(&String::from_utf8_lossy(sql)));
        Ok(())
    }

    fn submit_own(&mut self, number: usize, args: &Args) -> Result<(), Fault> {
        self.outcome = Some(self.execute(self.own + number, args));
        Ok(())
    }

    #[inline]
    fn poll(&mut self) -> Poll<Result<Reply, Fault>> {
        self.outcome.take().map_or(Poll::Pending, Poll::Ready)
    }
}
