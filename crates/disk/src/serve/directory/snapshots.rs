//! Names and bytes together: kept, and put back in a moment.

use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use fuser::{INodeNo, Notifier};

use super::{Directory, NUMBER_BITS};
use crate::directory::ROOT;

/// The kernel tells of a closed file a moment after whoever had it open has gone.
const CLOSED_WITHIN: Duration = Duration::from_secs(1);

impl Directory {
    /// Keeps the directory as it is under a name.
    ///
    /// # Errors
    ///
    /// A file stays open, or the contents refuse.
    pub(in crate::serve) fn snapshot(&self, name: &str) -> anyhow::Result<()> {
        let deadline = Instant::now() + CLOSED_WITHIN;
        let mut state = self.state();
        while state.tree.open_files() > 0 {
            if self
                .names
                .closed
                .wait_until(&mut state, deadline)
                .timed_out()
            {
                bail!(still_open(state.tree.open_files(), "it is kept"));
            }
        }
        let tree = state.tree.snapshot().expect("nothing is open");
        self.contents.lock().snapshot(name)?;
        state.snapshots.insert(name.to_owned(), tree);
        Ok(())
    }

    /// Puts the directory back to what it was when the snapshot was taken, and makes the kernel forget
    /// all it knew.
    ///
    /// # Errors
    ///
    /// There is no such snapshot, a file stays open, or `begin` refuses: it is done last before the
    /// bytes change.
    pub(in crate::serve) fn restore(
        &self,
        name: &str,
        kernel: &Notifier,
        begin: impl FnOnce() -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let deadline = Instant::now() + CLOSED_WITHIN;
        let mut state = self.state();
        while state.tree.open_files() > 0 {
            if self
                .names
                .closed
                .wait_until(&mut state, deadline)
                .timed_out()
            {
                bail!(still_open(state.tree.open_files(), "it is put back"));
            }
        }
        let tree = state.snapshots.get(name).cloned();
        let tree = tree.with_context(|| format!("there is no snapshot `{name}`"))?;
        let mut contents = self.contents.lock();
        contents.check_snapshot(name)?;
        begin()?;
        contents.restore(name)?;
        drop(contents);
        let mut known = state.tree.root_names();
        known.extend(tree.root_names());
        state.tree = tree;
        state.numbers.restored = (state.numbers.restored + 1) % (1 << (u64::BITS - NUMBER_BITS));
        drop(state);
        for name in known {
            // What the kernel did not know it need not forget.
            let _ = kernel.inval_entry(INodeNo(ROOT), &name);
        }
        let _ = kernel.inval_inode(INodeNo(ROOT), 0, 0);
        Ok(())
    }

    /// Lets a snapshot go.
    ///
    /// # Errors
    ///
    /// There is none of the name.
    pub(in crate::serve) fn forget(&self, name: &str) -> anyhow::Result<()> {
        self.contents.lock().forget(name)?;
        self.state().snapshots.remove(name);
        Ok(())
    }
}

fn still_open(files: u64, before: &str) -> String {
    format!(
        "{files} times a file of the directory is open; stop the server that uses it before {before}"
    )
}
