//! Sees scripts that compute and never come back.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// All threads that run scripts.
#[derive(Debug, Default)]
pub struct Watch(Mutex<Vec<Arc<Slot>>>);

/// One thread.
#[derive(Debug, Default)]
struct Slot {
    client: AtomicUsize,
    /// Rises when a script begins and when it comes back: odd while one computes.
    turns: AtomicU64,
}

thread_local! {
    static OWN: RefCell<Option<(Weak<Watch>, Arc<Slot>)>> = const { RefCell::new(None) };
}

impl Watch {
    /// Runs a part of a client's script.
    pub(super) fn observe<R>(self: &Arc<Self>, client: usize, run: impl FnOnce() -> R) -> R {
        let slot = self.slot();
        slot.client.store(client, Ordering::Relaxed);
        slot.turns.fetch_add(1, Ordering::Relaxed);
        let outcome = run();
        slot.turns.fetch_add(1, Ordering::Relaxed);
        outcome
    }

    fn slot(self: &Arc<Self>) -> Arc<Slot> {
        OWN.with_borrow_mut(|own| {
            if let Some((watch, slot)) = own
                && std::ptr::eq(watch.as_ptr(), Arc::as_ptr(self))
            {
                return Arc::clone(slot);
            }
            let slot = Arc::new(Slot::default());
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            all.push(Arc::clone(&slot));
            *own = Some((Arc::downgrade(self), Arc::clone(&slot)));
            slot
        })
    }

    /// The clients that compute now, each with the number of its turn. A client that has the same
    /// number again later has computed all the time.
    #[must_use]
    pub fn computing(&self) -> Vec<(usize, u64)> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter()
            .map(|slot| {
                let turn = slot.turns.load(Ordering::Relaxed);
                (slot.client.load(Ordering::Relaxed), turn)
            })
            .filter(|(_, turn)| turn % 2 == 1)
            .collect()
    }
}
