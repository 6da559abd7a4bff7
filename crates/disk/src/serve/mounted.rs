//! Cleaning up when serving ends, however it ends.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use anyhow::Context;
use fuser::{Config, Filesystem, MountOption, Notifier, Session};
use scopeguard::guard;

use super::apart::Apart;
use super::engine::Engine;
use super::mount;
use super::standing::{self, Work};

/// A mount and its threads. Dropping it fails the requests in progress and unmounts.
pub(super) struct Mounted {
    directory: PathBuf,
    /// Files outside of it.
    pub(super) apart: Apart,
    engine: Arc<Engine>,
}

impl Mounted {
    /// Mounts at a path without links.
    pub(super) fn start(
        directory: &Path,
        mut config: Config,
        engine: &Arc<Engine>,
        files: impl Filesystem,
        end: &Sender<()>,
    ) -> anyhow::Result<(Self, Notifier)> {
        config.mount_options.extend([
            MountOption::FSName("diskproof".to_owned()),
            MountOption::Subtype("diskproof".to_owned()),
            MountOption::NoSuid,
            MountOption::NoDev,
            MountOption::NoExec,
        ]);
        let session = Session::new(files, directory, &config)
            .with_context(|| format!("cannot mount the disk on {}", directory.display()))?;
        let notifier = session.notifier();
        let mounted = Self {
            directory: directory.to_owned(),
            apart: Apart::from(directory)?,
            engine: engine.clone(),
        };
        let scheduler = engine.clone();
        keeping_time(Work::Answers, "scheduler", end, move || {
            scheduler.schedule();
        })?;
        // It ends when somebody unmounts; an error is the connection's end just as well.
        keeping_time(Work::Requests, "server", end, move || drop(session.run()))?;
        Ok((mounted, notifier))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        self.engine.end();
        mount::take_away(&self.directory, self.apart.device);
    }
}

/// Starts a thread that the disk cannot do without, and waits until it keeps time. When the thread ends,
/// however it ends, so does the disk.
fn keeping_time(
    kind: Work,
    name: &str,
    end: &Sender<()>,
    work: impl FnOnce() + Send + 'static,
) -> anyhow::Result<()> {
    let end = guard(end.clone(), |end| {
        let _ = end.send(());
    });
    let (begun, begins) = channel();
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || {
            let _end = end;
            standing::keep_time(kind);
            let _ = begun.send(());
            work();
        })?;
    let _ = begins.recv();
    Ok(())
}
