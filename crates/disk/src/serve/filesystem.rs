//! The kernel's side: a file system with one file, `disk`, which has a disk's size and never changes it.

use std::ffi::OsStr;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, InitFlags, KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory,
    ReplyEmpty, ReplyEntry, ReplyLseek, ReplyOpen, ReplyStatfs, ReplyWrite, Request as From,
    TimeOrNow, WriteFlags,
};
use nix::libc::{SEEK_DATA, SEEK_HOLE};
use parking_lot::{Mutex, MutexGuard};
use rustix::fs::FallocateFlags;

use super::answer::Answer;
use super::befalling::{landing, spoil};
use super::engine::{Arrival, Engine};
use super::tracking::Tracking;
use crate::account::Ticket;
use crate::account::log::Record;
use crate::contents::{Contents, ContentsError};
use crate::faults::{Befalls, Delay};
use crate::request::{Kind, Nanos, Request, SECTOR_BYTES};

/// The file's name in the mount.
pub(super) const FILE_NAME: &str = "disk";

const FILE: INodeNo = INodeNo(2);
/// Requests that the kernel may have under way. Its default of 12 would cap the queue depth.
const REQUESTS_AT_MOST: u16 = 1024;
/// A mebibyte a request, as the block layer sends at most.
const REQUEST_BYTES_AT_MOST: u32 = 1 << 20;
/// While a request waits for the contents, it looks so often whether the power is cut.
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(1);
/// Nothing changes here without the kernel, so it may cache attributes for long.
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

    /// What befalls a request before its bytes are looked at.
    fn begin(&self, request: Request, arrived: Nanos) -> Result<Befalls, Stop> {
        if self.engine.is_cut(arrived) {
            return Err(Stop::Failed(Errno::EIO));
        }
        let befalls = self.engine.faults.befalls(request, true, arrived);
        befalls.map_err(Stop::Refused)
    }

    fn take(&self, (offset, bytes): (u64, &mut [u8]), request: Request, arrived: Nanos) -> Done {
        let befalls = self.begin(request, arrived)?;
        let contents = self.powered(arrived)?;
        let outcome = contents.read(offset, bytes);
        drop(contents);
        outcome.map_err(|error| Stop::Refused(error.into()))?;
        spoil(bytes, offset, &befalls);
        let tracking = &self.engine.tracking;
        let ticket = tracking.asked(
            Record::Read,
            Request::read(offset, bytes.len() as u64),
            arrived,
        );
        Ok((ticket, befalls.delay))
    }

    fn put(&self, (offset, bytes): (u64, &[u8]), request: Request, arrived: Nanos) -> Done {
        let befalls = self.begin(request, arrived)?;
        let bytes = landing(bytes, offset, request, &befalls);
        let ticket = self.change(arrived, |tracking, contents| {
            if bytes.is_empty() {
                return (None, Ok(()));
            }
            tracking.write(contents, offset, &bytes, arrived)
        })?;
        Ok((ticket, befalls.delay))
    }

    fn discard(&self, bytes: &Range<u64>, request: Request, arrived: Nanos) -> Done {
        let befalls = self.begin(request, arrived)?;
        let length = bytes.end - bytes.start;
        let ticket = self.change(arrived, |tracking, contents| {
            tracking.discard(contents, bytes.start, length, arrived)
        })?;
        Ok((ticket, befalls.delay))
    }

    fn change(
        &self,
        arrived: Nanos,
        change: impl FnOnce(&Tracking, &mut Contents) -> (Option<Ticket>, Result<(), ContentsError>),
    ) -> Result<Option<Ticket>, Stop> {
        let (tracking, mut contents) = (&self.engine.tracking, self.powered(arrived)?);
        let (ticket, outcome) = change(tracking, &mut contents);
        outcome.map_err(|error| Stop::Failed(error.into()))?;
        Ok(ticket)
    }

    /// Gives a request to the model after its work is done, or fails it.
    fn answer(&self, request: Request, arrived: Nanos, done: &Done, answer: Answer) {
        match done {
            &Ok((ticket, delay)) => {
                let arrival = Arrival {
                    request,
                    ticket,
                    arrived,
                    delay,
                };
                self.engine.arrive_with(arrival, answer);
            }
            Err(Stop::Failed(errno)) => self.engine.fail(request.kind, answer, *errno),
            Err(Stop::Refused(errno)) => self.engine.refuse(request, arrived, answer, *errno),
        }
    }

    /// The contents, for a request that arrived then; an error if a cut took it. A cut holds the
    /// contents until the surviving bytes are in place, and a request that waits meanwhile must not
    /// change anything afterwards.
    fn powered(&self, arrived: Nanos) -> Result<MutexGuard<'_, Contents>, Stop> {
        while !self.engine.is_cut(arrived) {
            if let Some(contents) = self.contents.try_lock_for(LOOK_AGAIN_AFTER)
                && !self.engine.is_cut(arrived)
            {
                return Ok(contents);
            }
        }
        Err(Stop::Failed(Errno::EIO))
    }

    /// Bytes of a read that lie within the disk.
    fn readable(&self, offset: u64, size: u32) -> usize {
        let left = self.size_bytes.saturating_sub(offset);
        usize::try_from(left.min(u64::from(size))).unwrap_or(0)
    }
}

