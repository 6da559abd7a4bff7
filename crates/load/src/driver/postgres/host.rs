//! The address of a driver's connections, and the account.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::handshake::Login;
use crate::driver::Fault;
use crate::driver::socket::{Route, Stream, Tls, Vocabulary};
use crate::target::{Endpoint, READ_ONLY, Server, TargetError};

/// The URL parameter that picks among the sockets of one directory.
const PORT: &str = "port";
const DEFAULT_PORT: u16 = 5432;

/// Shared by all connections of one driver.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) endpoint: Endpoint,
    route: Route,
    pub(super) login: Login,
    /// `None`: connections are not encrypted.
    pub(super) tls: Option<Tls>,
    pub(super) statement_limit: Option<Duration>,
}

impl Host {
    /// Checks the target; does not connect.
    pub(super) fn new(mut server: Server) -> Result<Self, TargetError> {
        let [mode, authority] = Vocabulary::POSTGRES.names();
        server.refuse_options_except(&[PORT, mode, authority, READ_ONLY])?;
        let tls = Tls::from_options(&server, &Vocabulary::POSTGRES)?;
        if let Endpoint::Unix(path) = &server.endpoint {
            if tls.is_some() {
                return Err(TargetError::Option {
                    name: mode,
                    value: server.options[mode].clone(),
                    reason: "is for TCP: PostgreSQL encrypts nothing over a Unix socket; \
                             leave it out or name the host alone"
                        .into(),
                });
            }
            server.endpoint = Endpoint::Unix(socket_file(path, port(&server)?));
        } else if let Some(value) = server.options.get(PORT) {
            return Err(TargetError::Option {
                name: PORT,
                value: value.clone(),
                reason: "is for a socket's directory; write HOST:PORT for TCP".into(),
            });
        }
        let login = Login {
            read_only: server.read_only()?,
            private_channel: tls.is_some() || matches!(server.endpoint, Endpoint::Unix(_)),
            encrypted: tls.is_some(),
            user: server.user,
            password: server.password,
            database: server.database,
        };
        Ok(Self {
            route: Route::new(server.endpoint.clone()),
            endpoint: server.endpoint,
            login,
            tls,
            statement_limit: server.statement_limit,
        })
    }

    /// Begins to connect.
    pub(super) fn open(&self) -> Result<Stream, Fault> {
        self.route
            .open()
            .map_err(|error| Fault::unreachable(&self.endpoint, &error))
    }
}

fn port(server: &Server) -> Result<u16, TargetError> {
    let Some(value) = server.options.get(PORT) else {
        return Ok(DEFAULT_PORT);
    };
    match value.parse() {
        Ok(port) if port > 0 => Ok(port),
        _ => Err(TargetError::Option {
            name: PORT,
            value: value.clone(),
            reason: "is not a number from 1 to 65535".into(),
        }),
    }
}

/// The socket file: `path` itself, or the server's file in the directory `path`.
fn socket_file(path: &Path, port: u16) -> PathBuf {
    if path.is_dir() {
        path.join(format!(".s.PGSQL.{port}"))
    } else {
        path.to_owned()
    }
}
