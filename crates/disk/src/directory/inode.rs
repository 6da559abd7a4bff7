//! The attributes of a file, a directory or a link.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::SystemTime;

use fuser::{FileAttr, FileType, INodeNo};

use super::extents::Extents;
use super::journal::Changed;
use super::space::Run;
use super::tree::Moment;
use super::{BLOCK_BYTES, BLOCK_BYTES_U32};

pub(crate) type Number = u64;

/// Owner and permissions; the kernel checks them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    /// The lowest twelve bits of the mode.
    pub(crate) permissions: u16,
}

#[derive(Clone, Debug)]
pub(crate) struct Inode {
    pub(crate) kind: Kind,
    pub(crate) owner: Owner,
    /// Names that lead here; a directory's `.` and its children's `..` count.
    pub(crate) links: u32,
    pub(crate) accessed: SystemTime,
    pub(crate) modified: SystemTime,
    pub(crate) attributes_changed: SystemTime,
    pub(crate) changed: Changed,
    /// Times that it is open now; its blocks are kept as long.
    pub(crate) opened: u64,
    /// References that the kernel holds; its number is kept as long.
    pub(crate) looked_up: u64,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    File(File),
    Directory(Directory),
    Link(PathBuf),
    /// A socket or a pipe: a name only, the kernel does the rest.
    Special(FileType),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct File {
    pub(crate) size_bytes: u64,
    pub(crate) extents: Extents,
    /// Free blocks behind its last ones, kept for its growth while it is open.
    pub(crate) reserve: Option<Run>,
}

/// Names, each with a position that stays the same while others come and go, so that a listing in
/// progress neither skips nor repeats a name that is there all the time.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    pub(crate) parent: Number,
    by_name: BTreeMap<OsString, Named>,
    by_place: BTreeMap<u64, OsString>,
    next_place: u64,
}

#[derive(Clone, Copy, Debug)]
struct Named {
    number: Number,
    place: u64,
}

/// An entry as a listing shows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a> {
    /// The position at which a listing continues after this name.
    pub(crate) place: u64,
    pub(crate) name: &'a OsStr,
    pub(crate) number: Number,
}

/// The places of `.` and `..` come before all others.
const FIRST_PLACE: u64 = 3;

impl Directory {
    pub(crate) fn new(parent: Number) -> Self {
        Self {
            parent,
            by_name: BTreeMap::new(),
            by_place: BTreeMap::new(),
            next_place: FIRST_PLACE,
        }
    }

    pub(crate) fn get(&self, name: &OsStr) -> Option<Number> {
        self.by_name.get(name).map(|entry| entry.number)
    }

    /// Gives the name to `number`, whoever had it before.
    pub(crate) fn set(&mut self, name: &OsStr, number: Number) {
        if let Some(entry) = self.by_name.get_mut(name) {
            entry.number = number;
            return;
        }
        let place = self.next_place;
        self.next_place += 1;
        self.by_name
            .insert(name.to_owned(), Named { number, place });
        self.by_place.insert(place, name.to_owned());
    }

    pub(crate) fn remove(&mut self, name: &OsStr) {
        if let Some(entry) = self.by_name.remove(name) {
            self.by_place.remove(&entry.place);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &OsString> {
        self.by_name.keys()
    }

    /// The entries behind `place`, `.` and `..` first; `number` is this directory's own.
    pub(crate) fn list(&self, number: Number, place: u64) -> impl Iterator<Item = Entry<'_>> {
        let own = [(1, ".", number), (2, "..", self.parent)];
        let own = own.map(|(place, name, number)| Entry {
            place,
            name: name.as_ref(),
            number,
        });
        let others = self
            .by_place
            .range(place.max(FIRST_PLACE - 1) + 1..)
            .map(|(&place, name)| Entry {
                place,
                name,
                number: self.by_name[name].number,
            });
        own.into_iter()
            .filter(move |own| own.place > place)
            .chain(others)
    }
}

impl Inode {
    pub(crate) fn new(kind: Kind, owner: Owner, now: SystemTime, changed: Changed) -> Self {
        let links = if matches!(kind, Kind::Directory(_)) {
            2
        } else {
            1
        };
        Self {
            kind,
            owner,
            links,
            accessed: now,
            modified: now,
            attributes_changed: now,
            changed,
            opened: 0,
            looked_up: 0,
        }
    }

    /// Its attributes change, at least the time of that.
    pub(super) fn touch(&mut self, moment: Moment) {
        self.attributes_changed = moment.now;
        self.changed.at_all = moment.transaction;
    }

    pub(crate) fn file_type(&self) -> FileType {
        match self.kind {
            Kind::File(_) => FileType::RegularFile,
            Kind::Directory(_) => FileType::Directory,
            Kind::Link(_) => FileType::Symlink,
            Kind::Special(kind) => kind,
        }
    }

    pub(crate) fn attributes(&self, number: Number) -> FileAttr {
        let (size, blocks) = match &self.kind {
            Kind::File(file) => (file.size_bytes, file.extents.blocks()),
            Kind::Directory(_) => (BLOCK_BYTES, 1),
            Kind::Link(target) => (target.as_os_str().len() as u64, 0),
            Kind::Special(_) => (0, 0),
        };
        FileAttr {
            ino: INodeNo(number),
            size,
            // `stat` counts in units of 512 bytes, whatever the block size.
            blocks: blocks * (BLOCK_BYTES / 512),
            atime: self.accessed,
            mtime: self.modified,
            ctime: self.attributes_changed,
            crtime: self.attributes_changed,
            kind: self.file_type(),
            perm: self.owner.permissions,
            nlink: self.links,
            uid: self.owner.uid,
            gid: self.owner.gid,
            rdev: 0,
            blksize: BLOCK_BYTES_U32,
            flags: 0,
        }
    }
}
