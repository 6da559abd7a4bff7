//! Administration between two stages that stops at a signal: the work there may take hours.

use std::io::ErrorKind;

use crate::driver::{Admin, Args, Fault, Reply};
use crate::engine::conductor::RunError;
use crate::engine::inbox::Inbox;

/// Rows handed over between two looks at the inbox.
const ROWS: u64 = 1000;

/// Does the work until a signal comes; from then on, nothing.
pub(super) struct Heedful<'a> {
    admin: &'a mut dyn Admin,
    inbox: &'a Inbox,
    /// Why nothing more is done.
    stopped: Option<RunError>,
}

impl<'a> Heedful<'a> {
    pub(super) fn new(admin: &'a mut dyn Admin, inbox: &'a Inbox) -> Self {
        Self {
            admin,
            inbox,
            stopped: None,
        }
    }

    pub(super) fn stopped(self) -> Option<RunError> {
        self.stopped
    }

    /// The fault ends the work; its caller need not ask for the result.
    fn heed(&mut self) -> Result<(), Fault> {
        if self.stopped.is_none() {
            self.stopped = listen(self.inbox);
        }
        if self.stopped.is_none() {
            return Ok(());
        }
        Err(Fault::Lost(ErrorKind::Interrupted.into()))
    }
}

fn listen(inbox: &Inbox) -> Option<RunError> {
    match inbox.is_interrupted() {
        Ok(is_interrupted) => is_interrupted.then_some(RunError::Interrupted),
        Err(error) => Some(error),
    }
}

impl Admin for Heedful<'_> {
    fn server_version(&mut self) -> Result<String, Fault> {
        self.heed()?;
        self.admin.server_version()
    }

    fn execute_bytes(&mut self, sql: &[u8]) -> Result<Reply, Fault> {
        self.heed()?;
        self.admin.execute_bytes(sql)
    }

    fn query_column(&mut self, sql: &str) -> Result<Vec<Option<String>>, Fault> {
        self.heed()?;
        self.admin.query_column(sql)
    }

    fn load(
        &mut self,
        table: &str,
        columns: &[&str],
        next_row: &mut dyn FnMut(&mut Args) -> bool,
    ) -> Result<u64, Fault> {
        self.heed()?;
        let inbox = self.inbox;
        let (mut rows, mut heard) = (0_u64, None);
        let loaded = self.admin.load(table, columns, &mut |args| {
            rows += 1;
            if rows.is_multiple_of(ROWS) {
                heard = listen(inbox);
            }
            heard.is_none() && next_row(args)
        });
        if heard.is_some() {
            self.stopped = heard;
            self.heed()?;
        }
        loaded
    }

    fn settle(&mut self, table: &str) -> Result<(), Fault> {
        self.heed()?;
        self.admin.settle(table)
    }
}
