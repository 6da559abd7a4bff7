//! The account in `PostgreSQL`'s own words: its socket's file, and what TLS is for.

use std::path::{Path, PathBuf};

use crate::driver::account::Account;
use crate::driver::socket::Vocabulary;
use crate::target::{Endpoint, Server, TargetError};

/// The URL parameter that picks among the sockets of one directory.
const PORT: &str = "port";
const DEFAULT_PORT: u16 = 5432;

/// Checks the target; does not connect.
pub(super) fn account(mut server: Server) -> Result<Account, TargetError> {
    if let Endpoint::Unix(path) = &server.endpoint {
        server.endpoint = Endpoint::Unix(socket_file(path, port(&server)?));
    } else if let Some(value) = server.options.get(PORT) {
        let reason = "is for a socket's directory; write HOST:PORT for TCP";
        return Err(TargetError::option(PORT, value, reason));
    }
    let [name, _] = Vocabulary::POSTGRES.names();
    let value = server.options.get(name).cloned().unwrap_or_default();
    let account = Account::new(server, &Vocabulary::POSTGRES, &[PORT])?;
    if account.login.is_local && account.tls.is_some() {
        let reason = "is for TCP: PostgreSQL encrypts nothing over a Unix socket; \
            leave it out or name the host alone";
        return Err(TargetError::option(name, &value, reason));
    }
    Ok(account)
}

fn port(server: &Server) -> Result<u16, TargetError> {
    let Some(value) = server.options.get(PORT) else {
        return Ok(DEFAULT_PORT);
    };
    match value.parse() {
        Ok(port) if port > 0 => Ok(port),
        _ => {
            let reason = "is not a number from 1 to 65535";
            Err(TargetError::option(PORT, value, reason))
        }
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
