//! The kernel's requests, in its own words; each is carried out elsewhere.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, Generation, INodeNo,
    InitFlags, KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request as From,
    TimeOrNow, WriteFlags,
};
use rustix::fs::FallocateFlags;

use super::Directory;
use super::changes::permissions;
use super::data::Durable;
use super::opening::{unit_bytes, written_as};
use crate::directory::{
    self, Attributes, BLOCK_BYTES_U32, Entry, File, Kind, NAME_BYTES_MAX, Taken,
};
use crate::serve::answer::Answer;
use crate::serve::filesystem::{FOREVER, set_limits};

/// The kernel knows a file by its number alone, which is never given to another.
const GENERATION: Generation = Generation(0);
const FILE_TYPE: u32 = 0o170_000;

impl Filesystem for Directory {
    fn init(&mut self, _from: &From, kernel: &mut KernelConfig) -> io::Result<()> {
        for wanted in [
            // Written bytes stay in the kernel's cache until they are synced, as on any file
            // system.
            InitFlags::FUSE_WRITEBACK_CACHE,
            InitFlags::FUSE_PARALLEL_DIROPS,
            InitFlags::FUSE_CACHE_SYMLINKS,
        ] {
            // Without one of them the kernel asks more often.
            let _ = kernel.add_capabilities(wanted);
        }
        // With it, the kernel keeps a file that is opened both ways the same on both.
        self.past_cache = kernel
            .add_capabilities(InitFlags::FUSE_DIRECT_IO_ALLOW_MMAP)
            .is_ok();
        set_limits(kernel)
    }

    fn lookup(&self, _from: &From, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        answer_entry(
            reply,
            self.change(|state| {
                let parent = state.numbers.number(parent)?;
                let number = state.tree.find(parent, name)?;
                state.introduce(number)
            }),
        );
    }

    fn forget(&self, _from: &From, node: INodeNo, times: u64) {
        let mut state = self.state();
        if let Ok(number) = state.numbers.number(node) {
            let freed = state.tree.forget(number, times);
            self.free(&mut state, &freed);
        }
    }

    fn getattr(&self, _from: &From, node: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        answer_attributes(
            reply,
            self.change(|state| {
                let number = state.numbers.number(node)?;
                state.attributes(number)
            }),
        );
    }

    fn setattr(
        &self,
        _from: &From,
        node: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        accessed: Option<TimeOrNow>,
        modified: Option<TimeOrNow>,
        attributes_changed: Option<SystemTime>,
        _handle: Option<FileHandle>,
        _created: Option<SystemTime>,
        _changed: Option<SystemTime>,
        _saved: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let wanted = Attributes {
            permissions: mode.map(permissions),
            uid,
            gid,
            accessed,
            modified,
            changed: attributes_changed,
        };
        answer_attributes(
            reply,
            self.change(|state| {
                let number = state.numbers.number(node)?;
                let moment = state.moment();
                if let Some(size) = size {
                    let cleared = state.tree.truncate(number, size, moment)?;
                    self.clear(&cleared)?;
                }
                state.tree.set_attributes(number, wanted, moment)?;
                state.attributes(number)
            }),
        );
    }

    fn readlink(&self, _from: &From, node: INodeNo, reply: ReplyData) {
        let state = self.state();
        let inode = state
            .numbers
            .number(node)
            .and_then(|number| state.tree.inode(number));
        match inode.map(|inode| &inode.kind) {
            Ok(Kind::Link(target)) => reply.data(target.as_os_str().as_encoded_bytes()),
            Ok(_) => reply.error(Errno::EINVAL),
            Err(error) => reply.error(error),
        }
    }

    fn mknod(
        &self,
        from: &From,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        _device: u32,
        reply: ReplyEntry,
    ) {
        let kind = match mode & FILE_TYPE {
            0o100_000 | 0 => Kind::File(File::default()),
            0o140_000 => Kind::Special(FileType::Socket),
            0o010_000 => Kind::Special(FileType::NamedPipe),
            // The mount knows no devices.
            _ => return reply.error(Errno::EPERM),
        };
        answer_entry(reply, self.make(from, (parent, name), mode, kind));
    }

    fn mkdir(
        &self,
        from: &From,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        reply: ReplyEntry,
    ) {
        let kind = Kind::Directory(directory::Directory::new(directory::ROOT));
        answer_entry(reply, self.make(from, (parent, name), mode, kind));
    }

    fn symlink(
        &self,
        from: &From,
        parent: INodeNo,
        name: &OsStr,
        target: &Path,
        reply: ReplyEntry,
    ) {
        let kind = Kind::Link(target.to_owned());
        answer_entry(reply, self.make(from, (parent, name), 0o777, kind));
    }

    fn link(&self, _from: &From, node: INodeNo, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        answer_entry(
            reply,
            self.change(|state| {
                let number = state.numbers.number(node)?;
                let parent = state.numbers.number(parent)?;
                let moment = state.moment();
                state.tree.link(number, parent, name, moment)?;
                state.introduce(number)
            }),
        );
    }

    fn unlink(&self, _from: &From, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        answer_done(
            reply,
            self.change(|state| {
                let parent = state.numbers.number(parent)?;
                let moment = state.moment();
                let freed = state.tree.unlink(parent, name, moment)?;
                self.free(state, &freed);
                Ok(())
            }),
        );
    }

