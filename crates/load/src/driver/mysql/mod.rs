//! The MySQL family: MySQL 5.1 to 9, MariaDB, Percona Server; text and prepared protocol.
//!
//! `opening` prepares a fresh connection for `session`: `handshake` logs in, `preparation` prepares
//! the catalogue, on packets that `inbound` finds. `reply` skims replies on the timed path.
//! `handshake`, `preparation` and `reply` use no socket, so an event loop or a fuzzer can drive them.

mod catalogue;
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

use std::io;
use std::sync::Arc;
use std::time::Duration;

pub use session::MysqlSession;

use catalogue::SharedCatalogue;
use handshake::{Handshake, Login};
use opening::Opening;
use statement::Form;

use super::admin::SessionAdmin;
use super::socket::{Route, Stream, Tls, Vocabulary};
use super::{Admin, Dialect, Driver, Fault, Protocol, Statement};
use crate::target::{Endpoint, READ_ONLY, Server, TargetError};

/// The parameters of the URL that are read here (`socket` was, for all servers).
const OPTIONS: [&str; 3] = {
    let [mode, authority] = Vocabulary::MYSQL.names();
    [mode, authority, READ_ONLY]
};

/// One database of a MySQL server and the account that is used there.
#[derive(Debug)]
pub struct MysqlDriver {
    account: Arc<Account>,
    catalogue: SharedCatalogue,
}

/// The address and the account.
#[derive(Debug)]
struct Account {
    endpoint: Endpoint,
    route: Route,
    login: Login,
    /// `None`: connections are not encrypted.
    tls: Option<Tls>,
    /// Sessions are opened with read-only transactions.
    read_only: bool,
    statement_limit: Option<Duration>,
}

impl MysqlDriver {
    /// Checks the target; does not connect.
    pub fn new(server: Server) -> Result<Self, TargetError> {
        server.refuse_options_except(&OPTIONS)?;
        let tls = Tls::from_options(&server, &Vocabulary::MYSQL)?;
        let account = Account {
            read_only: server.read_only()?,
            login: Login {
                private_channel: matches!(server.endpoint, Endpoint::Unix(_)),
                encrypt: tls.is_some(),
                verify: tls.as_ref().is_some_and(Tls::verifies),
                user: server.user,
                password: server.password.unwrap_or_default(),
                database: server.database,
            },
            tls,
            statement_limit: server.statement_limit,
            route: Route::new(server.endpoint.clone()),
            endpoint: server.endpoint,
        };
        Ok(Self {
            account: account.into(),
            catalogue: SharedCatalogue::default(),
        })
    }

    fn begin(&self, handshake: Handshake, forms: Arc<[Form]>) -> Result<MysqlSession, Fault> {
        let stream = self.account.connect()?;
        let opening = Opening::new(Arc::clone(&self.account), handshake, Arc::clone(&forms));
        Ok(MysqlSession::new(stream, forms, opening))
    }
}

impl Account {
    fn connect(&self) -> Result<Stream, Fault> {
        self.route.open().map_err(|error| self.unreachable(&error))
    }

    fn unreachable(&self, error: &io::Error) -> Fault {
        Fault::unreachable(&self.endpoint, error)
    }
}

impl Driver for MysqlDriver {
    type Session = MysqlSession;

    fn dialect(&self) -> Dialect {
        Dialect::Mysql
    }

    fn open(&self, statements: &[Statement], protocol: Protocol) -> Result<MysqlSession, Fault> {
        let forms = self.catalogue.forms(statements, protocol);
        self.begin(Handshake::default(), forms)
    }

    fn guard(&self) -> Option<&'static [u8]> {
        const ASKED: &[u8] = b"SHOW SESSION VARIABLES WHERE Variable_name IN \
            ('transaction_read_only', 'tx_read_only') AND Value = 'ON'";
        self.account.read_only.then_some(ASKED)
    }

    fn statement_limit(&self) -> Option<Duration> {
        self.account.statement_limit
    }

    fn admin(&self) -> Result<Box<dyn Admin>, Fault> {
        let open = || self.begin(Handshake::offering_local_data(), Arc::default());
        Ok(Box::new(SessionAdmin::log_in(
            open,
            self.account.statement_limit,
        )?))
    }
}
