//! Replies on the timed path: rows are counted and passed over, unless a workload reads them.

use std::task::Poll;

use mysql_common::io::ParseBuf;

use super::error::{parting, server_error};
use super::values::Kept;
use super::wire::{HEADER_BYTES, LONGEST_CONTENT, out_of_order, parse_header, protocol};
use crate::driver::admin::Offer;
use crate::driver::rows::{Keep, Rows};
use crate::driver::{Fault, Reply};

/// Bytes of a packet to read if its content matters: counts, flags, an error's text (which servers
/// cut at 512 bytes).
const LONGEST_LOOK: usize = 1024;
/// The server's own limit of columns in a result.
const MOST_COLUMNS: u64 = 4096;
/// A marker of an end is shorter than this; a row that begins with the same byte is longer.
const END_BELOW: usize = 9;
/// The marker of an end that is no acknowledgement.
const OLD_END: usize = 5;

pub(crate) const OK: u8 = 0x00;
pub(crate) const LOCAL_FILE: u8 = 0xFB;
pub(crate) const END: u8 = 0xFE;
pub(crate) const ERROR: u8 = 0xFF;
/// After the number of columns, from a MariaDB that was asked to send their definitions but once.
const DEFINITIONS_AS_PREPARED: u8 = 0;
const DEFINITIONS_FOLLOW: u8 = 1;
const MORE_RESULTS: u16 = 0x0008;
const CURSOR_EXISTS: u8 = 0x40;

/// Finds the end of a reply in the bytes that arrive, however they are cut up.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each may be so or not")]
pub struct ReplyReader {
    stage: Stage,
    reply: Reply,
    /// Set by an error packet, or by the end.
    outcome: Option<Result<Reply, Fault>>,
    /// The number that the next packet must bear.
    sequence: u8,
    /// The packet before was of the greatest length: the next one goes on with it.
    continued: bool,
    /// Bytes of the present packet that are still to come and do not matter.
    skip: usize,
    /// The beginning of a packet that did not arrive in one piece.
    carry: Vec<u8>,
    /// The values of the reply, if the workload reads them.
    kept: Option<Box<Kept>>,
    /// The client may not be ours: it may have asked for an acknowledgement in place of each end, and for a cursor.
    of_any_client: bool,
    /// Whether values of prepared statements are passed over all the same.
    text_only: bool,
    /// Whether the values of the present reply are kept.
    keeps: bool,
    pub(super) offer: Offer,
}

/// The kind of the next packet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    /// No packet is expected.
    #[default]
    Silent,
    Head,
    Columns {
        left: u64,
    },
    ColumnsEnd,
    Rows,
}

impl ReplyReader {
    /// Reads whole packets that were sent to some client.
    pub(crate) fn of_any_client() -> Self {
        Self {
            of_any_client: true,
            ..Self::default()
        }
    }

    /// From now on these values of every reply are kept.
    pub(super) fn keep_rows(&mut self, keep: Keep) {
        self.kept = Some(Box::new(Kept::new(keep)));
        self.text_only = !keep.prepared;
    }

    /// The values of the last reply.
    pub(super) fn rows(&self) -> Option<&Rows> {
        self.kept.as_ref().map(|kept| &kept.rows)
    }

    /// A statement has been sent, in that many packets: its reply is expected, its rows in the
    /// binary protocol or as text.
    #[inline]
    pub(super) fn begin_keeping(&mut self, packets: u8, binary: bool) {
        self.begin(packets);
        if let Some(kept) = &mut self.kept {
            kept.begin(binary);
            self.keeps = !(binary && self.text_only);
        }
    }

    /// A statement has been sent, in that many packets: its reply is expected.
    #[inline]
    pub fn begin(&mut self, packets: u8) {
        self.stage = Stage::Head;
        self.reply = Reply::default();
        self.outcome = None;
        // The statement's own packets were numbers 0 and on.
        self.sequence = packets;
        self.continued = false;
        self.skip = 0;
        self.carry.clear();
    }

    /// The number of the next packet of rows, after which the reply goes on.
    pub(super) fn number_rows(&mut self) -> Result<u8, Fault> {
        self.offer.accepted()?;
        let number = self.sequence;
        self.sequence = number.wrapping_add(1);
        self.stage = Stage::Head;
        Ok(number)
    }

