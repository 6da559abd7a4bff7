//! Keeps blocks in memory or in a sparse file, and limits their number.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::block::{BLOCK_BYTES, Block, Bytes};
use super::{ContentsError, Limit};

/// Gives out blocks up to a limit; a block returns by being dropped.
pub struct Store {
    ledger: Arc<Ledger>,
    file: Option<Arc<BlockFile>>,
}

/// Number of blocks held. Each block counts itself, so the number is right whoever drops it.
struct Ledger {
    held_bytes: AtomicU64,
    limit_bytes: u64,
}

/// The room of a block, which returns when this is dropped.
pub(super) struct Room(Arc<Ledger>);

impl Drop for Room {
    fn drop(&mut self) {
        self.0
            .held_bytes
            .fetch_sub(BLOCK_BYTES as u64, Ordering::Relaxed);
    }
}

impl Store {
    /// Blocks in memory.
    pub fn memory(limit_bytes: u64) -> Self {
        Self::new(limit_bytes, None)
    }

    /// Blocks in a new sparse file, which is scratch space: in no order, and without a name as soon as
    /// it is made, so that it goes with the program however that ends.
    ///
    /// # Errors
    ///
    /// If the file is there already or cannot be made.
    pub fn file(path: &Path, limit_bytes: u64) -> io::Result<Self> {
        Ok(Self::new(
            limit_bytes,
            Some(Arc::new(BlockFile::make(path)?)),
        ))
    }

    fn new(limit_bytes: u64, file: Option<Arc<BlockFile>>) -> Self {
        Self {
            ledger: Arc::new(Ledger {
                held_bytes: AtomicU64::new(0),
                limit_bytes,
            }),
            file,
        }
    }

    pub(super) fn held_bytes(&self) -> u64 {
        self.ledger.held_bytes.load(Ordering::Relaxed)
    }

    pub(super) fn limit_bytes(&self) -> u64 {
        self.ledger.limit_bytes
    }

    #[cfg(test)]
    pub(super) fn file_bytes(&self) -> Option<u64> {
        let file = self.file.as_ref()?;
        Some(file.file.metadata().expect("it is open").len())
    }

    /// A new block with these bytes, if there is room for it or the limit yields.
    pub(super) fn hold(
        &self,
        bytes: &[u8; BLOCK_BYTES],
        limit: Limit,
    ) -> Result<Arc<Block>, ContentsError> {
        let (taken, limit_bytes) = (BLOCK_BYTES as u64, self.ledger.limit_bytes);
        let held_bytes = self.ledger.held_bytes.fetch_add(taken, Ordering::Relaxed) + taken;
        let room = Room(self.ledger.clone());
        if limit == Limit::Holds && held_bytes > limit_bytes {
            return Err(ContentsError::Full { limit_bytes });
        }
        let bytes = match &self.file {
            None => Bytes::Memory(Box::new(*bytes)),
            Some(file) => {
                let mut slot = BlockFile::slot(file);
                slot.write(0, bytes)?;
                Bytes::File(slot)
            }
        };
        Ok(Arc::new(Block { bytes, _room: room }))
    }
}

/// A block's place in the file, which returns when this is dropped.
pub(super) struct Slot {
    number: u64,
    file: Arc<BlockFile>,
}

impl Slot {
    pub(super) fn read(&self, from: usize, piece: &mut [u8]) -> io::Result<()> {
        self.file.file.read_exact_at(piece, self.offset_bytes(from))
    }

    pub(super) fn write(&mut self, from: usize, piece: &[u8]) -> io::Result<()> {
        self.file.file.write_all_at(piece, self.offset_bytes(from))
    }

    fn offset_bytes(&self, from: usize) -> u64 {
        self.number * BLOCK_BYTES as u64 + from as u64
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.file.slots.lock().free.push(self.number);
    }
}

/// A file of slots, each the size of a block. A free slot is used again rather than punched out:
/// one system call per slot made discards take minutes. So the file stays as large as the most that
/// was ever held, which the limit bounds, and goes with the program.
struct BlockFile {
    file: File,
    slots: Mutex<Slots>,
}

#[derive(Default)]
struct Slots {
    free: Vec<u64>,
    next: u64,
}

impl BlockFile {
    fn make(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)?;
        std::fs::remove_file(path)?;
        Ok(Self {
            file,
            slots: Mutex::default(),
        })
    }

    fn slot(file: &Arc<Self>) -> Slot {
        let mut slots = file.slots.lock();
        let number = slots.free.pop().unwrap_or_else(|| {
            slots.next += 1;
            slots.next - 1
        });
        Slot {
            number,
            file: file.clone(),
        }
    }
}
