//! The bytes of a disk, together with an account of what a power cut can take of them.
//!
//! The served disk and the replay of its log share it, so that the same requests and the same
//! choice leave the same bytes.

pub mod log;
mod touched;

use serde::{Deserialize, Serialize};

use crate::contents::{Contents, ContentsError};
use crate::volatile::{AtRisk, Choice, Keep, Volatile, WriteId};
use touched::Touched;

/// The number of a request in an account, and of how many writes of whole sectors it consists: none for
/// what writes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticket {
    pub number: u64,
    pub writes: u64,
}

impl Ticket {
    /// The number of the request that comes after.
    pub fn next_number(self) -> u64 {
        self.number + self.writes.max(1)
    }

    fn writes(self) -> impl Iterator<Item = WriteId> {
        (self.number..self.number + self.writes).map(WriteId)
    }
}

/// The medium: what it writes whole, and whether it holds without power.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Medium {
    pub size_bytes: u64,
    pub sector_bytes: u64,
    /// Main memory does not, unless it is protected.
    pub survives: bool,
}

/// The result of a cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Survivors {
    pub at_risk_writes: u64,
    pub at_risk_bytes: u64,
    pub answered_at_risk_writes: u64,
    /// As drawn: never `random`.
    pub kept: Keep,
    pub kept_bytes: u64,
    pub lost_bytes: u64,
    pub torn_writes: u64,
    /// Whether the medium holds nothing without power, so that everything is lost.
    pub emptied: bool,
    /// Digest of all blocks that were written since the account began, as they are now.
    pub digest: String,
}

/// The outcome of a write or a discard, as a log records it.
pub struct Done {
    /// Without writes if it failed before any: nothing has changed then.
    pub ticket: Ticket,
    /// The place of what was changed: whole sectors of a write; of a discard, to its end or to the piece that failed.
    pub offset_bytes: u64,
    pub length_bytes: u64,
    /// What a write left there.
    pub bytes: Vec<u8>,
    pub outcome: Result<(), ContentsError>,
}

pub struct Account {
    medium: Medium,
    volatile: Volatile,
    touched: Touched,
    /// Earlier requests do not belong to this account.
    first: u64,
}

impl Account {
    /// All that is there is safe; the first request has that number.
    pub fn new(medium: Medium, first: u64) -> Self {
        Self {
            medium,
            volatile: Volatile::new(medium.sector_bytes),
            touched: Touched::default(),
            first,
        }
    }

    pub fn at_risk(&self) -> AtRisk {
        self.volatile.at_risk()
    }

    /// Whether a request belongs to this account, not to an earlier one.
    pub fn has(&self, ticket: Ticket) -> bool {
        ticket.number >= self.first
    }

    /// Writes the bytes. A failed write leaves the old bytes.
    pub fn write(
        &mut self,
        number: u64,
        contents: &mut Contents,
        offset_bytes: u64,
        bytes: &[u8],
    ) -> Done {
        let (from, length) = self.sectors(offset_bytes, bytes.len() as u64);
        let mut written = Done {
            ticket: Ticket { number, writes: 0 },
            offset_bytes: from,
            length_bytes: length,
            bytes: Vec::new(),
            outcome: contents.check_within(offset_bytes, bytes.len() as u64),
        };
        if written.outcome.is_ok() && !bytes.is_empty() {
            match self.replace(contents, offset_bytes, bytes, from, length) {
                Ok((before, after)) => {
                    self.volatile.wrote(WriteId(number), from, &after, &before);
                    written.ticket.writes = 1;
                    written.bytes = after;
                }
                Err(error) => written.outcome = Err(error),
            }
        }
        written
    }

    /// Whole sectors as they were, and as they are with the bytes in them.
    fn replace(
        &mut self,
        contents: &mut Contents,
        offset_bytes: u64,
        bytes: &[u8],
        from: u64,
        length: u64,
    ) -> Result<(Vec<u8>, Vec<u8>), ContentsError> {
        let before = read_padded(contents, from, length)?;
        if let Err(error) = contents.write(offset_bytes, bytes) {
            put_back(contents, &[(from, before)]);
            return Err(error);
        }
        self.touched.mark(from, length);
        let mut after = before.clone();
        let at = usize::try_from(offset_bytes - from).expect("within a sector");
        after[at..at + bytes.len()].copy_from_slice(bytes);
        Ok((before, after))
    }

    /// Gives the bytes back, which read as zeroes; parts of sectors at either end are written. A piece
    /// that fails leaves what was there before, and the pieces after it are not tried.
    pub fn discard(
        &mut self,
        number: u64,
        contents: &mut Contents,
        offset_bytes: u64,
        length_bytes: u64,
    ) -> Done {
        let mut discarded = Done {
            ticket: Ticket { number, writes: 0 },
            offset_bytes,
            length_bytes: 0,
            bytes: Vec::new(),
            outcome: Ok(()),
        };
        let end = offset_bytes.saturating_add(length_bytes);
        for (from, end) in self.pieces(offset_bytes, end.min(self.medium.size_bytes)) {
            let next = WriteId(number + discarded.ticket.writes);
            discarded.outcome = self.discard_piece(next, contents, from, end);
            if discarded.outcome.is_err() {
                break;
            }
            discarded.ticket.writes += 1;
            discarded.length_bytes = end - offset_bytes;
        }
        discarded
    }

