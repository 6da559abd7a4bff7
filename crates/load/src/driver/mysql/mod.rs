//! The MySQL family: MySQL 5.1 to 9, MariaDB, Percona Server; text and prepared protocol.
//!
//! `wire` carries whole packets while blocking (log-in, preparation, administration); `reply`
//! skims replies on the timed path. `handshake`, `preparation` and `reply` know no socket: an
//! event loop or a fuzzer can drive them as well.

mod admin;
mod error;
pub mod handshake;
mod insert;
mod literal;
mod local_data;
pub mod preparation;
pub mod reply;
mod session;
mod statement;
#[cfg(test)]
mod tests;
pub mod wire;

use std::sync::{Arc, Mutex, PoisonError};

pub use session::MysqlSession;

use handshake::{Handshake, Login, Step};
use statement::{Form, forms};
use wire::Wire;

use super::socket::{Socket, Tls, Vocabulary};
use super::{Admin, Dialect, Driver, Fault, Protocol, Statement};
use crate::target::{Endpoint, Server, TargetError};

/// The parameters of the URL that are read here (`socket` was, for all servers).
const OPTIONS: [&str; 2] = Vocabulary::MYSQL.names();

/// One database of a MySQL server and the account that is used there.
#[derive(Debug)]
pub struct MysqlDriver {
    endpoint: Endpoint,
    login: Login,
    /// `None`: connections are not encrypted.
    tls: Option<Tls>,
    /// The catalogue as the last connection had it: the next one, whose catalogue is the same,
    /// shares it. Ten thousand connections would hold ten thousand copies otherwise.
    shared: Mutex<Arc<[Form]>>,
}

impl MysqlDriver {
    /// Checks the target; does not connect.
    pub fn new(server: Server) -> Result<Self, TargetError> {
        server.refuse_options_except(&OPTIONS)?;
        let tls = Tls::from_options(&server, &Vocabulary::MYSQL)?;
        let login = Login {
            encrypt: tls.is_some(),
            private_channel: matches!(server.endpoint, Endpoint::Unix(_)),
            user: server.user,
            password: server.password.unwrap_or_default(),
            database: server.database,
        };
        Ok(Self {
            endpoint: server.endpoint,
            login,
            tls,
            shared: Mutex::default(),
        })
    }

    /// Connects and logs in; returns the connection and the server's version.
    fn log_in(&self, mut handshake: Handshake) -> Result<(Wire<Socket>, String), Fault> {
        let socket = Socket::connect(&self.endpoint)
            .map_err(|error| Fault::unreachable(&self.endpoint, &error))?;
        let mut wire = Wire::new(socket);
        loop {
            let packet = wire.receive()?;
            match handshake.on_packet(&self.login, packet)? {
                Step::Wait => {}
                Step::Send(packet) => wire.send(&packet)?,
                Step::Encrypt { request, answer } => {
                    wire.send(&request)?;
                    if let Some(tls) = &self.tls {
                        wire.get_mut().encrypt(tls)?;
                    }
                    wire.send(&answer)?;
                }
                Step::Done { server_version } => return Ok((wire, server_version)),
            }
        }
    }

    fn share(&self, forms: Vec<Form>) -> Arc<[Form]> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if **shared != *forms {
            *shared = forms.into();
        }
        Arc::clone(&shared)
    }
}

impl Driver for MysqlDriver {
    type Session = MysqlSession;

    fn dialect(&self) -> Dialect {
        Dialect::Mysql
    }

    fn open(&self, statements: &[Statement], protocol: Protocol) -> Result<MysqlSession, Fault> {
        let (mut wire, _) = self.log_in(Handshake::default())?;
        wire.get_mut().renew_limit();
        let forms = forms(statements, protocol);
        let handles = preparation::prepare(&mut wire, statements, &forms)?;
        let stream = wire.into_inner().into_stream();
        Ok(MysqlSession::new(stream, self.share(forms), handles))
    }

    fn admin(&self) -> Result<Box<dyn Admin>, Fault> {
        let (wire, server_version) = self.log_in(Handshake::offering_local_data())?;
        Ok(Box::new(admin::MysqlAdmin::new(wire, server_version)))
    }
}
