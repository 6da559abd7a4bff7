//! A server, and how one logs in there: what a URL says of it.

use std::io;
use std::time::Duration;

use super::Fault;
use super::socket::{Route, Stream, Tls, Vocabulary};
use crate::target::{Endpoint, Password, READ_ONLY, Server, TargetError};

#[derive(Debug)]
pub(super) struct Account {
    pub(super) endpoint: Endpoint,
    pub(super) route: Route,
    pub(super) login: Login,
    /// `None`: connections are not encrypted.
    pub(super) tls: Option<Tls>,
    pub(super) statement_limit: Option<Duration>,
}

/// Who logs in, and over what.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools)]
pub struct Login {
    pub user: String,
    pub password: Password,
    pub database: String,
    /// No one else can listen (a Unix socket): a password may travel in clear.
    pub is_local: bool,
    /// The connection must be encrypted before anything of the account is sent.
    pub encrypt: bool,
    /// The server's certificate is checked too, so that nobody else can be the other side.
    pub verify: bool,
    /// Sessions are opened with read-only transactions.
    pub read_only: bool,
}

impl Account {
    /// Checks the target, which may have the options of all servers and `more`; does not connect.
    pub(super) fn new(
        server: Server,
        vocabulary: &Vocabulary,
        more: &[&'static str],
    ) -> Result<Self, TargetError> {
        let known = [&vocabulary.names()[..], more, &[READ_ONLY]].concat();
        server.refuse_options_except(&known)?;
        let tls = Tls::from_options(&server, vocabulary)?;
        Ok(Self {
            login: Login {
                is_local: matches!(server.endpoint, Endpoint::Unix(_)),
                encrypt: tls.is_some(),
                verify: tls.as_ref().is_some_and(|tls| tls.verifies),
                read_only: server.read_only()?,
                user: server.user,
                password: server.password,
                database: server.database,
            },
            tls,
            statement_limit: server.statement_limit,
            route: Route::new(server.endpoint.clone()),
            endpoint: server.endpoint,
        })
    }

    pub(super) fn connect(&self) -> Result<Stream, Fault> {
        self.route.open().map_err(|error| self.broken(error, false))
    }

    /// Why a log-in has broken off, in which the server was `reached` or not.
    pub(super) fn broken(&self, error: io::Error, reached: bool) -> Fault {
        if reached || error.kind() == io::ErrorKind::UnexpectedEof {
            return error.into();
        }
        Fault::unreachable(&self.endpoint, &error)
    }
}