    /// Takes what has arrived; true once the reply is complete.
    #[inline]
    pub fn feed(&mut self, mut input: &[u8]) -> Result<bool, Fault> {
        while !input.is_empty() {
            if self.skip > 0 {
                let skipped = self.skip.min(input.len());
                self.skip -= skipped;
                input = &input[skipped..];
            } else if self.stage == Stage::Silent {
                return Err(protocol(format!(
                    "{} bytes that nothing asked for",
                    input.len()
                )));
            } else if let Some(look) = self.look(input).filter(|_| self.carry.is_empty()) {
                let length = self.on_packet(&input[..look])?;
                let whole = HEADER_BYTES + length;
                self.skip = whole.saturating_sub(input.len());
                input = &input[whole.min(input.len())..];
            } else {
                input = self.carry_on(input)?;
            }
        }
        Ok(self.stage == Stage::Silent && self.skip == 0)
    }

    /// The completed reply.
    #[inline]
    pub fn take(&mut self) -> Poll<Result<Reply, Fault>> {
        self.outcome.take().map_or(Poll::Pending, Poll::Ready)
    }

    /// Bytes of a packet to read, its header included; `None` while they have not all arrived.
    #[inline]
    fn look(&self, bytes: &[u8]) -> Option<usize> {
        let (length, _) = parse_header(*bytes.first_chunk()?);
        let content = match self.stage {
            _ if self.continued => 0,
            Stage::Columns { .. } | Stage::Rows if self.keeps => length,
            Stage::Columns { .. } => 0,
            Stage::Rows if self.of_any_client => length.min(LONGEST_LOOK),
            Stage::Rows if length >= END_BELOW && *bytes.get(HEADER_BYTES)? != ERROR => 1,
            _ => length.min(LONGEST_LOOK),
        };
        let look = HEADER_BYTES + content;
        (bytes.len() >= look).then_some(look)
    }

