//! Writing a log beside the disk's work: records are gathered, and a thread of its own writes them.

use std::fs::File;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use anyhow::anyhow;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{Header, Record};
use crate::account::touched::hex;

/// Large enough that handing one over costs nothing a record.
const CHUNK_BYTES: usize = 256 * 1024;
/// Bytes that may wait to be written. Beyond it requests wait and are late, which the disk counts.
const CHUNKS_AT_MOST: usize = 256;

enum Part {
    Records(Vec<u8>),
    /// The log is complete.
    End {
        records: u64,
    },
}

/// A log that is being written.
pub struct Writer {
    chunk: Vec<u8>,
    records: u64,
    parts: SyncSender<Part>,
    writing: JoinHandle<io::Result<u64>>,
}

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Finished {
    pub records: u64,
    pub bytes: u64,
}

impl Writer {
    /// Begins a log in a new file.
    ///
    /// # Errors
    ///
    /// No thread can be started.
    pub fn begin(file: File, header: &Header) -> anyhow::Result<Self> {
        let (parts, from) = sync_channel(CHUNKS_AT_MOST);
        let writing = std::thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || write(file, &from))?;
        let mut writer = Self {
            chunk: Vec::with_capacity(CHUNK_BYTES),
            records: 0,
            parts,
            writing,
        };
        writer.line(header);
        Ok(writer)
    }

    pub fn record(&mut self, record: &Record, bytes: &[u8]) {
        self.line(record);
        self.chunk.extend_from_slice(bytes);
        self.records += 1;
        if self.chunk.len() >= CHUNK_BYTES {
            self.hand_over();
        }
    }

    fn line(&mut self, line: &impl Serialize) {
        serde_json::to_writer(&mut self.chunk, line).expect("plain data");
        self.chunk.push(b'\n');
    }

    fn hand_over(&mut self) {
        let chunk = std::mem::replace(&mut self.chunk, Vec::with_capacity(CHUNK_BYTES));
        // The writer thread ends early only with an error, which is reported at the end.
        let _ = self.parts.send(Part::Records(chunk));
    }

    /// Waits until all is in the file, and marks it as whole.
    ///
    /// # Errors
    ///
    /// If the file could not be written.
    pub fn finish(mut self) -> anyhow::Result<Finished> {
        self.hand_over();
        let records = self.records;
        let _ = self.parts.send(Part::End { records });
        drop(self.parts);
        let written = self.writing.join();
        let bytes = written.map_err(|_| anyhow!("the thread that writes the log panicked"))??;
        Ok(Finished { records, bytes })
    }
}

fn write(mut file: File, parts: &Receiver<Part>) -> io::Result<u64> {
    let mut hash = Sha256::new();
    let mut bytes = 0;
    for part in parts {
        match part {
            Part::Records(chunk) => {
                hash.update(&chunk);
                file.write_all(&chunk)?;
                bytes += chunk.len() as u64;
            }
            Part::End { records } => {
                let digest = hex(&hash.finalize_reset());
                let mut line = serde_json::to_vec(&Record::End { records, digest })?;
                line.push(b'\n');
                file.write_all(&line)?;
                bytes += line.len() as u64;
            }
        }
    }
    Ok(bytes)
}
