//! The mount point: fit to be used, and left as it was found.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, anyhow, bail};
use rustix::mount::{UnmountFlags, unmount};

/// Refuses a directory on which a disk must not be mounted.
///
/// # Errors
///
/// It is absent, no directory, not empty, or something is mounted there.
pub(super) fn check(directory: &Path) -> anyhow::Result<()> {
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
    Ok(())
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

/// Takes the mount away, at once even if it is in use: those who use it get errors from then on.
/// Without privileges fusermount does it, which is called so or fusermount3, by its version.
pub(super) fn take_away(directory: &Path) {
    if unmount(directory, UnmountFlags::DETACH) != Err(rustix::io::Errno::PERM) {
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
