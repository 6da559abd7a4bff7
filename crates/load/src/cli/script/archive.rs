//! Archives of `pg_dump`: `pg_restore` makes SQL of them, in a fence of its own.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};

use rustix::fs::{MemfdFlags, memfd_create};

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

const COMPLAINT_BYTES: u64 = 64 << 10;

/// Whether this is an archive, as a file or as a folder.
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
    let start = || Restored::start(&program, archive).map(|text| Box::new(text) as Box<dyn Read>);
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
    /// Its complaints, in memory: a pipe that nobody reads would stop it.
    complaints: File,
    last: Vec<u8>,
}

impl Restored {
    fn start(program: &Path, archive: &Path) -> io::Result<Self> {
        let own = program.parent().and_then(Path::parent);
        let own = own.map(|home| home.join("lib"));
        let read = LIBRARIES.iter().map(Path::new).chain(own.as_deref());
        let read = read
            .chain([archive])
            .flat_map(|place| [OsStr::new("--read"), place.as_os_str()]);
        let complaints = File::from(memfd_create("complaints", MemfdFlags::CLOEXEC)?);
        let mut restore = Command::new("/proc/self/exe")
            // It could say what it finds there, such as a password.
            .env_clear()
            .arg("fence")
            .args(read)
            .arg("--")
            .arg(program)
            .args([
                OsStr::new("--file=-"),
                OsStr::new("--"),
                archive.as_os_str(),
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(complaints.try_clone()?)
            .spawn()?;
        Ok(Self {
            out: restore.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?,
            complaints,
            last: Vec::new(),
        })
    }

    /// Why it broke off, in its own last words.
    fn why(&mut self) -> io::Error {
        let mut said = Vec::new();
        // What cannot be read is not said.
        let _ = self.complaints.rewind();
        let _ = (&self.complaints)
            .take(COMPLAINT_BYTES)
            .read_to_end(&mut said);
        let said = String::from_utf8_lossy(&said);
        let last = said.lines().last().unwrap_or_default();
        let newer = "an archive of a newer pg_dump needs its pg_restore first on PATH";
        io::Error::other(format!("pg_restore broke off: {last} ({newer})"))
    }
}

impl Read for Restored {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.out.read(buffer)?;
        if count == 0 && !buffer.is_empty() {
            let is_whole = self.last.windows(WHOLE.len()).any(|words| words == WHOLE);
            return if is_whole { Ok(0) } else { Err(self.why()) };
        }
        self.last.extend_from_slice(&buffer[..count]);
        self.last.drain(..self.last.len().saturating_sub(END_BYTES));
        Ok(count)
    }
}

/// The first program on PATH, or Debian's newest.
fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    let on_path = folders.map(|folder| folder.join(PROGRAM));
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
        .filter_map(|program| program.canonicalize().ok())
        .find(|program| begins_with(program, ELF))
}

fn begins_with(path: &Path, bytes: &[u8]) -> bool {
    let mut found = vec![0; bytes.len()];
    let read = crate::file::open(path).map(|mut file| file.read_exact(&mut found));
    matches!(read, Ok(Ok(()))) && found == bytes
}
