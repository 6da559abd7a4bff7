//! Faults of a served disk: what its schedule does to each request.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use fuser::Errno;
use parking_lot::Mutex;

use crate::faults::{Befallen, Befalls, Failure, Fault, Faults};
use crate::request::{Nanos, Request};

/// The schedule at work, if any.
pub(super) struct Befalling {
    sector_bytes: u64,
    /// Whether there are faults: asked before the lock is taken.
    on: AtomicBool,
    faults: Mutex<Faults>,
}

impl Befalling {
    pub(super) fn new(sector_bytes: u64) -> Self {
        Self {
            sector_bytes,
            on: AtomicBool::new(false),
            faults: Mutex::default(),
        }
    }

    /// Puts a schedule to work in place of the one before; an empty one ends it.
    ///
    /// # Errors
    ///
    /// The first impossible fault; the schedule before it stays in effect.
    pub(super) fn schedule(
        &self,
        schedule: Vec<Fault>,
        seed: u64,
        now: Nanos,
    ) -> Result<(), String> {
        let faults = Faults::new(schedule, seed, self.sector_bytes, now)?;
        let mut current = self.faults.lock();
        self.on.store(!faults.is_empty(), Ordering::Relaxed);
        *current = faults;
        Ok(())
    }

    /// What befalls a request; the error if a fault fails it.
    pub(super) fn befalls(
        &self,
        request: Request,
        has_bytes: bool,
        now: Nanos,
    ) -> Result<Befalls, Errno> {
        if !self.on.load(Ordering::Relaxed) {
            return Ok(Befalls::default());
        }
        let befalls = self.faults.lock().befalls(request, has_bytes, now);
        match befalls.fails {
            None => Ok(befalls),
            Some(Failure::Io) => Err(Errno::EIO),
            Some(Failure::NoSpace) => Err(Errno::ENOSPC),
        }
    }

    pub(super) fn befallen(&self) -> Vec<Befallen> {
        self.faults.lock().befallen()
    }
}

/// The bytes that a write puts on the disk.
pub(super) fn landing<'bytes>(
    bytes: &'bytes [u8],
    offset_bytes: u64,
    request: Request,
    befalls: &Befalls,
) -> Cow<'bytes, [u8]> {
    let kept = befalls.kept_bytes.and_then(|kept| {
        let kept = (request.offset_bytes + kept).saturating_sub(offset_bytes);
        bytes.get(..usize::try_from(kept).ok()?)
    });
    let mut bytes = Cow::Borrowed(kept.unwrap_or(bytes));
    if !befalls.flips.is_empty() {
        spoil(bytes.to_mut(), offset_bytes, befalls);
    }
    bytes
}

/// Makes bytes read or written there wrong, as a fault has them. A request that is not whole sectors has
/// fewer bytes than its sectors; what lies outside its bytes has no effect.
pub(super) fn spoil(bytes: &mut [u8], offset_bytes: u64, befalls: &Befalls) {
    for flip in &befalls.flips {
        let place = flip.offset_bytes.checked_sub(offset_bytes);
        let place = place.and_then(|place| usize::try_from(place).ok());
        if let Some(byte) = place.and_then(|place| bytes.get_mut(place)) {
            *byte ^= flip.mask;
        }
    }
}
