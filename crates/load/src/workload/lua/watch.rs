//! Sees scripts that compute and never come back.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// All threads that run scripts.
#[derive(Debug, Default)]
pub struct Watch {
    slots: Mutex<Vec<Arc<Slot>>>,
    /// Clients in a function that lies outside of the measurement, which nothing else ends.
    beside: Mutex<HashMap<usize, (&'static str, Instant)>>,
}

/// One thread.
#[derive(Debug, Default)]
struct Slot {
    client: AtomicUsize,
    /// Rises when a script begins and when it comes back: odd while one computes.
    turns: AtomicU64,
}

/// While it lives, a script computes.
pub(super) struct Turn(Arc<Slot>);

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.turns.fetch_add(1, Ordering::Relaxed);
    }
}

thread_local! {
    static OWN: RefCell<Option<(Weak<Watch>, Arc<Slot>)>> = const { RefCell::new(None) };
}

impl Watch {
    /// Runs a part of a client's script.
    pub(super) fn observe<R>(self: &Arc<Self>, client: usize, run: impl FnOnce() -> R) -> R {
        let _turn = self.turn(client);
        run()
    }

    /// A part of a client's script begins; it ends when the turn is dropped.
    pub(super) fn turn(self: &Arc<Self>, client: usize) -> Turn {
        let slot = self.slot();
        slot.client.store(client, Ordering::Relaxed);
        slot.turns.fetch_add(1, Ordering::Relaxed);
        Turn(slot)
    }

    /// A client begins one of these functions.
    pub(super) fn begin(&self, client: usize, function: &'static str) {
        self.beside().insert(client, (function, Instant::now()));
    }

    /// It has come to its end.
    pub(super) fn end(&self, client: usize) {
        self.beside().remove(&client);
    }

    /// A client that has been in one of them for longer than this.
    pub fn late(&self, limit: Duration) -> Option<(usize, &'static str)> {
        let beside = self.beside();
        let mut all = beside.iter();
        let (client, (function, _)) = all.find(|(_, (_, since))| since.elapsed() >= limit)?;
        Some((*client, function))
    }

    fn beside(&self) -> std::sync::MutexGuard<'_, HashMap<usize, (&'static str, Instant)>> {
        self.beside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn slot(self: &Arc<Self>) -> Arc<Slot> {
        OWN.with_borrow_mut(|own| {
            if let Some((watch, slot)) = own
                && std::ptr::eq(watch.as_ptr(), Arc::as_ptr(self))
            {
                return Arc::clone(slot);
            }
            let slot = Arc::new(Slot::default());
            let mut all = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
            all.push(Arc::clone(&slot));
            *own = Some((Arc::downgrade(self), Arc::clone(&slot)));
            slot
        })
    }

    /// The clients that compute now, each with the number of its turn. A client that has the same
    /// number again later has computed all the time.
    pub fn computing(&self) -> Vec<(usize, u64)> {
        let all = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter()
            .map(|slot| {
                let turn = slot.turns.load(Ordering::Relaxed);
                (slot.client.load(Ordering::Relaxed), turn)
            })
            .filter(|(_, turn)| turn % 2 == 1)
            .collect()
    }
}
