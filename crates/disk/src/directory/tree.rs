//! Names and what they lead to: the rules of a POSIX file system, without bytes and without a clock.
//!
//! The kernel has checked permissions, and that a name is neither `.` nor `..`.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::time::SystemTime;

use fuser::{Errno, FileAttr, TimeOrNow};

use super::inode::{Directory, Inode, Kind, Number, Owner};
use super::journal::{Changed, Transaction};
use super::space::{Run, Space};

pub(crate) type Result<T> = std::result::Result<T, Errno>;

/// The number of the uppermost directory.
pub(crate) const ROOT: Number = 1;
/// The longest name, as in every file system of Linux.
pub(crate) const NAME_BYTES_MAX: u32 = 255;
/// New files of a directory with this bit get its group.
const SET_GROUP: u16 = 0o2000;
/// Links that one file may have: as ext4.
const LINKS_MAX: u32 = 65_000;

/// A whole file system but for its bytes. Cloning it is a snapshot.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub(super) inodes: HashMap<Number, Inode>,
    pub(super) space: Space,
    /// Where the last file's blocks ended and the next file's begin.
    pub(super) last_block: u64,
    next_number: Number,
    /// Open handles of all files together.
    pub(super) open_files: u64,
}

/// The moment of a change, by the clock and by the journal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) now: SystemTime,
    pub(crate) transaction: Transaction,
}

/// Attributes to be set; what is `None` stays.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Attributes {
    pub(crate) permissions: Option<u16>,
    pub(crate) uid: Option<u32>,
    pub(crate) gid: Option<u32>,
    pub(crate) accessed: Option<TimeOrNow>,
    pub(crate) modified: Option<TimeOrNow>,
    /// When the attributes themselves were changed.
    pub(crate) changed: Option<SystemTime>,
}

impl Tree {
    /// An empty file system on `space`, whose uppermost directory is `owner`'s.
    pub(crate) fn new(space: Space, owner: Owner, now: SystemTime) -> Self {
        let root = Kind::Directory(Directory::new(ROOT));
        let root = Inode::new(root, owner, now, Changed::default());
        Self {
            inodes: HashMap::from([(ROOT, root)]),
            space,
            last_block: 0,
            next_number: ROOT + 1,
            open_files: 0,
        }
    }

    pub(crate) fn inode(&self, number: Number) -> Result<&Inode> {
        self.inodes.get(&number).ok_or(Errno::ESTALE)
    }

    pub(super) fn inode_mut(&mut self, number: Number) -> Result<&mut Inode> {
        self.inodes.get_mut(&number).ok_or(Errno::ESTALE)
    }

    pub(crate) fn directory(&self, number: Number) -> Result<&Directory> {
        match &self.inode(number)?.kind {
            Kind::Directory(directory) => Ok(directory),
            _ => Err(Errno::ENOTDIR),
        }
    }

    fn directory_mut(&mut self, number: Number) -> Result<&mut Directory> {
        match &mut self.inode_mut(number)?.kind {
            Kind::Directory(directory) => Ok(directory),
            _ => Err(Errno::ENOTDIR),
        }
    }

    pub(crate) fn attributes(&self, number: Number) -> Result<FileAttr> {
        Ok(self.inode(number)?.attributes(number))
    }

    pub(crate) fn find(&self, parent: Number, name: &OsStr) -> Result<Number> {
        if name.len() > NAME_BYTES_MAX as usize {
            return Err(Errno::ENAMETOOLONG);
        }
        self.directory(parent)?.get(name).ok_or(Errno::ENOENT)
    }

    /// Makes a name and what it leads to; a directory where `kind` is one.
    pub(crate) fn make(
        &mut self,
        parent: Number,
        name: &OsStr,
        kind: Kind,
        mut owner: Owner,
        moment: Moment,
    ) -> Result<Number> {
        self.must_be_free(parent, name)?;
        let above = self.inode(parent)?;
        let is_directory = matches!(kind, Kind::Directory(_));
        if is_directory && above.links >= LINKS_MAX {
            return Err(Errno::EMLINK);
        }
        if above.owner.permissions & SET_GROUP != 0 {
            owner.gid = above.owner.gid;
            if is_directory {
                owner.permissions |= SET_GROUP;
            }
        }
        let number = self.next_number;
        self.next_number += 1;
        let changed = Changed {
            at_all: moment.transaction,
            to_reach_data: moment.transaction,
        };
        let inode = Inode::new(kind, owner, moment.now, changed);
        self.inodes.insert(number, inode);
        self.enter(parent, name, number, moment)?;
        Ok(number)
    }

