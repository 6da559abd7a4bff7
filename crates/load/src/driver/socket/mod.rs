//! Connections to servers: Unix or TCP, plain or encrypted; never blocking on the timed path.
//!
//! A [`Route`] leads to one server and opens [`Stream`]s, which never block. [`Tls`] holds the
//! URL's options for encryption; a protocol decides when to encrypt ([`Stream::encrypt`]).

mod channel;
mod options;
mod route;
mod stream;
#[cfg(test)]
mod tests;
mod tls;
mod trust;

use std::time::Duration;

pub(crate) use options::Vocabulary;
pub(crate) use route::{Route, resolve};
pub(crate) use stream::Stream;
pub(crate) use tls::{Tls, TlsFailure};

/// Time limit for connecting and logging in together. A busy server with thousands of new
/// connections needs seconds; one that takes longer than this is stuck, or never stops sending.
pub(crate) const LOGIN_LIMIT: Duration = Duration::from_secs(10);
