//! Reading replies from a stream of bytes: rows are counted and skipped, unless a workload reads
//! them.
//!
//! Bytes come in as the socket gives them. `CommandComplete`, `ErrorResponse` and `ReadyForQuery`
//! carry the result; of all other messages only the length matters, so a large result passes
//! through without being held. An idle connection holds no buffer at all.

use bytes::BytesMut;
use postgres_protocol::message::backend::{
    BIND_COMPLETE_TAG, COMMAND_COMPLETE_TAG, COPY_IN_RESPONSE_TAG, DATA_ROW_TAG,
    EMPTY_QUERY_RESPONSE_TAG, ERROR_RESPONSE_TAG, Header, Message, NO_DATA_TAG,
    NOTICE_RESPONSE_TAG, NOTIFICATION_RESPONSE_TAG, PARAMETER_STATUS_TAG, READY_FOR_QUERY_TAG,
    ROW_DESCRIPTION_TAG,
};

use super::command_tag::{affected_rows, zero_ended};
use super::error::Refusal;
use super::wire::{MAX_HELD_BYTES, check_length, not_postgres};
use crate::driver::admin::Offer;
use crate::driver::rows::{Keep, Rows};
use crate::driver::{Fault, MOST_ANSWER_BYTES, Reply, protocol};

const HEADER_BYTES: usize = 5;

/// The longest message that is skipped: the server builds rows in allocations of less than
/// 1 GiB (`MaxAllocSize` in its source), so that anything longer is nonsense.
const MAX_SKIPPED_BYTES: usize = 1 << 30;

/// The most columns of a result (`MaxTupleAttributeNumber` in the server's source).
const MOST_COLUMNS: usize = 1664;

const NO_ROW: &str = "a row that breaks off, or has more than 1664 columns";

/// The state of one connection's inbound stream.
#[derive(Default)]
pub struct ReplyReader {
    /// The beginning of a message with a missing rest: a header, or a message that is read whole.
    partial: BytesMut,
    /// Bytes of a skipped message's body that are still to come.
    skip_bytes: usize,
    /// A statement is in progress.
    awaited: bool,
    /// The reply to it has ended.
    complete: bool,
    /// The server has said what came of the statement.
    concluded: bool,
    reply: Reply,
    refusal: Option<Refusal>,
    pub(super) offer: Offer,
    /// A message that the server sent between statements: usually that it closes the connection.
    parting: Option<Refusal>,
    /// The values of the reply, if the workload reads them.
    kept: Option<Box<Rows>>,
}

impl ReplyReader {
    /// A statement has been sent: its reply may come.
    #[inline]
    pub fn begin(&mut self) {
        self.awaited = true;
        self.complete = false;
        self.concluded = false;
        self.reply = Reply::default();
        self.refusal = None;
        if let Some(rows) = &mut self.kept {
            rows.begin(0);
        }
    }

    /// Rows are sent, after which the reply goes on.
    pub(super) fn go_on_after_rows(&mut self) -> Result<(), Fault> {
        self.offer.accepted()?;
        self.awaited = true;
        Ok(())
    }

    /// From now on the values of every reply are kept.
    pub(super) fn keep_rows(&mut self, keep: Keep) {
        self.kept = Some(Box::new(Rows::new(keep)));
    }

    /// The values of the last reply.
    pub(super) fn rows(&self) -> Option<&Rows> {
        self.kept.as_deref()
    }

    /// Takes all of `bytes`; true when the reply is complete.
    pub fn feed(&mut self, mut bytes: &[u8]) -> Result<bool, Fault> {
        while !bytes.is_empty() {
            bytes = if self.skip_bytes > 0 {
                self.skip(bytes)
            } else if self.partial.is_empty() {
                self.take_message(bytes)?
            } else {
                self.complete_partial(bytes)?
            };
        }
        Ok(self.complete)
    }

    /// The result of the statement, once `feed` has reported that it is complete.
    #[inline]
    pub fn take(&mut self) -> Result<Reply, Fault> {
        self.awaited = false;
        self.complete = false;
        match self.refusal.take() {
            None => Ok(self.reply),
            Some(refusal) => Err(refusal.into_fault()),
        }
    }

