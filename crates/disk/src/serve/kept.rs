//! What a snapshot keeps: the bytes, and in a directory the names with them.

use std::sync::Arc;

use fuser::Notifier;
use parking_lot::Mutex;

use super::directory::Directory;
use crate::contents::Contents;

pub(super) enum Kept {
    Bytes(Arc<Mutex<Contents>>),
    /// The kernel has to be told that names have changed.
    Names(Directory, Notifier),
}

impl Kept {
    pub(super) fn snapshot(&self, name: &str) -> anyhow::Result<()> {
        match self {
            Self::Bytes(contents) => Ok(contents.lock().snapshot(name)?),
            Self::Names(directory, _) => directory.snapshot(name),
        }
    }

    pub(super) fn restore(&self, name: &str) -> anyhow::Result<()> {
        match self {
            Self::Bytes(contents) => {
                let discarded = contents.lock().restore(name)?;
                // After the answer: what is let go may be gigabytes, and nobody waits for that.
                std::thread::spawn(move || drop(discarded));
                Ok(())
            }
            Self::Names(directory, kernel) => directory.restore(name, kernel),
        }
    }

    pub(super) fn forget(&self, name: &str) -> anyhow::Result<()> {
        match self {
            Self::Bytes(contents) => {
                let discarded = contents.lock().forget(name)?;
                drop(discarded);
                Ok(())
            }
            Self::Names(directory, _) => directory.forget(name),
        }
    }
}
