//! PostgreSQL over its own protocol, version 3.
//!
//! `socket` bytes become messages in `wire` (log-in, preparation, administration: whole
//! messages, blocking) or are skimmed in `reply` (the timed path). `handshake`, `preparation`
//! and `reply` know no socket: an event loop or a fuzzer can drive them as well.

mod admin;
mod command_tag;
mod error;
pub mod handshake;
mod preparation;
pub mod reply;
mod session;
mod statement;
pub mod wire;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

pub use session::PostgresSession;

use handshake::{Handshake, Login, Step};
use preparation::Preparation;
use statement::Execution;
use wire::Wire;

use super::{Admin, Dialect, Driver, Fault, Protocol, Statement};
use crate::target::{Endpoint, Server, TargetError};

/// The URL parameters that are read here: `port` picks among the sockets of one directory.
const OPTIONS: [&str; 1] = ["port"];
const DEFAULT_PORT: u16 = 5432;

/// One PostgreSQL database and the account that is used there.
#[derive(Debug)]
pub struct PostgresDriver {
    endpoint: Endpoint,
    login: Login,
    /// The catalogue as the last connection prepared it: the next one, which comes to the same,
    /// shares it. Ten thousand connections would hold ten thousand copies otherwise.
    prepared: Mutex<Arc<[Execution]>>,
}

impl PostgresDriver {
    /// Checks the target; does not connect.
    pub fn new(server: Server) -> Result<Self, TargetError> {
        server.refuse_options_except(&OPTIONS)?;
        let endpoint = match server.endpoint {
            Endpoint::Unix(path) => {
                let port = match server.options.get("port") {
                    None => DEFAULT_PORT,
                    Some(text) => text.parse().map_err(|_| TargetError::Malformed {
                        url: format!("port={text}"),
                        reason: "a port is a number from 1 to 65535".into(),
                    })?,
                };
                Endpoint::Unix(socket_file(&path, port))
            }
            tcp @ Endpoint::Tcp { .. } => tcp,
        };
        let login = Login {
            private_channel: matches!(endpoint, Endpoint::Unix(_)),
            user: server.user,
            password: server.password,
            database: server.database,
        };
        Ok(Self {
            endpoint,
            login,
            prepared: Mutex::default(),
        })
    }

    /// Connects and logs in.
    fn log_in(&self) -> Result<Wire, Fault> {
        let mut wire = Wire::connect(&self.endpoint)
            .map_err(|error| Fault::unreachable(&self.endpoint, &error))?;
        let mut handshake = Handshake::begin(&self.login, &mut wire.out)?;
        loop {
            wire.send()?;
            let message = wire.receive()?;
            if handshake.on_message(&self.login, message, &mut wire.out)? == Step::Ready {
                return Ok(wire);
            }
        }
    }

    fn share(&self, executions: Vec<Execution>) -> Arc<[Execution]> {
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if **prepared != *executions {
            *prepared = executions.into();
        }
        Arc::clone(&prepared)
    }
}

impl Driver for PostgresDriver {
    type Session = PostgresSession;

    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn open(&self, statements: &[Statement], protocol: Protocol) -> Result<Self::Session, Fault> {
        let mut wire = self.log_in()?;
        let mut preparation = Preparation::new(statements, protocol);
        while preparation.next_batch(&mut wire.out)? {
            wire.renew_limit();
            wire.send()?;
            while !preparation.on_message(&wire.receive()?)? {}
        }
        let (socket, early) = wire.into_parts();
        let executions = self.share(preparation.into_executions());
        PostgresSession::new(socket.into_stream(), executions, &early)
    }

    fn admin(&self) -> Result<Box<dyn Admin>, Fault> {
        let mut wire = self.log_in()?;
        wire.lift_limit();
        Ok(Box::new(admin::PostgresAdmin::new(wire)))
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
