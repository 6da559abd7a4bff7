//! Whole messages, taken out of what has come.

use bytes::BytesMut;
use postgres_protocol::message::backend::{Header, Message};

use crate::driver::Fault;

/// The longest message that is held whole in memory. Errors, tags and parameters are short;
/// 1 MiB leaves room for an error that quotes a long statement, and stops a peer that is not
/// PostgreSQL (its first bytes read as a length) from making us wait for gigabytes.
pub(super) const MAX_HELD_BYTES: usize = 1 << 20;

/// Takes the first message out of `inbound`, or `None` while it is incomplete.
pub fn next_message(inbound: &mut BytesMut) -> Result<Option<Message>, Fault> {
    let Some(header) = Header::parse(inbound).map_err(not_postgres)? else {
        return Ok(None);
    };
    check_length(header, MAX_HELD_BYTES)?;
    if inbound.len() < message_bytes(header) {
        // Not asked of the parser, which would make room for all that the length claims.
        return Ok(None);
    }
    Message::parse(inbound).map_err(not_postgres)
}

/// The length of a whole message: it counts itself, but not the tag before it.
fn message_bytes(header: Header) -> usize {
    usize::try_from(header.len()).map_or(usize::MAX, |length| length.saturating_add(1))
}

/// Refuses a header with a length beyond `limit_bytes`.
pub(super) fn check_length(header: Header, limit_bytes: usize) -> Result<(), Fault> {
    let length = usize::try_from(header.len()).unwrap_or(usize::MAX);
    if length > limit_bytes {
        return Err(Fault::Protocol(format!(
            "a message of type {:?} with {length} bytes; at most {limit_bytes} are plausible; \
             is this a PostgreSQL server?",
            char::from(header.tag()),
        )));
    }
    Ok(())
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the shape that map_err wants"
)]
pub(super) fn not_postgres(error: std::io::Error) -> Fault {
    Fault::Protocol(format!("{error}; is this a PostgreSQL server?"))
}
