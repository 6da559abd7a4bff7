//! Changes of names, attributes and room, on behalf of the kernel.

use std::ffi::OsStr;

use fuser::{Errno, FileAttr, INodeNo, Request as From};
use rustix::fs::FallocateFlags;

use super::{Directory, State};
use crate::directory::{Kind, Number, Owner};

const PERMISSIONS: u32 = 0o7777;

impl Directory {
    /// One change of names or attributes, or one look at them.
    pub(super) fn change<T>(
        &self,
        act: impl FnOnce(&mut State) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        act(&mut self.state())
    }

    pub(super) fn make(
        &self,
        from: &From,
        (parent, name): (INodeNo, &OsStr),
        mode: u32,
        kind: Kind,
    ) -> Result<FileAttr, Errno> {
        let owner = Owner {
            uid: from.uid(),
            gid: from.gid(),
            permissions: permissions(mode),
        };
        self.change(|state| {
            let parent = state.numbers.number(parent)?;
            let moment = state.moment();
            let number = state.tree.make(parent, name, kind, owner, moment)?;
            state.introduce(number)
        })
    }

    pub(super) fn open_file(&self, node: INodeNo) -> Result<(), Errno> {
        self.change(|state| {
            let number = state.numbers.number(node)?;
            state.tree.open(number)
        })
    }

    pub(super) fn allocate(
        &self,
        state: &mut State,
        number: Number,
        (offset, length): (u64, u64),
        mode: FallocateFlags,
    ) -> Result<(), Errno> {
        let moment = state.moment();
        let keep_size = mode.contains(FallocateFlags::KEEP_SIZE);
        if mode.intersects(FallocateFlags::PUNCH_HOLE | FallocateFlags::ZERO_RANGE) {
            let cleared = state.tree.punch(number, offset, length, moment)?;
            self.clear(&cleared)?;
        }
        match mode - FallocateFlags::KEEP_SIZE {
            FallocateFlags::PUNCH_HOLE => Ok(()),
            allocate if allocate.is_empty() || allocate == FallocateFlags::ZERO_RANGE => state
                .tree
                .preallocate(number, offset, length, keep_size, moment),
            _ => Err(Errno::EOPNOTSUPP),
        }
    }
}

impl State {
    /// Reports a file to the kernel, which then holds a reference until it forgets the file.
    pub(super) fn introduce(&mut self, number: Number) -> Result<FileAttr, Errno> {
        let found = self.tree.look_up(number)?;
        Ok(self.numbers.outside(found))
    }
}

pub(super) fn permissions(mode: u32) -> u16 {
    u16::try_from(mode & PERMISSIONS).expect("twelve bits")
}
