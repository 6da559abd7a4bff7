//! Reading a log record by record; a log may be longer than memory.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::ops::RangeInclusive;

use anyhow::{Context, bail, ensure};
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use super::{Asked, FORMAT, Header, Record, VERSION};
use crate::contents;

const LINE_BYTES_AT_MOST: u64 = 64 * 1024;
/// A request is of a mebibyte at most, widened to whole sectors.
const WRITE_BYTES_AT_MOST: u64 = 4 << 20;

/// No disk has other sectors.
const SECTORS_BYTES: RangeInclusive<u64> = 512..=65_536;

/// A log that is being read.
pub struct Reader<'a> {
    from: BufReader<&'a File>,
    hash: Sha256,
    records: u64,
    ended: bool,
    pub header: Header,
}

impl<'a> Reader<'a> {
    /// # Errors
    ///
    /// The file cannot be read, or is not a log of this version.
    pub fn begin(mut log: &'a File) -> anyhow::Result<Self> {
        log.rewind()?;
        let mut from = BufReader::with_capacity(1 << 20, log);
        let line = line(&mut from)?;
        let header: Header = parsed(&line).context("the file does not start with a log header")?;
        ensure!(header.log == FORMAT, "the file is a log of another program");
        ensure!(
            header.version == VERSION,
            "the log has version {}, but this program reads version {VERSION}",
            header.version
        );
        ensure!(
            SECTORS_BYTES.contains(&header.medium.sector_bytes)
                && header.medium.sector_bytes.is_power_of_two()
                && (1..=contents::SIZE_BYTES_AT_MOST).contains(&header.medium.size_bytes),
            "the header describes an impossible disk"
        );
        let mut hash = Sha256::new();
        hash.update(&line);
        Ok(Self {
            from,
            hash,
            records: 0,
            ended: false,
            header,
        })
    }

    /// The next record and the bytes of a write; `None` after the last.
    ///
    /// # Errors
    ///
    /// The bytes are not a record, or the log was cut short or changed.
    pub fn read_next(&mut self) -> anyhow::Result<Option<(Record, Vec<u8>)>> {
        if self.ended {
            return Ok(None);
        }
        let number = self.records + 1;
        self.read_record()
            .with_context(|| format!("record {number} of the log"))
    }

    fn read_record(&mut self) -> anyhow::Result<Option<(Record, Vec<u8>)>> {
        let line = line(&mut self.from)?;
        let record: Record = parsed(&line)?;
        if let Record::End { records, digest } = record {
            return self.end(records, &digest).map(|()| None);
        }
        self.hash.update(&line);
        let mut bytes = Vec::new();
        if let Record::Write(asked) | Record::Discard(asked) = &record {
            self.check_place(asked)?;
        }
        if let Record::Write(asked) = &record {
            ensure!(
                (1..=WRITE_BYTES_AT_MOST).contains(&asked.length_bytes),
                "a write of {} bytes",
                asked.length_bytes
            );
            bytes = vec![0; usize::try_from(asked.length_bytes)?];
            self.from.read_exact(&mut bytes).context(CUT_SHORT)?;
            self.hash.update(&bytes);
        }
        self.records += 1;
        Ok(Some((record, bytes)))
    }

    fn check_place(&self, asked: &Asked) -> anyhow::Result<()> {
        let medium = self.header.medium;
        let size_bytes = medium.size_bytes.next_multiple_of(medium.sector_bytes);
        let end = asked.offset_bytes.checked_add(asked.length_bytes);
        ensure!(
            end.is_some_and(|end| end <= size_bytes),
            "it lies outside the disk of {} bytes",
            medium.size_bytes
        );
        Ok(())
    }

    fn end(&mut self, records: u64, digest: &str) -> anyhow::Result<()> {
        let here = hex::encode(self.hash.finalize_reset());
        if records != self.records || digest != here {
            bail!("the log was changed after it was written: its digest differs");
        }
        ensure!(
            self.from.fill_buf()?.is_empty(),
            "there is something after the end record"
        );
        self.ended = true;
        Ok(())
    }
}

const CUT_SHORT: &str = "the log is cut short: its program ended before the power did";

fn line(from: &mut impl BufRead) -> anyhow::Result<Vec<u8>> {
    let mut line = Vec::new();
    from.take(LINE_BYTES_AT_MOST).read_until(b'\n', &mut line)?;
    if !line.ends_with(b"\n") {
        ensure!(
            (line.len() as u64) < LINE_BYTES_AT_MOST,
            "not a line of a log"
        );
        bail!("{CUT_SHORT}");
    }
    Ok(line)
}

fn parsed<T: DeserializeOwned>(line: &[u8]) -> anyhow::Result<T> {
    serde_json::from_slice(line).context("not understood")
}
