//! Modes of an open file, and what they mean for its requests.

use fuser::{FileHandle, FopenFlags, OpenFlags, WriteFlags};
use nix::libc::{O_DIRECT, O_DSYNC, O_SYNC};

use super::Directory;
use super::data::Durable;
use crate::directory::BLOCK_BYTES;
use crate::request::SECTOR_BYTES;

/// A file that was opened with `O_DIRECT`; all others are cached by the kernel.
const DIRECT: FileHandle = FileHandle(1);
const CACHED: FileHandle = FileHandle(0);

impl Directory {
    /// Opens with `O_DIRECT` bypass the kernel's cache, many requests at a time. A kernel that
    /// cannot keep both ways consistent sends them through its cache, one at a time.
    pub(super) fn opened_as(&self, flags: i32) -> (FileHandle, FopenFlags) {
        // The kernel's cached bytes of a file stay valid, because nobody else writes it.
        let keep = FopenFlags::FOPEN_KEEP_CACHE;
        if self.past_cache && is_direct(OpenFlags(flags)) {
            let direct = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
            (DIRECT, keep | direct)
        } else {
            (CACHED, keep)
        }
    }
}

/// The smallest transfer: a sector for direct requests, a block for those through the kernel's cache.
pub(super) fn unit_bytes(handle: FileHandle, flags: OpenFlags) -> u64 {
    // A file may be switched to `O_DIRECT` after it was opened.
    if handle == DIRECT || is_direct(flags) {
        SECTOR_BYTES
    } else {
        BLOCK_BYTES
    }
}

/// The kernel syncs after each write of a cached file that asks for it, but not of a direct one.
pub(super) fn written_as(
    handle: FileHandle,
    flags: OpenFlags,
    write_flags: WriteFlags,
) -> (u64, Option<Durable>) {
    match unit_bytes(handle, flags) {
        _ if write_flags.contains(WriteFlags::FUSE_WRITE_CACHE) => (BLOCK_BYTES, None),
        unit_bytes if handle == DIRECT => (unit_bytes, durable(flags)),
        unit_bytes => (unit_bytes, None),
    }
}

fn is_direct(flags: OpenFlags) -> bool {
    flags.0 & O_DIRECT != 0
}

/// What each write of a file must reach; `O_SYNC` contains the bit of `O_DSYNC`.
fn durable(flags: OpenFlags) -> Option<Durable> {
    match flags.0 & O_SYNC {
        O_SYNC => Some(Durable::All),
        O_DSYNC => Some(Durable::Data),
        _ => None,
    }
}
