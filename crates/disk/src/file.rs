//! Files that others wrote: regular ones, of a sane size.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Device files and schedules of faults are far smaller.
const TEXT_BYTES_AT_MOST: u64 = 1 << 20;

/// Opens a file to read it. A pipe or a device in its place is refused, and never waited for.
///
/// # Errors
///
/// The file cannot be read, or is no regular file.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    Ok(file)
}

/// Reads a text, without the byte-order mark that some editors put before it.
///
/// # Errors
///
/// As `open`, or if the file is too large or is not UTF-8.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    open(path)?
        .take(TEXT_BYTES_AT_MOST + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > TEXT_BYTES_AT_MOST {
        return Err(io::Error::other(format!(
            "it has more than {TEXT_BYTES_AT_MOST} bytes"
        )));
    }
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    let text = std::str::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8 text"))?;
    Ok(text.to_owned())
}
