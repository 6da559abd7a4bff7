//! PostgreSQL over its own protocol, version 3.
//!
//! An [`Opening`](opening::Opening) takes a connection through encryption, `handshake` and
//! `preparation`, message by message (`wire`). Then `reply` skims the replies, on the timed path.
//! `handshake`, `preparation` and `reply` use no socket, so a fuzzer can drive them.

mod account;
mod command_tag;
mod error;
pub mod handshake;
mod opening;
mod own;
mod plan;
mod preparation;
pub mod reply;
mod session;
mod statement;
pub mod wire;

use std::sync::Arc;
use std::time::Duration;

pub(crate) use command_tag::affected_rows;
pub use session::PostgresSession;

use plan::Plan;

use super::account::Account;
use super::admin::SessionAdmin;
use super::last_made::LastMade;
use super::{Admin, Dialect, Driver, Fault, Protocol, Statement};
use crate::target::{Server, TargetError};

/// One PostgreSQL database and the account that is used there.
#[derive(Debug)]
pub struct PostgresDriver {
    account: Arc<Account>,
    plan: LastMade<Plan>,
}

impl PostgresDriver {
    /// Checks the target; does not connect.
    pub fn new(server: Server) -> Result<Self, TargetError> {
        Ok(Self {
            account: account::account(server)?.into(),
            plan: LastMade::default(),
        })
    }
}

impl Driver for PostgresDriver {
    type Session = PostgresSession;

    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn open(&self, statements: &[Statement], protocol: Protocol) -> Result<Self::Session, Fault> {
        let make = || Plan::new("s", statements, protocol).map(Arc::new);
        let plan = self.plan.of(statements, protocol, make)?;
        PostgresSession::open(Arc::clone(&self.account), plan)
    }

    fn guard(&self) -> Option<&'static [u8]> {
        const ASKED: &[u8] =
            b"SELECT 1 WHERE current_setting('default_transaction_read_only') = 'on' \
            AND current_setting('transaction_read_only') = 'on'";
        self.account.login.read_only.then_some(ASKED)
    }

    fn statement_limit(&self) -> Option<Duration> {
        self.account.statement_limit
    }

    fn admin(&self) -> Result<Box<dyn Admin>, Fault> {
        let open = || self.open(&[], Protocol::Text);
        SessionAdmin::log_in(open, self.account.statement_limit)
    }
}