    fn must_be_free(&self, parent: Number, name: &OsStr) -> Result<()> {
        let above = self.inode(parent)?;
        match self.find(parent, name) {
            Ok(_) => Err(Errno::EEXIST),
            // A directory that was removed while somebody stood in it takes no names.
            Err(Errno::ENOENT) if above.links > 0 => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Puts a name into a directory; a directory under it gets the parent, and the parent its link.
    pub(super) fn enter(
        &mut self,
        parent: Number,
        name: &OsStr,
        number: Number,
        moment: Moment,
    ) -> Result<()> {
        self.directory_mut(parent)?.set(name, number);
        if let Kind::Directory(directory) = &mut self.inode_mut(number)?.kind {
            directory.parent = parent;
            self.inode_mut(parent)?.links += 1;
        }
        self.touch(parent, moment)
    }

    /// Takes a name out of a directory; what it led to keeps its links.
    pub(super) fn leave(
        &mut self,
        parent: Number,
        name: &OsStr,
        number: Number,
        moment: Moment,
    ) -> Result<()> {
        self.directory_mut(parent)?.remove(name);
        if matches!(self.inode(number)?.kind, Kind::Directory(_)) {
            self.inode_mut(parent)?.links -= 1;
        }
        self.touch(parent, moment)
    }

    /// A directory's contents have changed.
    fn touch(&mut self, number: Number, moment: Moment) -> Result<()> {
        let inode = self.inode_mut(number)?;
        inode.modified = moment.now;
        inode.touch(moment);
        inode.changed.to_reach_data = moment.transaction;
        Ok(())
    }

    /// Gives a file one more name.
    pub(crate) fn link(
        &mut self,
        number: Number,
        parent: Number,
        name: &OsStr,
        moment: Moment,
    ) -> Result<()> {
        self.must_be_free(parent, name)?;
        let inode = self.inode_mut(number)?;
        match inode.kind {
            Kind::Directory(_) => return Err(Errno::EPERM),
            _ if inode.links == 0 => return Err(Errno::ENOENT),
            _ if inode.links >= LINKS_MAX => return Err(Errno::EMLINK),
            _ => {}
        }
        inode.links += 1;
        inode.touch(moment);
        self.enter(parent, name, number, moment)
    }

    /// Takes a file's name away. Returns what the disk gets back.
    pub(crate) fn unlink(
        &mut self,
        parent: Number,
        name: &OsStr,
        moment: Moment,
    ) -> Result<Vec<Run>> {
        let number = self.find(parent, name)?;
        if matches!(self.inode(number)?.kind, Kind::Directory(_)) {
            return Err(Errno::EISDIR);
        }
        self.leave(parent, name, number, moment)?;
        self.unname(number, moment)
    }

    /// Removes an empty directory.
    pub(crate) fn remove_directory(
        &mut self,
        parent: Number,
        name: &OsStr,
        moment: Moment,
    ) -> Result<()> {
        let number = self.find(parent, name)?;
        if !self.directory(number)?.is_empty() {
            return Err(Errno::ENOTEMPTY);
        }
        self.leave(parent, name, number, moment)?;
        self.unname(number, moment)?;
        Ok(())
    }

    /// One name less leads to `number`: without any, it goes as soon as nobody holds it.
    pub(super) fn unname(&mut self, number: Number, moment: Moment) -> Result<Vec<Run>> {
        let inode = self.inode_mut(number)?;
        inode.links = match inode.kind {
            Kind::Directory(_) => 0,
            _ => inode.links - 1,
        };
        inode.touch(moment);
        Ok(self.bury(number))
    }

    pub(crate) fn set_attributes(
        &mut self,
        number: Number,
        wanted: Attributes,
        moment: Moment,
    ) -> Result<()> {
        let time = |wanted: TimeOrNow| match wanted {
            TimeOrNow::SpecificTime(time) => time,
            TimeOrNow::Now => moment.now,
        };
        let inode = self.inode_mut(number)?;
        let owner = &mut inode.owner;
        owner.permissions = wanted.permissions.unwrap_or(owner.permissions);
        owner.uid = wanted.uid.unwrap_or(owner.uid);
        owner.gid = wanted.gid.unwrap_or(owner.gid);
        inode.accessed = wanted.accessed.map_or(inode.accessed, time);
        inode.modified = wanted.modified.map_or(inode.modified, time);
        inode.touch(moment);
        inode.attributes_changed = wanted.changed.unwrap_or(moment.now);
        Ok(())
    }

    pub(crate) fn open_files(&self) -> u64 {
        self.open_files
    }

    /// Files, directories and links, those without a name that are still held among them.
    pub(crate) fn files(&self) -> u64 {
        self.inodes.len() as u64
    }

    /// The names in the uppermost directory.
    pub(crate) fn root_names(&self) -> Vec<OsString> {
        self.directory(ROOT)
            .map(|root| root.names().cloned().collect())
            .unwrap_or_default()
    }
}
