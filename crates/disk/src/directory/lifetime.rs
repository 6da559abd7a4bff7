//! How long a file is kept: as long as it has a name, is open, or is known to the kernel.

use std::mem;

use fuser::{Errno, FileAttr};

use super::inode::{File, Kind, Number};
use super::journal::Changed;
use super::space::{Run, Space};
use super::tree::{ROOT, Result, Tree};

impl Tree {
    /// The kernel has received one more reference to `number`.
    pub(crate) fn look_up(&mut self, number: Number) -> Result<FileAttr> {
        let inode = self.inode_mut(number)?;
        inode.looked_up += 1;
        Ok(inode.attributes(number))
    }

    /// The kernel has dropped `times` of its references. A file that is already gone does no harm.
    pub(crate) fn forget(&mut self, number: Number, times: u64) -> Vec<Run> {
        if let Some(inode) = self.inodes.get_mut(&number) {
            inode.looked_up = inode.looked_up.saturating_sub(times);
        }
        self.bury(number)
    }

    pub(crate) fn open(&mut self, number: Number) -> Result<()> {
        self.inode_mut(number)?.opened += 1;
        self.open_files += 1;
        Ok(())
    }

    /// Returns what the disk gets back.
    pub(crate) fn close(&mut self, number: Number) -> Vec<Run> {
        let Some(inode) = self.inodes.get_mut(&number) else {
            return Vec::new();
        };
        inode.opened = inode.opened.saturating_sub(1);
        self.open_files = self.open_files.saturating_sub(1);
        if inode.opened == 0
            && let Kind::File(file) = &mut inode.kind
            && let Some(reserve) = file.reserve.take()
        {
            self.space.release(reserve);
        }
        self.bury(number)
    }

    /// Frees a nameless file's blocks once it is closed, and its number once the kernel forgot it.
    pub(super) fn bury(&mut self, number: Number) -> Vec<Run> {
        let mut freed = Vec::new();
        let Some(inode) = self.inodes.get_mut(&number) else {
            return freed;
        };
        if inode.links > 0 || inode.opened > 0 || number == ROOT {
            return freed;
        }
        if let Kind::File(file) = &mut inode.kind {
            freed = mem::take(file).end(&mut self.space);
        }
        if inode.looked_up == 0 {
            self.inodes.remove(&number);
        }
        freed
    }

    /// This tree as a snapshot keeps it: nothing is open, and no kernel knows of it.
    ///
    /// # Errors
    ///
    /// `EBUSY` while a file is open.
    pub(crate) fn snapshot(&self) -> Result<Self> {
        if self.open_files > 0 {
            return Err(Errno::EBUSY);
        }
        let mut tree = self.clone();
        for inode in tree.inodes.values_mut() {
            inode.looked_up = 0;
            inode.changed = Changed::default();
        }
        let nameless: Vec<Number> = tree
            .inodes
            .iter()
            .filter(|(_, inode)| inode.links == 0)
            .map(|(&number, _)| number)
            .collect();
        for number in nameless {
            tree.bury(number);
        }
        Ok(tree)
    }
}

impl File {
    /// Gives all its blocks back; those that held bytes are returned.
    fn end(mut self, space: &mut Space) -> Vec<Run> {
        let freed = self.extents.remove(0, u64::MAX);
        for &run in freed.iter().chain(&self.reserve) {
            space.release(run);
        }
        freed
    }
}
