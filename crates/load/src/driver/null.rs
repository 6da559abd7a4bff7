//! A database that answers at once and does nothing: what is left is the cost of ourselves.

use std::task::Poll;

use super::rows::{Keep, Rows};
use super::{
    Admin, Args, Dialect, Driver, Fault, Lines, Protocol, Reply, Session, Statement, StatementId,
};

/// Makes sessions that answer every statement with one row.
#[derive(Debug, Clone, Copy)]
pub struct NullDriver(pub Dialect);

/// Answers each statement at once.
#[derive(Debug, Default)]
pub struct NullSession {
    rows: Option<Rows>,
}

const ONE_ROW: Reply = Reply {
    rows: 1,
    affected: 0,
};

impl Driver for NullDriver {
    type Session = NullSession;

    fn dialect(&self) -> Dialect {
        self.0
    }

    fn open(&self, _: &[Statement], _: Protocol) -> Result<NullSession, Fault> {
        Ok(NullSession::default())
    }

    fn admin(&self) -> Result<Box<dyn Admin>, Fault> {
        Ok(Box::new(NullAdmin))
    }

    fn has_tables(&self) -> bool {
        false
    }
}

impl Session for NullSession {
    fn source(&mut self) -> Option<&mut dyn mio::event::Source> {
        None
    }

    fn submit(&mut self, _: StatementId, args: &Args) -> Result<(), Fault> {
        // Drawing the parameters is part of our cost: it must not be optimised away.
        std::hint::black_box(args.values());
        Ok(())
    }

    fn submit_text(&mut self, sql: &[u8]) -> Result<(), Fault> {
        std::hint::black_box(sql);
        Ok(())
    }

    fn keep_rows(&mut self, keep: Keep) {
        let mut rows = Rows::new(keep);
        rows.begin(1);
        rows.push(b"1");
        self.rows = Some(rows);
    }

    fn rows(&self) -> Option<&Rows> {
        self.rows.as_ref()
    }

    fn submit_preparation(&mut self, _: &[u8], _: Option<usize>) -> Result<(), Fault> {
        Ok(())
    }

    fn submit_own(&mut self, _: usize, args: &Args) -> Result<(), Fault> {
        std::hint::black_box(args.values());
        Ok(())
    }

    fn poll(&mut self) -> Poll<Result<Reply, Fault>> {
        Poll::Ready(Ok(ONE_ROW))
    }
}

/// Takes everything, keeps nothing.
struct NullAdmin;

impl Admin for NullAdmin {
    fn server_version(&mut self) -> Result<String, Fault> {
        Ok("null".to_owned())
    }

    fn execute_bytes(&mut self, _: &[u8]) -> Result<Reply, Fault> {
        Ok(Reply::default())
    }

    fn query_column(&mut self, _: &str) -> Result<Vec<Option<String>>, Fault> {
        Ok(Vec::new())
    }

    fn load(
        &mut self,
        _: &str,
        _: &[&str],
        next_row: &mut dyn FnMut(&mut Args) -> bool,
    ) -> Result<u64, Fault> {
        let mut args = Args::default();
        let mut rows = 0;
        while next_row(&mut args) {
            rows += 1;
        }
        Ok(rows)
    }

    fn copy_in(&mut self, _: &str, lines: &mut dyn Lines) -> Result<Reply, Fault> {
        while let Ok(Some(_)) = lines.next() {}
        Ok(Reply::default())
    }
}
