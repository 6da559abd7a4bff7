//! Making again what a cut left, from the bytes that the log began with.

use std::fs::File;

use anyhow::{Context, ensure};

use super::{Asked, Reader, Record};
use crate::account::{Account, Survivors, Ticket};
use crate::contents::Contents;

/// The outcome of a replay.
pub struct Replayed {
    pub records: u64,
    pub survivors: Survivors,
    /// The cut as the log records it.
    pub logged: Survivors,
}

/// Does again what the log has, and cuts as it says.
///
/// # Errors
///
/// It is not a log, was cut short or changed, or has no cut; or the contents refuse a write. They then hold
/// what was replayed before it.
pub fn replay(log: &File, contents: &mut Contents) -> anyhow::Result<Replayed> {
    let mut reader = Reader::begin(log)?;
    let medium = reader.header.medium;
    ensure!(
        medium.size_bytes == contents.size_bytes(),
        "the log is of a disk of {} bytes, but this disk has {}",
        medium.size_bytes,
        contents.size_bytes()
    );
    let mut account = Account::new(medium, 0);
    let mut next = 0;
    let mut records = 0;
    let mut replayed = None;
    while let Some((record, bytes)) = reader.read_next()? {
        ensure!(replayed.is_none(), "the log has records after its cut");
        records += 1;
        if let Record::Cut {
            choice,
            survivors: logged,
            ..
        } = record
        {
            replayed = Some(Replayed {
                records,
                survivors: account.cut(contents, choice)?,
                logged,
            });
        } else {
            apply(&mut account, contents, &record, &bytes, &mut next)
                .with_context(|| format!("record {records} of the log"))?;
        }
    }
    replayed.context("the log has no cut: the disk was restored before one")
}

fn apply(
    account: &mut Account,
    contents: &mut Contents,
    record: &Record,
    bytes: &[u8],
    next: &mut u64,
) -> anyhow::Result<()> {
    match record {
        Record::Write(asked) => {
            let number = ascending(asked, *next)?;
            let within = contents.size_bytes().saturating_sub(asked.offset_bytes);
            let within = usize::try_from(within)?.min(bytes.len());
            let written = account.write(number, contents, asked.offset_bytes, &bytes[..within]);
            *next = written.ticket.next_number();
            written.outcome?;
        }
        Record::Discard(asked) => {
            let number = ascending(asked, *next)?;
            let discarded =
                account.discard(number, contents, asked.offset_bytes, asked.length_bytes);
            *next = discarded.ticket.next_number();
            discarded.outcome?;
        }
        Record::Answered(told) => account.answered(known(told.ticket, *next)?),
        Record::Stable(told) => account.stable(known(told.ticket, *next)?),
        Record::Settled { .. } => account.settle(),
        // They change no byte. Cut and end are the caller's.
        Record::Read(_)
        | Record::Flush(_)
        | Record::Failed { .. }
        | Record::Cut { .. }
        | Record::End { .. } => {}
    }
    Ok(())
}

fn ascending(asked: &Asked, next: u64) -> anyhow::Result<u64> {
    ensure!(
        asked.number >= next && asked.number < u64::MAX / 2,
        "its number is out of order"
    );
    Ok(asked.number)
}

/// A request has few writes, and its record precedes the records that refer to them.
fn known(ticket: Ticket, next: u64) -> anyhow::Result<Ticket> {
    ensure!(
        ticket.writes == 0 || (ticket.number < next && ticket.writes <= 3),
        "it refers to a write that the log does not contain"
    );
    Ok(ticket)
}