    /// A packet is cut up: gathers its beginning byte by byte, which is rare and short.
    #[cold]
    fn carry_on<'a>(&mut self, input: &'a [u8]) -> Result<&'a [u8], Fault> {
        self.carry.push(input[0]);
        if self.look(&self.carry).is_some() {
            let carry = std::mem::take(&mut self.carry);
            let length = self.on_packet(&carry)?;
            self.skip = HEADER_BYTES + length - carry.len();
            self.carry = carry;
            self.carry.clear();
        }
        Ok(&input[1..])
    }

    /// Takes a packet with as many bytes as `look` asked for; returns its length.
    #[inline]
    fn on_packet(&mut self, packet: &[u8]) -> Result<usize, Fault> {
        let Some((header, content)) = packet.split_first_chunk() else {
            return Err(protocol("a packet without a header"));
        };
        let (length, sequence) = parse_header(*header);
        if sequence != self.sequence {
            self.on_disorder(content, sequence)?;
        }
        self.sequence = sequence.wrapping_add(1);
        let continues = self.continued;
        self.continued = length == LONGEST_CONTENT;
        if continues {
            return Ok(length);
        }
        if self.continued && self.stage != Stage::Rows {
            return Err(protocol("a packet of 16 MiB that is no row"));
        }
        match self.stage {
            Stage::Rows => self.on_row(content, length)?,
            Stage::Head => self.on_head(content)?,
            Stage::Columns { left } => {
                if self.keeps
                    && let Some(kept) = &mut self.kept
                {
                    kept.define(content)?;
                }
                self.stage = match left {
                    1 => Stage::ColumnsEnd,
                    _ => Stage::Columns { left: left - 1 },
                };
            }
            Stage::ColumnsEnd => self.on_columns_end(content, length)?,
            Stage::Silent => return Err(protocol("a packet that nothing asked for")),
        }
        Ok(length)
    }

    /// A server may refuse a statement before it has had all of its packets; and one that gave
    /// the connection up while nothing was asked, says so in a packet of number 0.
    #[cold]
    fn on_disorder(&self, content: &[u8], sequence: u8) -> Result<(), Fault> {
        match (self.stage, content) {
            (Stage::Head, [ERROR, ..]) if sequence == 0 => Err(parting(&server_error(content))),
            (Stage::Head, [ERROR, ..]) if sequence < self.sequence => Ok(()),
            _ => Err(out_of_order(sequence, self.sequence)),
        }
    }

    #[inline]
    fn on_row(&mut self, content: &[u8], length: usize) -> Result<(), Fault> {
        match content {
            [END, counts @ ..]
                if self.of_any_client && length > OLD_END && length < LONGEST_CONTENT =>
            {
                let rest = parse_number(counts).and_then(|(_, rest)| parse_number(rest));
                self.end_result(rest.map_or(&[][..], |(_, status)| status))
            }
            [END, _, _, status @ ..] if length < END_BELOW => self.end_result(status),
            [ERROR, ..] => self.end(Err(server_error(content))),
            [_, ..] => {
                self.reply.rows += 1;
                match &mut self.kept {
                    Some(kept) if self.keeps => kept.add(content),
                    _ => Ok(()),
                }
            }
            [] => Err(protocol("a row without content")),
        }
    }

    #[inline]
    fn on_head(&mut self, content: &[u8]) -> Result<(), Fault> {
        match content {
            [OK, counts @ ..] => {
                let broken = || protocol("an acknowledgement that breaks off");
                let (affected, rest) = parse_number(counts).ok_or_else(broken)?;
                let (_last_insert_id, rest) = parse_number(rest).ok_or_else(broken)?;
                // A server that lies about its counts must not end the program.
                self.reply.affected = self.reply.affected.saturating_add(affected);
                self.end_result(rest)
            }
            [ERROR, ..] => self.end(Err(server_error(content))),
            [LOCAL_FILE, ..] if self.offer == Offer::Made => {
                self.offer = Offer::Accepted;
                self.end(Ok(self.reply))
            }
            [LOCAL_FILE, ..] if self.of_any_client => Ok(()),
            [LOCAL_FILE, ..] => Err(protocol(
                "the server asks for a local file, but none was offered",
            )),
            _ => match parse_number(content) {
                Some((columns @ 1..=MOST_COLUMNS, [] | [DEFINITIONS_FOLLOW])) => {
                    if self.keeps
                        && let Some(kept) = &mut self.kept
                    {
                        kept.begin_result(usize::try_from(columns).unwrap_or_default());
                    }
                    self.stage = Stage::Columns { left: columns };
                    Ok(())
                }
                Some((1..=MOST_COLUMNS, [DEFINITIONS_AS_PREPARED])) if !self.keeps => {
                    self.stage = Stage::ColumnsEnd;
                    Ok(())
                }
                _ => Err(protocol(
                    "a reply that begins with neither a result nor an error",
                )),
            },
        }
    }

    fn on_columns_end(&mut self, content: &[u8], length: usize) -> Result<(), Fault> {
        match content {
            [END, _, _, status @ ..]
                if self.of_any_client && length == OLD_END && status[0] & CURSOR_EXISTS != 0 =>
            {
                self.end_result(status)
            }
            [END, ..] if length < END_BELOW && (length <= OLD_END || !self.of_any_client) => {
                self.stage = Stage::Rows;
                Ok(())
            }
            [ERROR, ..] => self.end(Err(server_error(content))),
            _ if self.of_any_client => {
                self.stage = Stage::Rows;
                self.on_row(content, length)
            }
            _ => Err(protocol("column definitions without an end")),
        }
    }

    /// One result has ended; its status says whether another follows (a stored procedure's).
    #[inline]
    fn end_result(&mut self, status: &[u8]) -> Result<(), Fault> {
        let Some(status) = status.first_chunk() else {
            return Err(protocol("a result's end without its status"));
        };
        if u16::from_le_bytes(*status) & MORE_RESULTS != 0 {
            self.stage = Stage::Head;
            return Ok(());
        }
        self.end(Ok(self.reply))
    }

    /// The reply has ended. A fault of the protocol in an error packet is one of the connection.
    #[inline]
    fn end(&mut self, outcome: Result<Reply, Fault>) -> Result<(), Fault> {
        if let Err(fault @ Fault::Protocol(_)) = outcome {
            return Err(fault);
        }
        self.stage = Stage::Silent;
        self.outcome = Some(outcome);
        Ok(())
    }
}

/// A number of one, three, four or nine bytes, and what comes after it.
pub(super) fn parse_number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut rest = ParseBuf(bytes);
    let number = rest.checked_eat_lenenc_int();
    // The library takes what is no number for 0.
    let number = number.filter(|_| !matches!(bytes, [0xFB | 0xFF, ..]))?;
    Some((number, rest.0))
}
