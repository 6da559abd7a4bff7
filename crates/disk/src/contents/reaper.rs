//! Frees blocks on a thread of its own, while the disk works.
//!
//! Freeing a gigabyte means freeing a quarter of a million blocks. The discard or restore that
//! gives them up holds the lock that every request needs, so it must not do that itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

/// Whatever is to be dropped.
type Burden = Box<dyn Send>;

/// One thread that drops what it is given, in order; it ends when it has no giver any more.
pub(super) struct Reaper {
    burdens: Sender<Burden>,
    /// Loads that are not freed yet.
    left: Arc<AtomicU64>,
}

/// Between two looks at what has come free.
const LOOK: Duration = Duration::from_millis(1);

impl Reaper {
    pub(super) fn new() -> Self {
        let (burdens, given) = channel::<Burden>();
        let left = Arc::new(AtomicU64::new(0));
        let left_too = left.clone();
        let started = std::thread::Builder::new()
            .name("reaper".to_owned())
            .spawn(move || {
                for burden in given {
                    drop(burden);
                    left_too.fetch_sub(1, Ordering::Release);
                }
            });
        // Without the thread, each load is dropped by the caller.
        drop(started);
        Self { burdens, left }
    }

    pub(super) fn take(&self, burden: impl Send + 'static) {
        self.left.fetch_add(1, Ordering::Relaxed);
        if let Err(refused) = self.burdens.send(Box::new(burden)) {
            drop(refused);
            self.left.fetch_sub(1, Ordering::Release);
        }
    }

    /// Tries again while something comes free; at least once.
    pub(super) fn try_until_free<T, E>(
        &self,
        patience: Duration,
        mut attempt: impl FnMut() -> Result<T, E>,
    ) -> Result<T, E> {
        let begun = Instant::now();
        loop {
            // In this order: what comes free between the two is seen by the attempt.
            let has_any = self.left.load(Ordering::Acquire) > 0;
            let more_comes = has_any && begun.elapsed() < patience;
            match attempt() {
                Err(_) if more_comes => std::thread::sleep(LOOK),
                outcome => return outcome,
            }
        }
    }
}
