//! The mount point: fit to be used, and left as it was found.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, anyhow, bail};
use rustix::mount::{UnmountFlags, unmount};

/// Refuses a directory on which a disk must not be mounted; its path without links.
///
/// # Errors
///
/// It is absent, no directory, not empty, the socket lies in it, or something is mounted there.
pub(super) fn check(directory: &Path, socket: &Path) -> anyhow::Result<PathBuf> {
    let shown = directory.display();
    let metadata = std::fs::metadata(directory).map_err(|error| match error.raw_os_error() {
        Some(code) if code == rustix::io::Errno::NOTCONN.raw_os_error() => anyhow!(
            "{shown} is the mount of a disk whose program has ended; unmount it with `umount -l {shown}`"
        ),
        _ => anyhow!("the mount point {shown}: {error}; make the directory first"),
    })?;
    if !metadata.is_dir() {
        bail!("the mount point {shown} is not a directory");
    }
    let resolved = directory.canonicalize()?;
    let above = resolved.parent().map(std::fs::metadata).transpose()?;
    if above.is_none_or(|above| above.dev() != metadata.dev()) {
        bail!("something is already mounted on {shown}; unmount it or give another directory");
    }
    let mut entries = std::fs::read_dir(directory)
        .with_context(|| format!("cannot read the mount point {shown}"))?;
    if entries.next().is_some() {
        bail!("the mount point {shown} is not empty; give an empty directory");
    }
    // The program would look for its socket on its own disk.
    let folder = std::path::absolute(socket)?;
    let folder = folder
        .parent()
        .and_then(|folder| folder.canonicalize().ok());
    if folder.is_some_and(|folder| folder.starts_with(&resolved)) {
        bail!(
            "the socket {} lies in the mount point, which would hide it; give another path",
            socket.display()
        );
    }
    Ok(resolved)
}

/// Refuses if /dev/fuse is missing.
///
/// # Errors
///
/// There is no /dev/fuse, or it may not be opened.
pub(super) fn check_fuse() -> anyhow::Result<()> {
    std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/fuse")
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => anyhow!(
                "there is no /dev/fuse; load the kernel module (`modprobe fuse`), or start the container with --device /dev/fuse"
            ),
            _ => anyhow!("cannot open /dev/fuse: {error}; a container needs --device /dev/fuse --cap-add SYS_ADMIN"),
        })?;
    Ok(())
}

/// Takes the mount away, at once even if it is in use: those who use it get errors from then on. The
/// connection is aborted first, so that nobody waits for an answer, this program included.
/// Without privileges fusermount does it, which is called so or fusermount3, by its version.
pub(super) fn take_away(directory: &Path, (_, minor): (u32, u32)) {
    // It belongs to the user who mounted, and is there if somebody mounted the kernel's list.
    let _ = std::fs::write(format!("/sys/fs/fuse/connections/{minor}/abort"), "1");
    if unmount(directory, UnmountFlags::FORCE | UnmountFlags::DETACH)
        != Err(rustix::io::Errno::PERM)
    {
        return;
    }
    for program in ["fusermount3", "fusermount"] {
        // Whatever it says, nothing is left to be done: our end is about to close.
        let started = Command::new(program)
            .args(["-u", "-z", "-q", "--"])
            .arg(directory)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        if started.is_ok() {
            return;
        }
    }
}
