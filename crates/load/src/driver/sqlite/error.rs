//! SQLite's result codes under the names that its manual gives them.

use std::os::raw::c_int;

use rusqlite::ffi;

use crate::driver::{Fault, ServerError};

/// Extended codes keep the primary code in their lowest byte
/// (SQLite manual, "Result and Error Codes").
const PRIMARY_CODE_MASK: c_int = 0xff;

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Server(server_error(error))
    }
}

/// The error with its primary code's name; the message gives an extended code.
pub(super) fn server_error(error: rusqlite::Error) -> ServerError {
    let (code, message) = match error {
        rusqlite::Error::SqliteFailure(error, message) => (
            error.extended_code,
            message.unwrap_or_else(|| ffi::code_to_str(error.extended_code).to_owned()),
        ),
        rusqlite::Error::SqlInputError {
            error, msg, sql, ..
        } => (error.extended_code, format!("{msg} in `{sql}`")),
        // The binding's own checks: a wrong number of arguments, text that is not UTF-8.
        other => (ffi::SQLITE_MISUSE, other.to_string()),
    };
    let primary = code & PRIMARY_CODE_MASK;
    let message = if code == primary {
        message
    } else {
        format!("{message} (extended code {code})")
    };
    ServerError {
        code: name(primary),
        sql_state: None,
        message,
        transient: matches!(primary, ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED),
    }
}

/// In the order of their numbers, from 1.
const NAMES: &str = "ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL \
    CANTOPEN PROTOCOL EMPTY SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB";

fn name(primary: c_int) -> String {
    let place = usize::try_from(primary - ffi::SQLITE_ERROR).ok();
    let name = place.and_then(|place| NAMES.split(' ').nth(place));
    format!("SQLITE_{}", name.unwrap_or("ERROR"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_has_its_name() {
        for (code, known) in [
            (ffi::SQLITE_ERROR, "SQLITE_ERROR"),
            (ffi::SQLITE_BUSY, "SQLITE_BUSY"),
            (ffi::SQLITE_INTERRUPT, "SQLITE_INTERRUPT"),
            (ffi::SQLITE_FULL, "SQLITE_FULL"),
            (ffi::SQLITE_CONSTRAINT, "SQLITE_CONSTRAINT"),
            (ffi::SQLITE_NOTADB, "SQLITE_NOTADB"),
            (ffi::SQLITE_ROW, "SQLITE_ERROR"),
        ] {
            assert_eq!(name(code), known);
        }
    }
}
