//! Connections to servers: Unix or TCP, plain or encrypted; never blocking on the timed path.
//!
//! A [`Route`] leads to one server and opens [`Stream`]s, which never block. [`Tls`] is how the
//! URL wants them encrypted; a protocol decides when ([`Stream::encrypt`]). A [`Socket`] waits
//! where a `Stream` would block: for administration, which is not timed.

mod blocking;
mod channel;
mod options;
mod route;
mod stream;
#[cfg(test)]
mod tests;
mod tls;
mod trust;

use std::time::Duration;

pub(crate) use blocking::{Socket, too_late};
pub(crate) use options::Vocabulary;
pub(crate) use route::Route;
pub(crate) use stream::Stream;
pub(crate) use tls::{Tls, TlsFailure};

/// How long connecting and logging in may take together. A busy server with thousands of new
/// connections needs seconds; one that has not come to an end by then is stuck, or talks without
/// end.
pub(crate) const LOGIN_LIMIT: Duration = Duration::from_secs(10);
