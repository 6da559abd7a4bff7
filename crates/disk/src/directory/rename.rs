//! A name for what another name leads to.

use std::ffi::OsStr;

use fuser::Errno;

use super::inode::{Kind, Number};
use super::space::Run;
use super::tree::{Moment, ROOT, Result, Tree};

/// What a rename does if the new name exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    Replace,
    Refuse,
}

impl Tree {
    /// Gives a name to what another name leads to.
    pub(crate) fn rename(
        &mut self,
        (parent, name): (Number, &OsStr),
        (new_parent, new_name): (Number, &OsStr),
        taken: Taken,
        moment: Moment,
    ) -> Result<Vec<Run>> {
        let number = self.find(parent, name)?;
        let other = match self.find(new_parent, new_name) {
            Ok(other) => Some(other),
            Err(Errno::ENOENT) if self.inode(new_parent)?.links > 0 => None,
            Err(error) => return Err(error),
        };
        self.must_not_contain(number, new_parent)?;
        match (other, taken) {
            (Some(_), Taken::Refuse) => Err(Errno::EEXIST),
            (Some(other), _) if other == number => Ok(Vec::new()),
            (other, _) => {
                if let Some(other) = other {
                    self.must_be_replaceable(number, other)?;
                    self.leave(new_parent, new_name, other, moment)?;
                }
                self.leave(parent, name, number, moment)?;
                self.enter(new_parent, new_name, number, moment)?;
                self.inode_mut(number)?.touch(moment);
                other.map_or(Ok(Vec::new()), |other| self.unname(other, moment))
            }
        }
    }

    /// A directory cannot come to lie within itself.
    fn must_not_contain(&self, number: Number, mut within: Number) -> Result<()> {
        while within != ROOT {
            if within == number {
                return Err(Errno::EINVAL);
            }
            within = self.directory(within)?.parent;
        }
        Ok(())
    }

    fn must_be_replaceable(&self, number: Number, other: Number) -> Result<()> {
        let is_directory = matches!(self.inode(number)?.kind, Kind::Directory(_));
        match &self.inode(other)?.kind {
            Kind::Directory(_) if !is_directory => Err(Errno::EISDIR),
            Kind::Directory(directory) if !directory.is_empty() => Err(Errno::ENOTEMPTY),
            Kind::Directory(_) => Ok(()),
            _ if is_directory => Err(Errno::ENOTDIR),
            _ => Ok(()),
        }
    }
}
