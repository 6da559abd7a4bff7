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
        code: name(primary).into(),
        sql_state: None,
        message,
        transient: matches!(primary, ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED),
    }
}

fn name(primary: c_int) -> &'static str {
    match primary {
        ffi::SQLITE_INTERNAL => "SQLITE_INTERNAL",
        ffi::SQLITE_PERM => "SQLITE_PERM",
        ffi::SQLITE_ABORT => "SQLITE_ABORT",
        ffi::SQLITE_BUSY => "SQLITE_BUSY",
        ffi::SQLITE_LOCKED => "SQLITE_LOCKED",
        ffi::SQLITE_NOMEM => "SQLITE_NOMEM",
        ffi::SQLITE_READONLY => "SQLITE_READONLY",
        ffi::SQLITE_INTERRUPT => "SQLITE_INTERRUPT",
        ffi::SQLITE_IOERR => "SQLITE_IOERR",
        ffi::SQLITE_CORRUPT => "SQLITE_CORRUPT",
        ffi::SQLITE_NOTFOUND => "SQLITE_NOTFOUND",
        ffi::SQLITE_FULL => "SQLITE_FULL",
        ffi::SQLITE_CANTOPEN => "SQLITE_CANTOPEN",
        ffi::SQLITE_PROTOCOL => "SQLITE_PROTOCOL",
        ffi::SQLITE_SCHEMA => "SQLITE_SCHEMA",
        ffi::SQLITE_TOOBIG => "SQLITE_TOOBIG",
        ffi::SQLITE_CONSTRAINT => "SQLITE_CONSTRAINT",
        ffi::SQLITE_MISMATCH => "SQLITE_MISMATCH",
        ffi::SQLITE_MISUSE => "SQLITE_MISUSE",
        ffi::SQLITE_NOLFS => "SQLITE_NOLFS",
        ffi::SQLITE_AUTH => "SQLITE_AUTH",
        ffi::SQLITE_RANGE => "SQLITE_RANGE",
        ffi::SQLITE_NOTADB => "SQLITE_NOTADB",
        _ => "SQLITE_ERROR",
    }
}
