//! The kernel's side: a file system with one file, `disk`, which has a disk's size and never changes it.

use std::ffi::OsStr;
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, InitFlags, KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory,
    ReplyEmpty, ReplyEntry, ReplyLseek, ReplyOpen, ReplyStatfs, ReplyWrite, Request as From,
    TimeOrNow, WriteFlags,
};
use parking_lot::Mutex;
use rustix::fs::FallocateFlags;

use super::answer::Answer;
use super::engine::Engine;
use crate::contents::{Contents, ContentsError};
use crate::request::{Kind, Request};

/// The file's name in the mount.
pub(super) const FILE_NAME: &str = "disk";

const FILE: INodeNo = INodeNo(2);
const SECTOR_BYTES: u64 = 512;
/// As `lseek(2)` has them on Linux.
const SEEK_DATA: i32 = 3;
const SEEK_HOLE: i32 = 4;
/// Requests that the kernel may have under way. Its default of 12 would cap the queue depth.
const REQUESTS_AT_MOST: u16 = 1024;
/// A mebibyte a request, as the block layer sends at most.
const REQUEST_BYTES_AT_MOST: u32 = 1 << 20;
/// Nothing here changes behind the kernel's back.
pub(super) const FOREVER: Duration = Duration::from_secs(86_400 * 365);

pub(super) struct OneFile {
    pub(super) engine: Arc<Engine>,
    pub(super) contents: Arc<Mutex<Contents>>,
    pub(super) size_bytes: u64,
}

impl OneFile {
    fn attributes(&self, inode: INodeNo) -> FileAttr {
        let root = inode == INodeNo::ROOT;
        FileAttr {
            ino: inode,
            size: if root { 0 } else { self.size_bytes },
            blocks: self.contents.lock().held_bytes() / SECTOR_BYTES,
            atime: SystemTime::UNIX_EPOCH,
            mtime: SystemTime::UNIX_EPOCH,
            ctime: SystemTime::UNIX_EPOCH,
            crtime: SystemTime::UNIX_EPOCH,
            kind: if root {
                FileType::Directory
            } else {
                FileType::RegularFile
            },
            perm: if root { 0o755 } else { 0o600 },
            nlink: if root { 2 } else { 1 },
            uid: rustix::process::getuid().as_raw(),
            gid: rustix::process::getgid().as_raw(),
            rdev: 0,
            blksize: 4096,
            flags: 0,
        }
    }

    /// Bytes of a read that lie within the disk.
    fn readable(&self, offset: u64, size: u32) -> usize {
        let left = self.size_bytes.saturating_sub(offset);
        usize::try_from(left.min(u64::from(size))).unwrap_or(0)
    }
}

/// The sectors that a range touches: models know whole ones only.
fn sectors(kind: Kind, offset: u64, length: u64) -> Request {
    let from = offset / SECTOR_BYTES * SECTOR_BYTES;
    let end = (offset + length).div_ceil(SECTOR_BYTES) * SECTOR_BYTES;
    Request {
        kind,
        offset_bytes: from,
        length_bytes: end - from,
    }
}

/// A full disk says so; what lies beneath failing is an I/O error, whatever its own name is.
pub(super) fn errno(error: &ContentsError) -> Errno {
    match error {
        ContentsError::Full { .. } | ContentsError::Outside { .. } => Errno::ENOSPC,
        ContentsError::Io(error) if error.kind() == io::ErrorKind::StorageFull => Errno::ENOSPC,
        _ => Errno::EIO,
    }
}

/// Many and large requests at a time.
pub(super) fn set_limits(kernel: &mut KernelConfig) -> io::Result<()> {
    for wanted in [
        InitFlags::FUSE_ASYNC_DIO,
        InitFlags::FUSE_ASYNC_READ,
        InitFlags::FUSE_MAX_PAGES,
    ] {
        // A kernel without one of them is slower, and the floor shows it.
        let _ = kernel.add_capabilities(wanted);
    }
    let refused = |_| io::Error::other("the kernel's limits on requests cannot be set");
    kernel
        .set_max_background(REQUESTS_AT_MOST)
        .map_err(refused)?;
    kernel
        .set_congestion_threshold(REQUESTS_AT_MOST)
        .map_err(refused)?;
    let refused = |_| io::Error::other("the kernel's limit on a request's bytes cannot be set");
    kernel
        .set_max_write(REQUEST_BYTES_AT_MOST)
        .map_err(refused)?;
    Ok(())
}

impl Filesystem for OneFile {
    fn init(&mut self, _from: &From, kernel: &mut KernelConfig) -> io::Result<()> {
        set_limits(kernel)
    }

    fn lookup(&self, _from: &From, _parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if name == FILE_NAME {
            reply.entry(&FOREVER, &self.attributes(FILE), Generation(0));
        } else {
            reply.error(Errno::ENOENT);
        }
    }