    /// The part of a sector at the start, the whole ones, and the part at the end, as far as there are.
    fn pieces(&self, from: u64, end: u64) -> Vec<(u64, u64)> {
        let sector = self.medium.sector_bytes;
        let first_whole = from.next_multiple_of(sector).min(end);
        // The last sector of the disk may be short; it is whole all the same.
        let last_whole = if end == self.medium.size_bytes {
            end
        } else {
            (end - end % sector).max(first_whole)
        };
        let pieces = [
            (from, first_whole),
            (first_whole, last_whole),
            (last_whole, end),
        ];
        pieces
            .into_iter()
            .filter(|(from, end)| from < end)
            .collect()
    }

    fn discard_piece(
        &mut self,
        id: WriteId,
        contents: &mut Contents,
        from: u64,
        end: u64,
    ) -> Result<(), ContentsError> {
        let (sectors_from, sectors_length) = self.sectors(from, end - from);
        let reaches_further = sectors_from + sectors_length > end && end < self.medium.size_bytes;
        if sectors_from < from || reaches_further {
            let zeroes = vec![0; usize::try_from(end - from).expect("less than a sector")];
            return self.write(id.0, contents, from, &zeroes).outcome;
        }
        let before = self.held(contents, sectors_from, sectors_from + sectors_length)?;
        if let Err(error) = contents.discard(from, end - from) {
            put_back(contents, &before);
            return Err(error);
        }
        self.touched.mark(sectors_from, sectors_length);
        let before: Vec<_> = before.iter().map(|(at, held)| (*at, &held[..])).collect();
        self.volatile
            .discarded(id, sectors_from, sectors_length, &before);
        Ok(())
    }

    /// The bytes of a range, in pieces of whole sectors; holes between them are left out.
    fn held(
        &self,
        contents: &Contents,
        from: u64,
        end: u64,
    ) -> Result<Vec<(u64, Vec<u8>)>, ContentsError> {
        const PIECE_BYTES: u64 = 64 * 1024;
        let mut held = Vec::new();
        let mut at = from;
        while at < end
            && let Some(data) = contents.data_within(at..end)
            && data < end
        {
            let start = data - data % self.medium.sector_bytes;
            at = end.min(start + PIECE_BYTES);
            held.push((start, read_padded(contents, start, at - start)?));
        }
        Ok(held)
    }

    pub fn answered(&mut self, ticket: Ticket) {
        for id in ticket.writes() {
            self.volatile.answered(id);
        }
    }

    pub fn stable(&mut self, ticket: Ticket) {
        for id in ticket.writes() {
            self.volatile.stable(id);
        }
    }

    /// Everything is safe.
    pub fn settle(&mut self) {
        self.volatile.settle();
    }

    /// Power fails: the bytes become what survives. The account is empty afterwards. The limit of the
    /// contents does not apply, because what was safe must be there again even if something else has taken its room.
    ///
    /// # Errors
    ///
    /// If a file beneath cannot be read or written. The bytes are then not those of any cut.
    pub fn cut(
        &mut self,
        contents: &mut Contents,
        choice: Choice,
    ) -> Result<Survivors, ContentsError> {
        let mut outage = self.volatile.cut(choice);
        let emptied = !self.medium.survives && choice.keep != Keep::All;
        if emptied {
            contents.discard(0, self.medium.size_bytes)?;
            outage.kept = Keep::Nothing;
            outage.lost_bytes = outage.at_risk.bytes;
            outage.kept_bytes = 0;
            outage.torn_writes = 0;
        } else {
            for (offset, bytes) in &outage.patches {
                put_clipped(contents, *offset, bytes)?;
            }
        }
        Ok(Survivors {
            at_risk_writes: outage.at_risk.writes,
            at_risk_bytes: outage.at_risk.bytes,
            answered_at_risk_writes: outage.at_risk.answered_writes,
            kept: outage.kept,
            kept_bytes: outage.kept_bytes,
            lost_bytes: outage.lost_bytes,
            torn_writes: outage.torn_writes,
            emptied,
            digest: self.touched.digest(contents)?,
        })
    }

    /// The sectors that a range touches.
    fn sectors(&self, offset_bytes: u64, length_bytes: u64) -> (u64, u64) {
        let sector = self.medium.sector_bytes;
        let from = offset_bytes - offset_bytes % sector;
        let end = (offset_bytes + length_bytes).next_multiple_of(sector);
        (from, end - from)
    }
}

/// A disk may end within a sector of its device: what lies behind is zero.
fn read_padded(contents: &Contents, from: u64, length: u64) -> Result<Vec<u8>, ContentsError> {
    let mut bytes = vec![0; usize::try_from(length).expect("pieces are bounded")];
    let within = contents.size_bytes().saturating_sub(from).min(length);
    let within = usize::try_from(within).expect("less than all");
    contents.read(from, &mut bytes[..within])?;
    Ok(bytes)
}

fn put_clipped(contents: &mut Contents, from: u64, bytes: &[u8]) -> Result<(), ContentsError> {
    let within = contents.size_bytes().saturating_sub(from);
    let within = usize::try_from(within).map_or(bytes.len(), |within| within.min(bytes.len()));
    contents.put(from, &bytes[..within])
}

/// Undoes a partly done change. If a file refuses that too, a replay finds the difference.
fn put_back(contents: &mut Contents, before: &[(u64, Vec<u8>)]) {
    for (from, bytes) in before {
        let _ = put_clipped(contents, *from, bytes);
    }
}
