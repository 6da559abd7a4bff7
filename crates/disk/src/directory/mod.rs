//! The virtual disk as a directory: a file system of its own, for users who may mount FUSE but have
//! no loop device.
//!
//! File data lies in extents on the disk's address space, so every transfer of it goes through the
//! timing model at an address that a file system would have chosen. Names, attributes and extent
//! lists live in memory and cost no time; what a file system would write of them is one block in a
//! journal when a file is synced (`journal`). There is nothing to recover: when the program ends,
//! the files are gone.
//!
//! - `space`: which blocks of the disk are free, and where the next ones should come from.
//! - `extents`: which blocks of the disk a file has.
//! - `inode`, `tree`: names and attributes; the pure rules of a POSIX file system.
//! - `file`: what a read, a write, a truncation mean in bytes of the disk.
//! - `journal`: when a sync has to write, and who waits for it.

mod extents;
mod file;
mod inode;
mod journal;
mod lifetime;
mod rename;
mod space;
mod tree;

#[cfg(test)]
mod tests;

pub(crate) use file::{Cleared, Piece};
pub(crate) use inode::{Directory, Entry, File, Kind, Number, Owner};
pub(crate) use journal::{Journal, Sync};
pub(crate) use rename::Taken;
pub(crate) use space::{Run, Space};
pub(crate) use tree::{Attributes, Moment, NAME_BYTES_MAX, ROOT, Tree};

/// The unit of allocation, as ext4 and a page of the machine have it.
pub(crate) const BLOCK_BYTES: u64 = 4096;
pub(crate) const BLOCK_BYTES_U32: u32 = 4096;
