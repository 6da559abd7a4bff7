//! What a snapshot keeps: the bytes, and the names in a directory.

use std::sync::Arc;

use fuser::Notifier;
use parking_lot::Mutex;

use super::directory::Directory;
use crate::contents::Contents;

pub(super) enum Kept {
    Bytes(Arc<Mutex<Contents>>),
    /// The kernel must be told that names have changed.
    Names(Directory, Notifier),
}

impl Kept {
    pub(super) fn snapshot(&self, name: &str) -> anyhow::Result<()> {
        match self {
            Self::Bytes(contents) => Ok(contents.lock().snapshot(name)?),
            Self::Names(directory, _) => directory.snapshot(name),
        }
    }

    /// `begin` is done as soon as nothing can refuse any more, but itself; the bytes change after it,
    /// and no request's bytes in between.
    pub(super) fn restore(
        &self,
        name: &str,
        begin: impl FnOnce() -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        match self {
            Self::Bytes(contents) => {
                let mut contents = contents.lock();
                contents.check_snapshot(name)?;
                begin()?;
                Ok(contents.restore(name)?)
            }
            Self::Names(directory, kernel) => directory.restore(name, kernel, begin),
        }
    }

    pub(super) fn forget(&self, name: &str) -> anyhow::Result<()> {
        match self {
            Self::Bytes(contents) => Ok(contents.lock().forget(name)?),
            Self::Names(directory, _) => directory.forget(name),
        }
    }
}
