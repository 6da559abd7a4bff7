//! Reads a recording: its contents at once, its sessions a block at a time.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use super::{Contents, MARK, Recorded, is_recording};

/// What stands behind the contents.
const TAIL_BYTES: usize = 8 + MARK.len();
/// The most that contents and blocks may have, packed and unpacked: a file of ours has less.
const MOST_CONTENTS_BYTES: usize = 256 << 20;
const MOST_BLOCK_BYTES: usize = (128 << 20) + (64 << 10);

/// Why a file is no recording.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecordingError {
    #[error("{0}")]
    File(String),
    #[error("it is not a load that `diskproof-load import` has written, or not the whole of it")]
    Foreign,
}

/// An open recording.
#[derive(Debug)]
pub(crate) struct Recording {
    file: File,
    pub(crate) contents: Contents,
}

impl Recording {
    pub(crate) fn open(path: &Path) -> Result<Self, RecordingError> {
        let file = crate::file::open(path).map_err(RecordingError::File)?;
        let told = |error: std::io::Error| RecordingError::File(error.to_string());
        let bytes = file.metadata().map_err(told)?.len();
        let foreign = || RecordingError::Foreign;
        let tail_at = bytes.checked_sub(TAIL_BYTES as u64).ok_or_else(foreign)?;
        let mut tail = [0; TAIL_BYTES];
        file.read_exact_at(&mut tail, tail_at).map_err(told)?;
        let (length, mark) = tail.split_at(8);
        if !is_recording(mark) {
            return Err(RecordingError::Foreign);
        }
        let length = u64::from_le_bytes(length.try_into().map_err(|_| foreign())?);
        let at = tail_at.checked_sub(length).ok_or_else(foreign)?;
        let length = usize::try_from(length).map_err(|_| foreign())?;
        if length > MOST_CONTENTS_BYTES {
            return Err(RecordingError::Foreign);
        }
        let mut text = vec![0; length];
        file.read_exact_at(&mut text, at).map_err(told)?;
        let contents: Contents = serde_json::from_slice(&text).map_err(|_| foreign())?;
        let is_sound = !contents.databases.is_empty();
        is_sound
            .then_some(Self { file, contents })
            .ok_or_else(foreign)
    }
}

/// The bytes of a packed part of the file.
fn unpacked(file: &File, at: u64, length: u32) -> Option<Vec<u8>> {
    let length = usize::try_from(length)
        .ok()
        .filter(|&length| length <= lz4_flex::block::get_maximum_output_size(MOST_BLOCK_BYTES))?;
    let mut packed = vec![0; length];
    file.read_exact_at(&mut packed, at).ok()?;
    let (plain_bytes, _) = lz4_flex::block::uncompressed_size(&packed).ok()?;
    (plain_bytes <= MOST_BLOCK_BYTES)
        .then(|| lz4_flex::decompress_size_prepended(&packed).ok())
        .flatten()
}

/// Reads the statements of one session, one after the other.
#[derive(Debug)]
pub(crate) struct SessionReader {
    recording: Arc<Recording>,
    session: usize,
    next_block: usize,
    block: Vec<u8>,
    at: usize,
}

impl SessionReader {
    pub(crate) fn new(recording: Arc<Recording>, session: usize) -> Self {
        Self {
            recording,
            session,
            next_block: 0,
            block: Vec::new(),
            at: 0,
        }
    }

    /// The next statement; `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<Recorded>, RecordingError> {
        let contents = &self.recording.contents;
        while self.at == self.block.len() {
            let blocks = &contents.sessions[self.session].blocks;
            let Some(&(at, length)) = blocks.get(self.next_block) else {
                return Ok(None);
            };
            self.block =
                unpacked(&self.recording.file, at, length).ok_or(RecordingError::Foreign)?;
            self.next_block += 1;
            self.at = 0;
        }
        let foreign = |_| RecordingError::Foreign;
        let (mut recorded, mut rest) =
            postcard::take_from_bytes::<Recorded>(&self.block[self.at..]).map_err(foreign)?;
        if contents.has_bound {
            (recorded.bound, rest) = postcard::take_from_bytes(rest).map_err(foreign)?;
        }
        if contents.has_fresh {
            (recorded.is_fresh, rest) = postcard::take_from_bytes(rest).map_err(foreign)?;
        }
        self.at = self.block.len() - rest.len();
        let is_sound = (recorded.fingerprint as usize) < contents.fingerprints.len()
            && (recorded.database as usize) < contents.databases.len();
        is_sound
            .then_some(Some(recorded))
            .ok_or(RecordingError::Foreign)
    }
}
