//! Errors from PostgreSQL: the fields of an `ErrorResponse`, read once.

use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::{ErrorFields, ErrorResponseBody};

use crate::driver::{Fault, ServerError};

/// `invalid_authorization_specification`.
const INVALID_AUTHORIZATION: &str = "28000";

/// The fields of one `ErrorResponse` that matter here.
#[derive(Debug, Default)]
pub(super) struct Refusal {
    severity: String,
    code: String,
    message: String,
    detail: String,
    /// The function in the server's source that refused: unlike the message, never translated.
    routine: String,
}

impl Refusal {
    /// Reads the fields; a malformed message is a protocol fault.
    pub(super) fn read(body: &ErrorResponseBody) -> Result<Self, Fault> {
        let mut refusal = Self::default();
        refusal
            .fill(body.fields())
            .map_err(|error| Fault::Protocol(format!("a malformed ErrorResponse: {error}")))?;
        Ok(refusal)
    }

    fn fill(&mut self, mut fields: ErrorFields<'_>) -> std::io::Result<()> {
        while let Some(field) = fields.next()? {
            let value = String::from_utf8_lossy(field.value_bytes()).into_owned();
            match field.type_() {
                // 'V' is the severity that is never translated (9.6 and later) and comes after 'S'.
                b'S' | b'V' => self.severity = value,
                b'C' => self.code = value,
                b'M' => self.message = value,
                b'D' => self.detail = value,
                // Which of the rows was refused.
                b'W' if value.starts_with("COPY ") => {
                    if !self.detail.is_empty() {
                        self.detail += "; ";
                    }
                    self.detail += &value;
                }
                b'R' => self.routine = value,
                _ => {}
            }
        }
        Ok(())
    }

    /// The server closes the connection after such a message.
    pub(super) fn is_fatal(&self) -> bool {
        matches!(self.severity.as_str(), "FATAL" | "PANIC")
    }

    /// No line of the server's `pg_hba.conf` lets this connection in.
    pub(super) fn comes_from_host_rules(&self) -> bool {
        self.code == INVALID_AUTHORIZATION && self.routine == "ClientAuthentication"
    }

    /// The refusal as the answer to a statement or a log-in.
    pub(super) fn into_server_error(self) -> ServerError {
        let message = if self.detail.is_empty() {
            self.message
        } else {
            format!("{}; {}", self.message, self.detail)
        };
        ServerError {
            transient: is_transient(&self.code),
            code: self.code,
            sql_state: None,
            message,
        }
    }

    /// The refusal as a fault of an established connection: a fatal one ends it.
    pub(super) fn into_fault(self) -> Fault {
        if self.is_fatal() {
            let error = self.into_server_error();
            return Fault::Lost(std::io::Error::other(error.to_string()));
        }
        Fault::Server(self.into_server_error())
    }
}

/// Whether running the transaction again may succeed: `serialization_failure`, `deadlock_detected`,
/// `lock_not_available` (PostgreSQL manual, appendix A).
fn is_transient(sqlstate: &str) -> bool {
    matches!(sqlstate, "40001" | "40P01" | "55P03")
}
