//! Files of a log: several in the order of their times, gzip or zstd or plain, line by line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;

use super::{KEPT_BYTES, LONGEST_BYTES, capture, moment, recognise};

/// What is looked at to recognise a log.
const HEAD_BYTES: u64 = 256 << 10;
const BUFFER_BYTES: usize = 256 << 10;

/// Bytes of a file that have been read, for who shows progress.
pub(crate) type Passed = Arc<AtomicU64>;

struct Counted {
    file: File,
    passed: Passed,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.passed.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Opens a file and unpacks it if it is packed.
pub(super) fn open(path: &Path, passed: &Passed) -> Result<Box<dyn Read + Send>, String> {
    let told = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let file = crate::file::open(path).map_err(|error| told(&error))?;
    let mut input = BufReader::with_capacity(
        BUFFER_BYTES,
        Counted {
            file,
            passed: Arc::clone(passed),
        },
    );
    let head = input.fill_buf().map_err(|error| told(&error))?;
    if head.starts_with(b"\x1f\x8b") {
        return Ok(Box::new(MultiGzDecoder::new(input)));
    }
    if head.starts_with(b"\x28\xb5\x2f\xfd") {
        let unpacked =
            ruzstd::decoding::StreamingDecoder::new(input).map_err(|error| told(&error))?;
        return Ok(Box::new(unpacked));
    }
    Ok(Box::new(input))
}

/// The files of one log, read as one.
pub(crate) struct Inputs {
    rest: std::vec::IntoIter<PathBuf>,
    now: Option<BufReader<Box<dyn Read + Send>>>,
    passed: Passed,
    name: String,
    line: u64,
    /// The last line has no end.
    pub(super) is_half: bool,
    /// Bytes that may be read before the reader sets it anew.
    pub(super) left_bytes: usize,
}

impl Inputs {
    /// Puts files in the order of the first times in them: of rotated ones the newest is named first.
    pub(crate) fn new(paths: Vec<PathBuf>) -> Result<(Self, Vec<u8>), String> {
        let mut heads: Vec<(PathBuf, Vec<u8>)> = Vec::new();
        let mut seen = Vec::new();
        for path in paths {
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            if seen.contains(&real) {
                return Err(format!("{} is named twice", path.display()));
            }
            seen.push(real);
            let mut head = Vec::new();
            open(&path, &Passed::default())?
                .take(HEAD_BYTES)
                .read_to_end(&mut head)
                .map_err(|error| format!("{}: {error}", path.display()))?;
            heads.push((path, head));
        }
        // A capture has a binary time.
        let first = |head: &[u8]| capture::beginning(head).0.or_else(|| moment::first(head));
        heads.sort_by_cached_key(|(_, head)| first(head));
        let known = heads.iter().find(|(_, head)| recognise(head).is_some());
        let known = known.or(heads.first());
        let head = known.map_or_else(Vec::new, |(_, head)| head.clone());
        let paths: Vec<_> = heads.into_iter().map(|(path, _)| path).collect();
        let inputs = Self {
            rest: paths.into_iter(),
            now: None,
            passed: Passed::default(),
            name: String::new(),
            line: 0,
            is_half: false,
            left_bytes: LONGEST_BYTES,
        };
        Ok((inputs, head))
    }

    pub(crate) fn passed(&self) -> Passed {
        Arc::clone(&self.passed)
    }

    /// The number of the line read last, counted through all files.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// Reads the next line without its end; false after the last. A line that is longer than any statement
    /// is cut.
    pub(crate) fn next_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        line.clear();
        while self.advance()? {
            let Some(input) = &mut self.now else { break };
            let mut bounded = input.by_ref().take(KEPT_BYTES as u64);
            let count = bounded
                .read_until(b'\n', line)
                .map_err(|error| named(&self.name, &error))?;
            if count == 0 {
                self.now = None;
                continue;
            }
            self.line += 1;
            self.is_half = !line.ends_with(b"\n");
            if !self.is_half {
                line.pop();
            } else if count == KEPT_BYTES {
                input.skip_until(b'\n')?;
            }
            if line.ends_with(b"\r") {
                line.pop();
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// The next file, to be read whole.
    pub(super) fn next_file(&mut self) -> io::Result<Option<impl Read + Send>> {
        self.advance()?;
        Ok(self.now.take())
    }

    /// Opens the next file if the one before is done; false after the last.
    fn advance(&mut self) -> io::Result<bool> {
        if self.now.is_none() {
            let Some(path) = self.rest.next() else {
                return Ok(false);
            };
            self.name = path.display().to_string();
            let input = open(&path, &self.passed).map_err(io::Error::other)?;
            self.now = Some(BufReader::with_capacity(BUFFER_BYTES, input));
        }
        Ok(true)
    }
}

fn named(name: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{name}: {error}"))
}

impl Read for Inputs {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left_bytes == 0 {
            let told = format!(
                "{}: {}, or a quotation mark too many",
                self.name,
                super::TOO_LONG
            );
            return Err(io::Error::other(told));
        }
        while self.advance()? {
            let Some(input) = &mut self.now else { break };
            let count = input
                .read(buffer)
                .map_err(|error| named(&self.name, &error))?;
            if count > 0 {
                self.left_bytes = self.left_bytes.saturating_sub(count);
                return Ok(count);
            }
            self.now = None;
        }
        Ok(0)
    }
}
