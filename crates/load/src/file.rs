//! Files that a person names: regular files of a sane size, and nothing that could block or never
//! end.

use std::fs::{File, FileType, Metadata};
use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Opens a regular file; the error says what it is instead.
pub(crate) fn open(path: &Path) -> Result<File, String> {
    // A pipe without a writer would block.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(error) => {
            // The kernel's fence opens no directory, but says that it is one.
            path.metadata().map_or(Ok(()), |found| regular(&found))?;
            return Err(in_words(error));
        }
    };
    regular(&file.metadata().map_err(in_words)?)?;
    Ok(file)
}

fn regular(found: &Metadata) -> Result<(), String> {
    if found.is_file() {
        return Ok(());
    }
    let what = kind(found.file_type());
    Err(format!("it is {what}, not a regular file"))
}

/// The bytes of an open file, if they are no more than this.
pub(crate) fn bytes(file: File, most_bytes: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    file.take(most_bytes + 1)
        .read_to_end(&mut bytes)
        .map_err(in_words)?;
    if bytes.len() as u64 > most_bytes {
        return Err(format!("it is larger than {} KiB", most_bytes >> 10));
    }
    Ok(bytes)
}

/// The bytes of a file.
pub(crate) fn read(path: &Path, most_bytes: u64) -> Result<Vec<u8>, String> {
    bytes(open(path)?, most_bytes)
}

/// The text without the byte-order mark that some editors begin a file with.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

fn in_words(error: impl Into<std::io::Error>) -> String {
    error.into().to_string()
}

fn kind(found: FileType) -> &'static str {
    if found.is_dir() {
        "a directory"
    } else if found.is_fifo() {
        "a pipe"
    } else {
        "a device"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_of_a_sane_size_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            Mode::RUSR | Mode::WUSR,
            0,
        )
        .unwrap();
        let refusal = |path: &Path| read(path, 2048).unwrap_err();
        assert!(refusal(&pipe).contains("a pipe"));
        assert!(refusal(directory.path()).contains("a directory"));
        assert!(refusal(Path::new("/dev/zero")).contains("a device"));
        assert!(refusal(Path::new("/nowhere")).contains("No such file"));
        let file = directory.path().join("file");
        std::fs::write(&file, [b'x'; 2048]).unwrap();
        assert_eq!(read(&file, 2048).unwrap().len(), 2048);
        std::fs::write(&file, [b'x'; 2049]).unwrap();
        assert!(refusal(&file).contains("larger than 2 KiB"));
    }
}
