//! Archives of `pg_dump`: pg_restore makes SQL of them, in a fence of its own.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};

use super::Stop;
use crate::engine::Failure;
use crate::workload::script::Text;

/// The beginnings of the custom and the tar format; a folder is one if it has this table of contents.
const CUSTOM: &[u8] = b"PGDMP";
const CONTENTS: &str = "toc.dat";

const PROGRAM: &str = "pg_restore";

/// Where Debian keeps the programs of each version; on PATH there is a script that chooses one.
const DEBIAN: &str = "/usr/lib/postgresql";

const ELF: &[u8] = b"\x7fELF";

/// What its libraries read.
const LIBRARIES: [&str; 5] = [
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/local/lib",
    "/etc/ld.so.cache",
];

/// The last words of a whole dump; a line with a key of about 80 bytes may follow (`\unrestrict`).
const WHOLE: &[u8] = b"PostgreSQL database dump complete";
const END_BYTES: usize = 512;

pub(super) fn is_archive(path: &Path) -> bool {
    path.join(CONTENTS).is_file()
        || begins_with(path, CUSTOM)
        || begins_with(path, CONTENTS.as_bytes())
}

/// The SQL of an archive. Its programs are started here, before the fence around this process closes.
pub(super) fn restored(archive: &Path) -> Result<Text, Stop> {
    let program = program().ok_or_else(|| {
        Stop::Arguments(format!(
            "{}: to read an archive of pg_dump, pg_restore must be on PATH or in {DEBIAN}; it comes with \
             PostgreSQL",
            archive.display()
        ))
    })?;
    let start = || -> io::Result<Box<dyn Read>> {
        let home = program.parent().and_then(Path::parent);
        let read = LIBRARIES.iter().map(Path::new).chain(home).chain([archive]);
        let read = read.flat_map(|place| [OsStr::new("--read"), place.as_os_str()]);
        let mut restore = Command::new("/proc/self/exe")
            .arg("fence")
            .args(read)
            .arg("--")
            .args([
                program.as_os_str(),
                OsStr::new("--file=-"),
                archive.as_os_str(),
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let out = restore.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Box::new(Restored {
            out,
            last: Vec::new(),
        }))
    };
    let streams = start().and_then(|second| Ok(vec![second, start()?]));
    streams.map(Text::Streams).map_err(|error| {
        Stop::Failed(Failure::internal(format!(
            "starting {}: {error}",
            program.display()
        )))
    })
}

/// What it writes, which is whole only with its last words: in the fence, nobody may wait for it.
struct Restored {
    out: ChildStdout,
    last: Vec<u8>,
}

impl Read for Restored {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.out.read(buffer)?;
        if count == 0 && !buffer.is_empty() {
            let is_whole = self.last.windows(WHOLE.len()).any(|words| words == WHOLE);
            let broken = "pg_restore broke off: is the archive whole, and not of a newer version?";
            return if is_whole {
                Ok(0)
            } else {
                Err(io::Error::other(broken))
            };
        }
        self.last.extend_from_slice(&buffer[..count]);
        self.last.drain(..self.last.len().saturating_sub(END_BYTES));
        Ok(count)
    }
}

/// The first program on PATH, or Debian's newest.
fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|folder| folder.join(PROGRAM));
    let mut versions: Vec<_> = fs::read_dir(DEBIAN)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
        .collect();
    versions.sort_unstable_by(|a, b| b.cmp(a));
    let debian = versions
        .iter()
        .map(|version| Path::new(DEBIAN).join(format!("{version}/bin/{PROGRAM}")));
    on_path
        .chain(debian)
        .find(|program| begins_with(program, ELF))
}

fn begins_with(path: &Path, bytes: &[u8]) -> bool {
    let mut found = vec![0; bytes.len()];
    let read = crate::file::open(path).map(|mut file| file.read_exact(&mut found));
    matches!(read, Ok(Ok(()))) && found == bytes
}
