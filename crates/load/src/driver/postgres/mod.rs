//! PostgreSQL over its own protocol, version 3.
//!
//! An [`Opening`](opening::Opening) takes a connection through encryption, `handshake` and
//! `preparation`, message by message (`wire`). Then `reply` skims the replies, on the timed path.
//! `handshake`, `preparation` and `reply` use no socket, so a fuzzer can drive them.

mod command_tag;
mod error;
pub mod handshake;
mod host;
mod opening;
mod own;
mod plan;
mod preparation;
pub mod reply;
mod session;
mod statement;
pub mod wire;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use session::PostgresSession;

use host::Host;
use plan::Plan;

use super::admin::SessionAdmin;
use super::{Admin, Dialect, Driver, Fault, Protocol, Statement};
use crate::target::{Server, TargetError};

/// One PostgreSQL database and the account that is used there.
#[derive(Debug)]
pub struct PostgresDriver {
    host: Arc<Host>,
    /// The plan of the latest catalogue: the next connection prepares the same one.
    plan: Mutex<Option<Arc<Plan>>>,
}

impl PostgresDriver {
    /// Checks the target; does not connect.
    pub fn new(server: Server) -> Result<Self, TargetError> {
        Ok(Self {
            host: Arc::new(Host::new(server)?),
            plan: Mutex::default(),
        })
    }

    fn plan(&self, statements: &[Statement], protocol: Protocol) -> Result<Arc<Plan>, Fault> {
        let mut last = self.plan.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some(plan) if plan.is_for(statements, protocol) => Ok(Arc::clone(plan)),
            _ => {
                let plan = Arc::new(Plan::new(statements, protocol)?);
                *last = Some(Arc::clone(&plan));
                Ok(plan)
            }
        }
    }
}

impl Driver for PostgresDriver {
    type Session = PostgresSession;

    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn open(&self, statements: &[Statement], protocol: Protocol) -> Result<Self::Session, Fault> {
        let plan = self.plan(statements, protocol)?;
        PostgresSession::open(Arc::clone(&self.host), plan)
    }

    fn guard(&self) -> Option<&'static [u8]> {
        const ASKED: &[u8] =
            b"SELECT 1 WHERE current_setting('default_transaction_read_only') = 'on' \
            AND current_setting('transaction_read_only') = 'on'";
        self.host.login.read_only.then_some(ASKED)
    }

    fn statement_limit(&self) -> Option<Duration> {
        self.host.statement_limit
    }

    fn admin(&self) -> Result<Box<dyn Admin>, Fault> {
        let open = || self.open(&[], Protocol::Text);
        Ok(Box::new(SessionAdmin::log_in(
            open,
            self.host.statement_limit,
        )?))
    }
}