    /// A message that the server sent by itself since the last reply, such as that it shuts down.
    #[inline]
    pub(super) fn take_parting(&mut self) -> Option<Fault> {
        self.parting.take().map(Refusal::into_fault)
    }

    fn skip<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let here = self.skip_bytes.min(bytes.len());
        self.skip_bytes -= here;
        &bytes[here..]
    }

    /// Takes the message at the start of `bytes`, or keeps its beginning.
    #[inline]
    fn take_message<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], Fault> {
        let Some(header) = Header::parse(bytes).map_err(not_postgres)? else {
            self.partial.extend_from_slice(bytes);
            return Ok(&[]);
        };
        let body_bytes = body_bytes(header);
        if self.is_skipped(header)? {
            self.skip_bytes = body_bytes;
            return Ok(self.skip(&bytes[HEADER_BYTES..]));
        }
        let total_bytes = HEADER_BYTES + body_bytes;
        if bytes.len() < total_bytes {
            self.partial.extend_from_slice(bytes);
            return Ok(&[]);
        }
        let (message, rest) = bytes.split_at(total_bytes);
        self.read(header.tag(), message)?;
        Ok(rest)
    }

    /// Continues a message that began in earlier bytes.
    fn complete_partial<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], Fault> {
        let wanted_bytes = match Header::parse(&self.partial).map_err(not_postgres)? {
            None => HEADER_BYTES,
            Some(header) => HEADER_BYTES + body_bytes(header),
        };
        let missing_bytes = (wanted_bytes - self.partial.len()).min(bytes.len());
        let (here, rest) = bytes.split_at(missing_bytes);
        self.partial.extend_from_slice(here);
        if self.partial.len() == wanted_bytes {
            // Processes the message as if it had arrived in one piece. If it is still incomplete (a
            // header with a body to read), it becomes the partial message again. The buffer is
            // freed, because this is rare.
            let whole = std::mem::take(&mut self.partial);
            self.take_message(&whole)?;
        }
        Ok(rest)
    }

    /// Whether only the length of this message matters; counts it if it is a row. Refuses a message
    /// that is not allowed now, and implausible lengths.
    #[inline]
    fn is_skipped(&mut self, header: Header) -> Result<bool, Fault> {
        let skipped = match header.tag() {
            // Counted once it has arrived.
            DATA_ROW_TAG if self.awaited && self.kept.is_some() => false,
            DATA_ROW_TAG if self.awaited => {
                self.reply.rows += 1;
                true
            }
            BIND_COMPLETE_TAG | ROW_DESCRIPTION_TAG | NO_DATA_TAG if self.awaited => true,
            COMMAND_COMPLETE_TAG | EMPTY_QUERY_RESPONSE_TAG | READY_FOR_QUERY_TAG
                if self.awaited =>
            {
                false
            }
            COPY_IN_RESPONSE_TAG if self.offer == Offer::Made => false,
            // These come at any time.
            NOTICE_RESPONSE_TAG | PARAMETER_STATUS_TAG | NOTIFICATION_RESPONSE_TAG => true,
            ERROR_RESPONSE_TAG => false,
            tag => return Err(self.unexpected(tag)),
        };
        let limit_bytes = match header.tag() {
            _ if skipped => MAX_SKIPPED_BYTES,
            DATA_ROW_TAG => MOST_ANSWER_BYTES,
            _ => MAX_HELD_BYTES,
        };
        check_length(header, limit_bytes)?;
        Ok(skipped)
    }

    fn unexpected(&self, tag: u8) -> Fault {
        let tag = char::from(tag);
        Fault::Protocol(match tag {
            'G' | 'H' | 'W' => {
                "the server wants to COPY: a workload's statement cannot carry a file's rows".into()
            }
            _ if self.awaited => format!("a message of type {tag:?} in the reply to a statement"),
            _ => format!("a message of type {tag:?} while no statement was under way"),
        })
    }

    /// Takes up a whole message, header included.
    #[inline]
    fn read(&mut self, tag: u8, message: &[u8]) -> Result<(), Fault> {
        let body = &message[HEADER_BYTES..];
        match tag {
            DATA_ROW_TAG => {
                self.reply.rows += 1;
                if let Some(rows) = &mut self.kept {
                    keep(body, rows).ok_or_else(|| protocol(NO_ROW))?;
                }
            }
            COMMAND_COMPLETE_TAG => {
                let affected = affected_rows(zero_ended(body)?)?;
                self.reply.affected = self.reply.affected.saturating_add(affected);
                self.concluded = true;
            }
            EMPTY_QUERY_RESPONSE_TAG => self.concluded = true,
            READY_FOR_QUERY_TAG => return self.end_reply(body),
            COPY_IN_RESPONSE_TAG => {
                self.offer = Offer::Accepted;
                self.complete = true;
            }
            ERROR_RESPONSE_TAG => {
                let refusal = read_refusal(message)?;
                if !self.awaited {
                    self.parting = Some(refusal);
                } else if refusal.is_fatal() {
                    // No ReadyForQuery will follow.
                    return Err(refusal.into_fault());
                } else {
                    self.refusal = Some(refusal);
                    self.concluded = true;
                }
            }
            tag => return Err(self.unexpected(tag)),
        }
        Ok(())
    }

    fn end_reply(&mut self, body: &[u8]) -> Result<(), Fault> {
        if !matches!(body, [b'I' | b'T' | b'E']) {
            return Err(protocol("a ReadyForQuery without a transaction state"));
        }
        if !self.concluded {
            return Err(protocol("a reply that ended without a result"));
        }
        self.complete = true;
        // Whatever still follows belongs to no statement.
        self.awaited = false;
        Ok(())
    }
}