/// Why a request is not done: it fails, or it is refused before it changes anything, which the account
/// notes.
enum Stop {
    Failed(Errno),
    Refused(Errno),
}

/// The place in the account of what was done, and what delays its answer.
type Done = Result<(Option<Ticket>, Delay), Stop>;

/// The sectors that a range touches: models know whole ones only.
fn sectors(kind: Kind, offset: u64, length: u64) -> Request {
    let from = offset / SECTOR_BYTES * SECTOR_BYTES;
    let end = (offset + length).div_ceil(SECTOR_BYTES) * SECTOR_BYTES;
    Request::new(kind, from, end - from)
}

impl std::convert::From<ContentsError> for Errno {
    /// A full disk says so; what lies beneath failing is an I/O error, whatever its own name is.
    fn from(error: ContentsError) -> Self {
        match error {
            ContentsError::Full { .. } | ContentsError::Outside { .. } => Self::ENOSPC,
            ContentsError::Io(error) if error.kind() == io::ErrorKind::StorageFull => Self::ENOSPC,
            _ => Self::EIO,
        }
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
    let refused = |_| io::Error::other("cannot set the kernel's limit on requests in progress");
    kernel
        .set_max_background(REQUESTS_AT_MOST)
        .map_err(refused)?;
    kernel
        .set_congestion_threshold(REQUESTS_AT_MOST)
        .map_err(refused)?;
    let refused = |_| io::Error::other("cannot set the kernel's limit on the size of a request");
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
        let request = sectors(Kind::Read, offset, bytes.len() as u64);
        let done = self.take((offset, &mut bytes), request, arrived);
        self.answer(request, arrived, &done, Answer::Read(reply, bytes));
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
        let length = u32::try_from(bytes.len()).expect("a request is bounded");
        let answer = Answer::Written(reply, length);
        let request = sectors(Kind::Write, offset, u64::from(length));
        let done = self.put((offset, bytes), request, arrived);
        self.answer(request, arrived, &done, answer);
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
        let answer = Answer::Done(reply);
        let request = Request::flush();
        if self.engine.is_cut(arrived) {
            return self.engine.fail(Kind::Flush, answer, Errno::EIO);
        }
        self.engine.arrive(request, Record::Flush, arrived, answer);
    }

    /// A loop device discards and writes zeroes in this way. Room cannot be reserved.
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
        let answer = Answer::Done(reply);
        if length == 0 {
            return answer.give(Ok(arrived));
        }
        let request = sectors(Kind::Discard, offset, length);
        let done = self.discard(&(offset..offset + length), request, arrived);
        self.answer(request, arrived, &done, answer);
    }

    /// Where there are data and holes, so that copying a thin disk takes time in proportion to its
    /// data. The kernel handles the other kinds of seek.
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

#[cfg(test)]
mod tests {
    use super::super::clock::Clock;
    use super::*;
    use crate::account::Medium;
    use crate::contents::Store;
    use crate::timing::Memory;

    /// A cut that is at work has the contents, and may have them for long.
    #[test]
    fn who_waits_for_the_contents_is_not_kept_waiting_by_a_cut() {
        let size_bytes = 1 << 20;
        let medium = Medium {
            size_bytes,
            sector_bytes: 512,
            survives: true,
        };
        let timing = Box::new(Memory::without_delay(size_bytes));
        let engine = Engine::new(Clock::start(1), timing, false, 0, medium);
        let contents = Contents::new(size_bytes, Store::memory(size_bytes), None);
        let file = OneFile {
            engine: Arc::new(engine),
            contents: Arc::new(Mutex::new(contents)),
            size_bytes,
        };
        assert!(file.powered(file.engine.now()).is_ok());
        let held = file.contents.lock();
        std::thread::scope(|threads| {
            let waiting = threads.spawn(|| file.powered(file.engine.now()).is_ok());
            std::thread::sleep(Duration::from_millis(5));
            file.engine.cut().expect("it was on");
            assert!(!waiting.join().expect("an end"), "it has them");
        });
        drop(held);
    }
}
