//! How long a run waits for a server that is silent or gone.

use std::time::Duration;

/// Limits beyond which the server is not waited for any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// For the replies to statements in progress at the end of the measured phase.
    pub replies: Duration,
    /// For the first connection again, when no client of the whole run has one.
    pub connections: Duration,
}

impl Patience {
    /// The defaults, with the limit for statements that the user gives.
    pub fn with_statement_limit(limit: Option<Duration>) -> Self {
        let patience = Self::default();
        Self {
            replies: limit.unwrap_or(patience.replies),
            ..patience
        }
    }
}

impl Default for Patience {
    /// Replies: longer than the lock wait time-out that MySQL sets by default (50 s). Connections:
    /// time for a server to restart, without a long wait for a server that is gone for good.
    fn default() -> Self {
        Self {
            replies: Duration::from_secs(60),
            connections: Duration::from_secs(10),
        }
    }
}
