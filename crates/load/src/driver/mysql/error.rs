//! Errors from the server.

use std::io::{self, ErrorKind};

use crate::driver::{Fault, ServerError};

use super::wire::protocol;

/// Deadlock, lock wait time-out, record changed since it was read: sysbench runs a transaction
/// again after these, and so do we.
const TRANSIENT: [u16; 3] = [1213, 1205, 1020];

/// Reads an error packet, its first byte 0xFF included.
pub(super) fn server_error(packet: &[u8]) -> Fault {
    let Some((code, rest)) = packet
        .get(1..)
        .and_then(|rest| rest.split_first_chunk::<2>())
    else {
        return protocol("an error packet without a code");
    };
    let code = u16::from_le_bytes(*code);
    // Servers put '#' and five characters of SQL state before the message, unless they have to
    // refuse a client that they know nothing about yet.
    let (sql_state, message) = match rest.split_first_chunk::<6>() {
        Some(([b'#', state @ ..], message)) => {
            (Some(String::from_utf8_lossy(state).into_owned()), message)
        }
        _ => (None, rest),
    };
    Fault::Server(ServerError {
        code: code.to_string(),
        sql_state,
        message: String::from_utf8_lossy(message).into_owned(),
        transient: TRANSIENT.contains(&code),
    })
}

/// The server's message before it closed the connection.
pub(super) fn parting(words: &Fault) -> Fault {
    let kind = ErrorKind::ConnectionAborted;
    Fault::Lost(io::Error::new(kind, words.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(packet: &[u8]) -> ServerError {
        match server_error(packet) {
            Fault::Server(error) => error,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn with_and_without_sql_state() {
        let deadlock = refused(b"\xFF\xBD\x04#40001Deadlock found");
        assert_eq!(
            (deadlock.code.as_str(), deadlock.message.as_str()),
            ("1213", "Deadlock found")
        );
        assert_eq!(deadlock.sql_state.as_deref(), Some("40001"));
        assert!(deadlock.transient);
        let full = refused(b"\xFF\x10\x04Too many connections");
        assert_eq!(
            (full.code.as_str(), full.message.as_str()),
            ("1040", "Too many connections")
        );
        assert_eq!(full.sql_state, None);
        assert!(!full.transient);
    }

    #[test]
    fn truncated() {
        assert!(matches!(server_error(b"\xFF\x01"), Fault::Protocol(_)));
        assert_eq!(refused(b"\xFF\x01\x04").message, "");
    }
}
