//! The disk as a directory: the rules of `crate::directory`, the bytes of the contents and the time
//! of the model, brought to the kernel.
//!
//! The kernel caches files as those of a file system on a disk: bytes written without `O_DIRECT`
//! reach the disk when they are synced, when the file is closed, or when the kernel decides to
//! write them; repeated reads come from memory; files can be mapped. Files opened with `O_DIRECT`
//! go to the disk at once, many requests at a time. Names and attributes are kept in memory and
//! take no time.

mod changes;
mod data;
mod filesystem;
mod opening;
mod snapshots;
mod transfer;
mod writeback;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::bail;
use fuser::{Config, Errno, FileAttr, INodeNo, MountOption, SessionACL};
use parking_lot::{Condvar, Mutex, MutexGuard};

pub(super) use self::writeback::as_others;
use super::answer::Answer;
use super::engine::Engine;
use crate::contents::Contents;
use crate::directory::{BLOCK_BYTES, Journal, Moment, Number, Owner, ROOT, Space, Tree};

/// Too small for a journal and anything else.
const DISK_BYTES_MIN: u64 = 1 << 20;
/// File numbers reserved for each restore of a snapshot; see `Numbers`.
const NUMBER_BITS: u32 = 40;

/// One disk as a directory. Clones are the same one.
#[derive(Clone)]
pub(super) struct Directory {
    engine: Arc<Engine>,
    contents: Arc<Mutex<Contents>>,
    names: Arc<Names>,
    /// Whether a file may be opened past the kernel's cache; known once it is mounted.
    past_cache: bool,
}

/// The contents of the directory, and who waits for the last file to be closed.
struct Names {
    state: Mutex<State>,
    closed: Condvar,
}

struct State {
    tree: Tree,
    journal: Journal<Answer>,
    snapshots: BTreeMap<String, Tree>,
    numbers: Numbers,
    blocks: u64,
}

/// The mount options. The kernel checks permissions. Without privileges only the mounting user may
/// use it; root admits everybody, for a server that runs as its own user.
pub(super) fn config() -> Config {
    let mut config = Config::default();
    config.mount_options = vec![MountOption::DefaultPermissions];
    if rustix::process::geteuid().is_root() {
        config.acl = SessionACL::All;
    }
    config
}

impl Directory {
    /// An empty directory on the whole disk, owned by the user of this program.
    ///
    /// # Errors
    ///
    /// The disk is too small.
    pub(super) fn new(engine: Arc<Engine>, contents: Arc<Mutex<Contents>>) -> anyhow::Result<Self> {
        let size_bytes = contents.lock().size_bytes();
        if size_bytes < DISK_BYTES_MIN {
            bail!(
                "a disk of {size_bytes} bytes is too small for a directory, which needs {DISK_BYTES_MIN} bytes"
            );
        }
        let blocks = size_bytes / BLOCK_BYTES;
        let mut space = Space::new(0, blocks);
        let journal = space
            .take_at(blocks / 2, journal_blocks(blocks))
            .expect("nothing else has been taken");
        let owner = Owner {
            uid: rustix::process::getuid().as_raw(),
            gid: rustix::process::getgid().as_raw(),
            permissions: 0o755,
        };
        let state = State {
            tree: Tree::new(space, owner, SystemTime::now()),
            journal: Journal::new(journal),
            snapshots: BTreeMap::new(),
            numbers: Numbers { restored: 0 },
            blocks: blocks - journal.blocks,
        };
        let names = Names {
            state: Mutex::new(state),
            closed: Condvar::new(),
        };
        Ok(Self {
            engine,
            contents,
            names: Arc::new(names),
            past_cache: false,
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.names.state.lock()
    }
}

impl State {
    /// Now, by the clock and by the journal.
    fn moment(&self) -> Moment {
        Moment {
            now: SystemTime::now(),
            transaction: self.journal.running(),
        }
    }

    fn attributes(&self, number: Number) -> Result<FileAttr, Errno> {
        let found = self.tree.attributes(number)?;
        Ok(self.numbers.outside(found))
    }
}

/// The journal lies in the middle of the disk and has the size that `mke2fs` gives one.
fn journal_blocks(blocks: u64) -> u64 {
    match blocks {
        ..32_768 => (blocks / 32).min(1_024),
        32_768..262_144 => 4_096,
        262_144..524_288 => 8_192,
        524_288..4_194_304 => 16_384,
        _ => 32_768,
    }
}

/// Numbers as the kernel sees them: after a restore all but the uppermost directory's are new, so that
/// nothing that the kernel still remembers of a file from before is taken for one of now.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    /// Number of restores.
    restored: u64,
}

impl Numbers {
    fn outside(self, mut attributes: FileAttr) -> FileAttr {
        attributes.ino = self.node(attributes.ino.0);
        attributes
    }

    fn node(self, number: Number) -> INodeNo {
        INodeNo(if number == ROOT {
            ROOT
        } else {
            self.restored << NUMBER_BITS | number
        })
    }

    /// `None`: a file from before a restore.
    fn number(self, node: INodeNo) -> Result<Number, Errno> {
        if node.0 == ROOT {
            return Ok(ROOT);
        }
        if node.0 >> NUMBER_BITS != self.restored {
            return Err(Errno::ESTALE);
        }
        Ok(node.0 & ((1 << NUMBER_BITS) - 1))
    }
}