/// Adds a row: the number of its values, then each with its length before it, which is -1 for NULL.
fn keep(row: &[u8], rows: &mut Rows) -> Option<()> {
    let (count, mut values) = row.split_first_chunk()?;
    let columns = usize::from(u16::from_be_bytes(*count));
    if columns > MOST_COLUMNS {
        return None;
    }
    if rows.columns() != columns {
        // The first row of a result says how many there are.
        rows.begin(columns);
    }
    for _ in 0..columns {
        let (length, rest) = values.split_first_chunk()?;
        values = match usize::try_from(i32::from_be_bytes(*length)) {
            Err(_) => {
                rows.push_null();
                rest
            }
            Ok(bytes) => {
                let (value, rest) = rest.split_at_checked(bytes)?;
                rows.push(value);
                rest
            }
        };
    }
    Some(())
}

#[inline]
fn body_bytes(header: Header) -> usize {
    // The length counts itself, and the header's parser has refused less than that.
    usize::try_from(header.len()).unwrap_or(usize::MAX) - 4
}

fn read_refusal(message: &[u8]) -> Result<Refusal, Fault> {
    match Message::parse(&mut BytesMut::from(message)).map_err(not_postgres)? {
        Some(Message::ErrorResponse(body)) => Refusal::read(&body),
        _ => Err(protocol("a malformed ErrorResponse")),
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap();
        [&[tag], &length.to_be_bytes()[..], body].concat()
    }

    /// A reply with all that a server may mix into it.
    fn reply(conclusion: Vec<u8>) -> Vec<u8> {
        [
            message(b'2', b""),
            message(b'N', b"SNOTICE\0C00000\0Mhello\0\0"),
            message(b'T', b"\0\0"),
            message(b'D', b"\0\x01\0\0\0\x03abc"),
            message(b'S', b"TimeZone\0UTC\0"),
            message(b'D', &[7; 3000]),
            message(b'D', b""),
            conclusion,
            message(b'Z', b"T"),
        ]
        .concat()
    }

    /// Feeds the bytes in pieces of one size; the outcome, once it is there.
    fn outcome(bytes: &[u8], piece_bytes: usize) -> Option<Result<Reply, Fault>> {
        let mut reader = ReplyReader::default();
        reader.begin();
        for piece in bytes.chunks(piece_bytes) {
            match reader.feed(piece) {
                Ok(true) => return Some(reader.take()),
                Ok(false) => {}
                Err(fault) => return Some(Err(fault)),
            }
        }
        None
    }

    #[test]
    fn a_row_that_is_kept_may_be_long() {
        let value = vec![b'x'; 2 << 20];
        let length = u32::try_from(value.len()).unwrap().to_be_bytes();
        let bytes = [
            message(b'D', &[b"\0\x01", &length[..], &value].concat()),
            message(b'C', b"SELECT 1\0"),
            message(b'Z', b"I"),
        ];
        let mut reader = ReplyReader::default();
        reader.keep_rows(Keep::ALL);
        reader.begin();
        for piece in bytes.concat().chunks(100_000) {
            reader.feed(piece).unwrap();
        }
        assert_eq!(reader.take().unwrap().rows, 1);
    }

    #[test]
    fn a_reply_is_the_same_however_it_is_cut() {
        let good = reply(message(b'C', b"UPDATE 12\0"));
        let bad = reply(message(b'E', b"SERROR\0C40001\0Mtry again\0\0"));
        for piece_bytes in (1..40).chain([1000, 3000, 100_000]) {
            let expected = Reply {
                rows: 3,
                affected: 12,
            };
            let read = outcome(&good, piece_bytes).expect("complete").unwrap();
            assert_eq!(read, expected, "in pieces of {piece_bytes}");
            match outcome(&bad, piece_bytes).expect("complete") {
                Err(Fault::Server(error)) => {
                    assert!(error.transient);
                    assert_eq!(error.to_string(), "try again (40001)");
                }
                other => panic!("in pieces of {piece_bytes}: {other:?}"),
            }
        }
        assert!(outcome(&good[..good.len() - 1], 7).is_none());
    }

    #[test]
    fn a_reply_at_rest_holds_no_buffer() {
        let mut reader = ReplyReader::default();
        for _ in 0..3 {
            reader.begin();
            for piece in reply(message(b'C', b"SELECT 3\0")).chunks(11) {
                reader.feed(piece).unwrap();
            }
            reader.take().unwrap();
            assert_eq!(reader.partial.capacity(), 0);
        }
    }

    #[test]
    fn values_are_kept_if_asked_for() {
        let row = b"\0\x02\0\0\0\x03abc\xff\xff\xff\xff";
        let bytes = [
            message(b'T', b"\0\0"),
            message(b'D', row),
            message(b'D', row),
            message(b'C', b"SELECT 2\0"),
            message(b'Z', b"T"),
        ]
        .concat();
        for piece_bytes in 1..bytes.len() {
            let mut reader = ReplyReader::default();
            reader.keep_rows(Keep::ALL);
            reader.begin();
            for piece in bytes.chunks(piece_bytes) {
                reader.feed(piece).unwrap();
            }
            assert_eq!(reader.take().unwrap().rows, 2, "in pieces of {piece_bytes}");
            let rows = reader.rows().unwrap();
            assert_eq!(rows.count(), 2);
            assert_eq!(
                (rows.text(1, 0), rows.text(1, 1)),
                (Some(&b"abc"[..]), None)
            );
        }
        let broken = message(b'D', &row[..row.len() - 1]);
        let mut reader = ReplyReader::default();
        reader.keep_rows(Keep::ALL);
        reader.begin();
        assert!(matches!(reader.feed(&broken), Err(Fault::Protocol(_))));
    }

    /// Damaged replies: any outcome will do but a panic, and nothing long is ever held.
    #[test]
    fn damage_is_survived() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(20);
        let whole = reply(message(b'E', b"SERROR\0C40001\0Mtry again\0\0"));
        for _ in 0..20_000 {
            let mut bytes = whole.clone();
            for _ in 0..random.random_range(1..6) {
                let at = random.random_range(0..bytes.len());
                match random.random_range(0..3) {
                    0 => bytes[at] = random.next_u32().to_le_bytes()[0],
                    1 => bytes.truncate(at + 1),
                    _ => drop(bytes.remove(at)),
                }
                if bytes.is_empty() {
                    break;
                }
            }
            let mut reader = ReplyReader::default();
            reader.begin();
            for piece in bytes.chunks(random.random_range(1..500)) {
                if reader.feed(piece).is_err() {
                    break;
                }
                assert!(reader.partial.len() <= bytes.len());
            }
            let _ = reader.take();
        }
    }
}
