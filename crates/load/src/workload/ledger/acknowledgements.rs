//! The file in which each commit stands that a server acknowledged.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use rustix::time::{ClockId, clock_gettime};

const LONGEST_CODE: usize = 60;

/// A file that all clients append to: one line per commit, written by one system call, so that no
/// line is partial or mixed with another, and all outlive this program. They need not outlive the
/// machine: the file lies on a disk that is not cut.
#[derive(Debug)]
pub struct Acknowledgements {
    file: File,
    /// How many times slower than the machine's the moments pass.
    dilation: u32,
}

impl Acknowledgements {
    /// Makes the file; one that is there already is an error.
    pub fn create(path: &Path, dilation: u32) -> io::Result<Self> {
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .open(path)?;
        Ok(Self { file, dilation })
    }

    /// Adds that a client's transaction has just been acknowledged. Before the moment stand an order's warehouse,
    /// district and number, or a recorded one's session and begin in the log.
    pub(in crate::workload) fn add(
        &self,
        client: usize,
        number: u64,
        place: &[u64],
    ) -> io::Result<()> {
        self.write_line(client, number, place, self.now_us())
    }

    /// Adds that a client's transaction has just failed, which may be in the database after all.
    pub(in crate::workload) fn add_failure(
        &self,
        client: usize,
        number: u64,
        code: &str,
    ) -> io::Result<()> {
        let is_plain = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
        let code: String = code.chars().filter(is_plain).take(LONGEST_CODE).collect();
        let at_us = self.now_us();
        self.append(&format!("{client} {number} !{code} {at_us}\n"))
    }

    /// Now, on the clock that every process of the machine has.
    fn now_us(&self) -> u64 {
        let now = clock_gettime(ClockId::Monotonic);
        // Neither is ever negative: the clock counts from the machine's start.
        let now_ns = now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs();
        now_ns / u64::from(self.dilation) / 1000
    }

    fn write_line(&self, client: usize, number: u64, place: &[u64], at_us: u64) -> io::Result<()> {
        let place: Vec<_> = place.iter().map(|part| format!(" {part}")).collect();
        let place = place.concat();
        self.append(&format!("{client} {number}{place} {at_us}\n"))
    }

    fn append(&self, line: &str) -> io::Result<()> {
        loop {
            return match (&self.file).write(line.as_bytes()) {
                Ok(written) if written == line.len() => Ok(()),
                Ok(written) => Err(io::Error::other(format!(
                    "only {written} of {} bytes were written",
                    line.len()
                ))),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_appended_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("acknowledged");
        let file = Acknowledgements::create(&path, 1).unwrap();
        let most = u64::MAX;
        file.write_line(0, 1, &[], 5).unwrap();
        file.write_line(usize::MAX, most, &[most; 3], most).unwrap();
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            format!("0 1 5\n{most} {most} {most} {most} {most} {most}\n")
        );
        let refusal = Acknowledgements::create(&path, 1).unwrap_err();
        assert_eq!(refusal.kind(), io::ErrorKind::AlreadyExists);
    }

    #[test]
    fn a_failure_has_its_code() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("told");
        let file = Acknowledgements::create(&path, 1).unwrap();
        file.add_failure(3, 7, "SQLITE_IOERR").unwrap();
        file.add_failure(3, 8, &"a b\n".repeat(99)).unwrap();
        let told = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<_> = told.lines().collect();
        assert!(lines[0].starts_with("3 7 !SQLITE_IOERR "), "{told}");
        assert!(
            lines[1].starts_with("3 8 !abab") && lines.len() == 2,
            "{told}"
        );
    }

    #[test]
    fn a_full_disk_is_told() {
        let full = Acknowledgements {
            file: OpenOptions::new().append(true).open("/dev/full").unwrap(),
            dilation: 1,
        };
        let error = full.add(0, 1, &[]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}