    fn getattr(&self, _from: &From, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&FOREVER, &self.attributes(inode));
    }

    /// Times and owners are not kept; the size cannot be changed.
    fn setattr(
        &self,
        _from: &From,
        inode: INodeNo,
        _mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<TimeOrNow>,
        _mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        _handle: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        if size.is_some_and(|size| size != self.size_bytes) {
            reply.error(Errno::EPERM);
        } else {
            reply.attr(&FOREVER, &self.attributes(inode));
        }
    }

    fn open(&self, _from: &From, _inode: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        reply.opened(
            FileHandle(0),
            FopenFlags::FOPEN_DIRECT_IO
                | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES
                | FopenFlags::FOPEN_NOFLUSH,
        );
    }

    fn read(
        &self,
        _from: &From,
        _inode: INodeNo,
        _handle: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let arrived = self.engine.now();
        let mut bytes = vec![0; self.readable(offset, size)];
        if bytes.is_empty() {
            reply.data(&[]);
            return;
        }
        let outcome = self.contents.lock().read(offset, &mut bytes);
        let request = sectors(Kind::Read, offset, bytes.len() as u64);
        let answer = Answer::Read(reply, bytes);
        match outcome {
            Ok(()) => self.engine.arrive(request, arrived, answer),
            Err(error) => self.engine.fail(Kind::Read, answer, errno(&error)),
        }
    }

    fn write(
        &self,
        _from: &From,
        _inode: INodeNo,
        _handle: FileHandle,
        offset: u64,
        bytes: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _lock: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let arrived = self.engine.now();
        let outcome = self.contents.lock().write(offset, bytes);
        let length = u32::try_from(bytes.len()).expect("a request is bounded");
        let answer = Answer::Written(reply, length);
        match outcome {
            Ok(()) => {
                let request = sectors(Kind::Write, offset, u64::from(length));
                self.engine.arrive(request, arrived, answer);
            }
            Err(error) => self.engine.fail(Kind::Write, answer, errno(&error)),
        }
    }

    fn fsync(
        &self,
        _from: &From,
        _inode: INodeNo,
        _handle: FileHandle,
        _datasync: bool,
        reply: ReplyEmpty,
    ) {
        let arrived = self.engine.now();
        self.engine
            .arrive(Request::flush(), arrived, Answer::Done(reply));
    }

    /// How a loop device discards and writes zeroes. Room cannot be reserved.
    fn fallocate(
        &self,
        _from: &From,
        _inode: INodeNo,
        _handle: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let arrived = self.engine.now();
        let mode = FallocateFlags::from_bits_retain(mode.cast_unsigned());
        if !mode.intersects(FallocateFlags::PUNCH_HOLE | FallocateFlags::ZERO_RANGE)
            || !mode.contains(FallocateFlags::KEEP_SIZE)
        {
            reply.error(Errno::EOPNOTSUPP);
            return;
        }
        let length = length.min(self.size_bytes.saturating_sub(offset));
        let outcome = self.contents.lock().discard(offset, length);
        let answer = Answer::Done(reply);
        match outcome {
            Ok(()) if length == 0 => answer.send(arrived),
            Ok(()) => {
                let request = sectors(Kind::Discard, offset, length);
                self.engine.arrive(request, arrived, answer);
            }
            Err(error) => self.engine.fail(Kind::Discard, answer, errno(&error)),
        }
    }

    /// Where there are bytes and where there are none, so that a thin disk is copied in proportion
    /// to what is on it. The kernel does the other kinds itself.
    fn lseek(
        &self,
        _from: &From,
        _inode: INodeNo,
        _handle: FileHandle,
        offset: i64,
        whence: i32,
        reply: ReplyLseek,
    ) {
        let from = match u64::try_from(offset) {
            Ok(from) if from < self.size_bytes => from,
            _ => return reply.error(Errno::ENXIO),
        };
        let contents = self.contents.lock();
        let found = match whence {
            SEEK_DATA => contents.next_data(from),
            SEEK_HOLE => Some(contents.next_hole(from)),
            _ => return reply.error(Errno::EINVAL),
        };
        match found.map(i64::try_from) {
            Some(Ok(found)) => reply.offset(found),
            _ => reply.error(Errno::ENXIO),
        }
    }

    fn readdir(
        &self,
        _from: &From,
        inode: INodeNo,
        _handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        if inode != INodeNo::ROOT {
            reply.error(Errno::ENOTDIR);
            return;
        }
        let entries = [
            (INodeNo::ROOT, FileType::Directory, "."),
            (INodeNo::ROOT, FileType::Directory, ".."),
            (FILE, FileType::RegularFile, FILE_NAME),
        ];
        let from = usize::try_from(offset).unwrap_or(entries.len());
        for (index, (inode, kind, name)) in entries.into_iter().enumerate().skip(from) {
            if reply.add(inode, index as u64 + 1, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _from: &From, _inode: INodeNo, reply: ReplyStatfs) {
        let blocks = self.size_bytes / SECTOR_BYTES;
        reply.statfs(blocks, 0, 0, 1, 0, 512, 255, 512);
    }
}