    fn rmdir(&self, _from: &From, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        answer_done(
            reply,
            self.change(|state| {
                let parent = state.numbers.number(parent)?;
                let moment = state.moment();
                state.tree.remove_directory(parent, name, moment)
            }),
        );
    }

    fn rename(
        &self,
        _from: &From,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let taken = match flags {
            _ if flags.is_empty() => Taken::Replace,
            RenameFlags::RENAME_NOREPLACE => Taken::Refuse,
            _ => return reply.error(Errno::EINVAL),
        };
        answer_done(
            reply,
            self.change(|state| {
                let parent = state.numbers.number(parent)?;
                let new_parent = state.numbers.number(new_parent)?;
                let moment = state.moment();
                let (from, to) = ((parent, name), (new_parent, new_name));
                let freed = state.tree.rename(from, to, taken, moment)?;
                self.free(state, &freed);
                Ok(())
            }),
        );
    }

    fn create(
        &self,
        from: &From,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let kind = Kind::File(File::default());
        let found = self.make(from, (parent, name), mode, kind);
        let opened = found.and_then(|found| self.open_file(found.ino).map(|()| found));
        match opened {
            Ok(found) => {
                let (handle, how) = self.opened_as(flags);
                reply.created(&FOREVER, &found, GENERATION, handle, how);
            }
            Err(error) => reply.error(error),
        }
    }

    fn open(&self, _from: &From, node: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        match self.open_file(node) {
            Ok(()) => {
                let (handle, how) = self.opened_as(flags.0);
                reply.opened(handle, how);
            }
            Err(error) => reply.error(error),
        }
    }

    fn release(
        &self,
        _from: &From,
        node: INodeNo,
        _handle: FileHandle,
        _flags: OpenFlags,
        _lock: Option<LockOwner>,
        _flush: bool,
        reply: ReplyEmpty,
    ) {
        answer_done(
            reply,
            self.change(|state| {
                let number = state.numbers.number(node)?;
                let freed = state.tree.close(number);
                self.free(state, &freed);
                Ok(())
            }),
        );
        self.names.closed.notify_all();
    }

    fn read(
        &self,
        _from: &From,
        node: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        flags: OpenFlags,
        _lock: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let number = self.state().numbers.number(node);
        self.read_file(number, (offset, size), unit_bytes(handle, flags), reply);
    }

    fn write(
        &self,
        _from: &From,
        node: INodeNo,
        handle: FileHandle,
        offset: u64,
        bytes: &[u8],
        write_flags: WriteFlags,
        flags: OpenFlags,
        _lock: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let number = self.state().numbers.number(node);
        let (unit_bytes, durable) = written_as(handle, flags, write_flags);
        self.write_file(number, (offset, bytes), unit_bytes, durable, reply);
    }

    fn fsync(
        &self,
        _from: &From,
        node: INodeNo,
        _handle: FileHandle,
        data_only: bool,
        reply: ReplyEmpty,
    ) {
        let arrived = self.engine.now();
        let number = self.state().numbers.number(node);
        let durable = if data_only {
            Durable::Data
        } else {
            Durable::All
        };
        self.sync(number, durable, arrived, Answer::Done(reply));
    }

    fn fsyncdir(
        &self,
        from: &From,
        node: INodeNo,
        handle: FileHandle,
        data_only: bool,
        reply: ReplyEmpty,
    ) {
        self.fsync(from, node, handle, data_only, reply);
    }

    fn fallocate(
        &self,
        _from: &From,
        node: INodeNo,
        _handle: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let mode = FallocateFlags::from_bits_retain(mode.cast_unsigned());
        answer_done(
            reply,
            self.change(|state| {
                let number = state.numbers.number(node)?;
                self.allocate(state, number, (offset, length), mode)
            }),
        );
    }

    fn readdir(
        &self,
        _from: &From,
        node: INodeNo,
        _handle: FileHandle,
        place: u64,
        mut reply: ReplyDirectory,
    ) {
        let listed = self.change(|state| {
            let number = state.numbers.number(node)?;
            for Entry {
                place,
                name,
                number,
            } in state.tree.directory(number)?.list(number, place)
            {
                let kind = state.tree.inode(number)?.file_type();
                if reply.add(state.numbers.node(number), place, kind, name) {
                    break;
                }
            }
            Ok(())
        });
        match listed {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(error),
        }
    }

    fn statfs(&self, _from: &From, _node: INodeNo, reply: ReplyStatfs) {
        let state = self.state();
        let free = state.tree.free_blocks();
        // Numbers of files never run out.
        let (files, free_files) = (state.tree.files(), u64::from(u32::MAX));
        reply.statfs(
            state.blocks,
            free,
            free,
            files + free_files,
            free_files,
            BLOCK_BYTES_U32,
            NAME_BYTES_MAX,
            BLOCK_BYTES_U32,
        );
    }
}

fn answer_entry(reply: ReplyEntry, outcome: Result<FileAttr, Errno>) {
    match outcome {
        Ok(found) => reply.entry(&FOREVER, &found, GENERATION),
        Err(error) => reply.error(error),
    }
}

fn answer_attributes(reply: ReplyAttr, outcome: Result<FileAttr, Errno>) {
    match outcome {
        Ok(found) => reply.attr(&FOREVER, &found),
        Err(error) => reply.error(error),
    }
}

fn answer_done(reply: ReplyEmpty, outcome: Result<(), Errno>) {
    match outcome {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(error),
    }
}
