//! Writing a log beside the disk's work: records are gathered, and a thread of its own writes them.

use std::fs::File;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use anyhow::anyhow;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{Header, Record};

/// Large enough that handing one over costs nothing a record.
const CHUNK_BYTES: usize = 256 * 1024;
/// Bytes that may wait to be written. Beyond it requests wait and are late, which the disk counts.
const CHUNKS_AT_MOST: usize = 256;

/// A log that is being written.
pub struct Writer {
    chunk: Vec<u8>,
    records: u64,
    chunks: SyncSender<Vec<u8>>,
    writing: JoinHandle<io::Result<Written>>,
}

/// The file, the digest of what it has, and its length.
type Written = (File, Sha256, u64);

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
        let (chunks, from) = sync_channel(CHUNKS_AT_MOST);
        let writing = std::thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || write(file, &from))?;
        let mut writer = Self {
            chunk: Vec::with_capacity(CHUNK_BYTES),
            records: 0,
            chunks,
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
        let _ = self.chunks.send(chunk);
    }

    /// Waits until all is in the file, and marks it as whole.
    ///
    /// # Errors
    ///
    /// If the file could not be written.
    pub fn finish(mut self) -> anyhow::Result<Finished> {
        self.hand_over();
        drop(self.chunks);
        let written = self.writing.join();
        let written = written.map_err(|_| anyhow!("the thread that writes the log panicked"))?;
        let (mut file, hash, bytes) = written?;
        let records = self.records;
        let digest = hex::encode(hash.finalize());
        let mut line = serde_json::to_vec(&Record::End { records, digest })?;
        line.push(b'\n');
        file.write_all(&line)?;
        let bytes = bytes + line.len() as u64;
        Ok(Finished { records, bytes })
    }
}

fn write(mut file: File, chunks: &Receiver<Vec<u8>>) -> io::Result<Written> {
    let mut hash = Sha256::new();
    let mut bytes = 0;
    for chunk in chunks {
        hash.update(&chunk);
        file.write_all(&chunk)?;
        bytes += chunk.len() as u64;
    }
    Ok((file, hash, bytes))
}
