//! The MySQL family: MySQL 5.1 to 9, MariaDB, Percona Server; text and prepared protocol.
//!
//! `opening` prepares a fresh connection for `session`: `handshake` logs in, `preparation` prepares
//! the catalogue, on packets that `inbound` finds. `reply` skims replies on the timed path.
//! `handshake`, `preparation` and `reply` use no socket, so an event loop or a fuzzer can drive them.

mod error;
pub mod handshake;
mod inbound;
mod insert;
mod opening;
mod outbound;
pub mod preparation;
pub mod reply;
mod session;
mod statement;
#[cfg(test)]
mod tests;
mod values;
mod wire;

use std::sync::Arc;
use std::time::Duration;

pub use session::MysqlSession;
pub(crate) use values::binary_value;
pub(crate) use wire::{HEADER_BYTES, LONGEST_CONTENT, parse_header};

use handshake::Handshake;
use opening::Opening;
use statement::{Form, forms};

use super::account::Account;
use super::admin::SessionAdmin;
use super::last_made::LastMade;
use super::socket::Vocabulary;
use super::{Admin, Dialect, Driver, Fault, Protocol, Statement};
use crate::target::{Server, TargetError};

/// One database of a MySQL server and the account that is used there.
#[derive(Debug)]
pub struct MysqlDriver {
    account: Arc<Account>,
    forms: LastMade<[Form]>,
}

impl MysqlDriver {
    /// Checks the target; does not connect.
    pub fn new(server: Server) -> Result<Self, TargetError> {
        Ok(Self {
            account: Account::new(server, &Vocabulary::MYSQL, &[])?.into(),
            forms: LastMade::default(),
        })
    }

    fn begin(&self, handshake: Handshake, forms: Arc<[Form]>) -> Result<MysqlSession, Fault> {
        let stream = self.account.connect()?;
        let opening = Opening::new(Arc::clone(&self.account), handshake, Arc::clone(&forms));
        Ok(MysqlSession::new(stream, forms, Some(opening)))
    }
}

impl Driver for MysqlDriver {
    type Session = MysqlSession;

    fn dialect(&self) -> Dialect {
        Dialect::Mysql
    }

    fn open(&self, statements: &[Statement], protocol: Protocol) -> Result<MysqlSession, Fault> {
        let make = || Ok::<_, Fault>(forms(statements, protocol).into());
        let forms = self.forms.of(statements, protocol, make)?;
        self.begin(Handshake::default(), forms)
    }

    fn guard(&self) -> Option<&'static [u8]> {
        const ASKED: &[u8] = b"SHOW SESSION VARIABLES WHERE Variable_name IN \
            ('transaction_read_only', 'tx_read_only') AND Value = 'ON'";
        self.account.login.read_only.then_some(ASKED)
    }

    fn statement_limit(&self) -> Option<Duration> {
        self.account.statement_limit
    }

    fn admin(&self) -> Result<Box<dyn Admin>, Fault> {
        let open = || self.begin(Handshake::offering_local_data(), Arc::default());
        SessionAdmin::log_in(open, self.account.statement_limit)
    }
}
