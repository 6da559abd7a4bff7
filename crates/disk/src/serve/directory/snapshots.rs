//! Names and bytes together: kept, and put back in a moment.

use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use fuser::{INodeNo, Notifier};
use parking_lot::MutexGuard;

use super::{Directory, NUMBER_BITS, State};
use crate::directory::ROOT;

/// The kernel reports a closed file a moment after its last user closed it.
const CLOSED_WITHIN: Duration = Duration::from_secs(1);

impl Directory {
    /// Keeps the directory as it is under a name.
    ///
    /// # Errors
    ///
    /// A file stays open, or the contents refuse.
    pub(in crate::serve) fn snapshot(&self, name: &str) -> anyhow::Result<()> {
        let mut state = self.closed("it is kept")?;
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
        let mut state = self.closed("it is put back")?;
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
            // The kernel need not forget a file that it did not know.
            let _ = kernel.inval_entry(INodeNo(ROOT), &name);
        }
        let _ = kernel.inval_inode(INodeNo(ROOT), 0, 0);
        Ok(())
    }

    /// Lets a snapshot go.
    ///
    /// # Errors
    ///
    /// There is no snapshot of that name.
    pub(in crate::serve) fn forget(&self, name: &str) -> anyhow::Result<()> {
        self.contents.lock().forget(name)?;
        self.state().snapshots.remove(name);
        Ok(())
    }

    /// The state, once no file is open. Refuses if one stays open: `before` says what would follow.
    fn closed(&self, before: &str) -> anyhow::Result<MutexGuard<'_, State>> {
        let deadline = Instant::now() + CLOSED_WITHIN;
        let mut state = self.state();
        loop {
            let files = state.tree.open_files();
            if files == 0 {
                return Ok(state);
            }
            let closed = &self.names.closed;
            if closed.wait_until(&mut state, deadline).timed_out() {
                bail!(
                    "the directory has {files} open file handles, so a file in it is open; stop the server that \
                     uses it before {before}"
                );
            }
        }
    }
}
