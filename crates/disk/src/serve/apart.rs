//! Files that the disk uses while it is served. They must not lie on the disk itself: the program would
//! wait for its own answers, and could not even be killed.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, bail};
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, Statx, StatxFlags, openat, readlinkat, statx,
};
use rustix::io::Errno;

use crate::file;

/// As many as the kernel follows.
const LINKS_AT_MOST: u32 = 40;

/// The mount of this disk, and files that are not in it.
#[derive(Clone, Debug)]
pub(super) struct Apart {
    /// Without links.
    directory: PathBuf,
    /// Major and minor number.
    pub(super) device: (u32, u32),
}

impl Apart {
    /// Looks at a mount that is there, without a request to its server.
    pub(super) fn from(directory: &Path) -> io::Result<Self> {
        let held = look(CWD, directory)?;
        Ok(Self {
            directory: directory.to_owned(),
            device: device(&held),
        })
    }

    /// Makes a new file.
    ///
    /// # Errors
    ///
    /// The file lies on this disk, is there already, or cannot be made.
    pub(super) fn create_new(&self, path: &Path) -> anyhow::Result<File> {
        let name = path.file_name().context("it is not the path of a file")?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let folder = self.walk(folder)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let made = openat(folder, name, flags, Mode::from_raw_mode(0o666))?;
        Ok(made.into())
    }

    /// Opens a regular file to read it.
    ///
    /// # Errors
    ///
    /// The file lies on this disk, is no regular file, or cannot be read.
    pub(super) fn open(&self, path: &Path) -> anyhow::Result<File> {
        let found = self.walk(path)?;
        let held = format!("/proc/self/fd/{}", found.as_raw_fd());
        Ok(file::open(Path::new(&held))?)
    }

    /// Walks along a path, a name at a time, and looks at each directory before it looks into it.
    fn walk(&self, path: &Path) -> anyhow::Result<OwnedFd> {
        let mut links = 0;
        let mut left: VecDeque<OsString> = names(path).collect();
        let mut here = self.step(CWD, OsStr::new("."))?.0;
        while let Some(name) = left.pop_front() {
            let (next, metadata) = self.step(&here, &name)?;
            if FileType::from_raw_mode(metadata.stx_mode.into()) != FileType::Symlink {
                here = next;
                continue;
            }
            links += 1;
            if links > LINKS_AT_MOST {
                return Err(Errno::LOOP.into());
            }
            let target = readlinkat(&next, "", Vec::new())?.into_bytes();
            for name in names(Path::new(&OsString::from_vec(target))).rev() {
                left.push_front(name);
            }
        }
        Ok(here)
    }

    fn step(&self, from: impl rustix::fd::AsFd, name: &OsStr) -> anyhow::Result<(OwnedFd, Statx)> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let next = openat(from, name, flags, Mode::empty())?;
        let metadata = look(&next, Path::new(""))?;
        if device(&metadata) == self.device || self.carries(device(&metadata)) {
            bail!(
                "it lies on this disk, which would wait for itself; give a path outside of {}",
                self.directory.display()
            );
        }
        Ok((next, metadata))
    }

    /// Whether a block device is a loop device on this disk, or a partition of one.
    fn carries(&self, (major, minor): (u32, u32)) -> bool {
        let device = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
        ["loop/backing_file", "../loop/backing_file"]
            .iter()
            .filter_map(|name| std::fs::read_to_string(device.join(name)).ok())
            .any(|file| Path::new(&file).starts_with(&self.directory))
    }
}

/// Asks no server of a file system.
fn look(from: impl rustix::fd::AsFd, path: &Path) -> io::Result<Statx> {
    let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC | AtFlags::NO_AUTOMOUNT;
    Ok(statx(from, path, flags, StatxFlags::TYPE)?)
}

fn device(metadata: &Statx) -> (u32, u32) {
    (metadata.stx_dev_major, metadata.stx_dev_minor)
}

fn names(path: &Path) -> impl DoubleEndedIterator<Item = OsString> {
    path.components()
        .filter(|part| *part != Component::CurDir)
        .map(|part| part.as_os_str().to_owned())
}
