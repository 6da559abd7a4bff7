//! Why the program could not go on, as it says it to a person and to a program that reads.

use crate::driver::Fault;

/// Why a run could not go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The server's own code, or `lost`, `protocol`, `no-reply`, `errors`, `internal`; or a script's own.
    pub code: String,
    pub message: String,
}

impl Failure {
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            message: message.into(),
        }
    }

    /// The program or the machine failed, not the database.
    pub fn internal(error: impl std::fmt::Display) -> Self {
        Self::new("internal", error.to_string())
    }

    /// An action, and its result.
    pub fn from_fault(doing: &str, fault: &Fault) -> Self {
        Self::new(fault.code(), format!("{doing}: {fault}"))
    }

    /// No connection was made, or none that is of use.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the shape that map_err wants"
    )]
    pub(crate) fn connecting(fault: Fault) -> Self {
        Self::from_fault("connecting", &fault)
    }
}
