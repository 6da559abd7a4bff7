//! What a thread that keeps time asks of the system: priority over others, timers exact to the
//! nanosecond, and a processor that does not sleep deeply. If the system refuses, answers are
//! later, and the lateness shows it.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::num::NonZeroU64;

use parking_lot::Mutex;
use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};

/// Work that keeps time, with its priority: above everything ordinary, below what the kernel itself
/// runs at 50.
///
/// Requests are taken before answers are sent. To send one takes 20 us, and a request that waits
/// meanwhile is in no account of the disk; an answer that waits is late. With equal priorities, 64
/// readers of an SSD on two busy CPUs had 12 of their requests in the model at a time, now 29.
#[derive(Clone, Copy)]
pub(super) enum Work {
    Answers = 20,
    Requests = 21,
}

/// Real-time priority and timers without slack for the calling thread and those it starts.
pub(super) fn keep_time(work: Work) {
    if let Ok(priority) = (work as u8).try_into() {
        let _ = set_thread_priority_and_policy(
            thread_native_id(),
            ThreadPriority::Crossplatform(priority),
            ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo),
        );
    }
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

/// Marks this process as one through which blocks go: its own memory is then never reclaimed by
/// writing to its own disk, which would wait for itself. Threads started later inherit it.
pub(super) fn never_wait_for_oneself() {
    let _ = rustix::process::configure_io_flusher_behavior(true);
}

/// Keeps the processors from deep sleep, from which waking takes tens of microseconds, as long as it
/// is held: the setting lives as long as the open file.
#[derive(Default)]
pub(super) struct Awake(Mutex<Option<File>>);

impl Awake {
    /// Whether the setting is in force now.
    pub(super) fn is_held(&self) -> bool {
        self.0.lock().is_some()
    }

    pub(super) fn set(&self, wanted: bool) {
        let mut held = self.0.lock();
        if !wanted {
            *held = None;
        } else if held.is_none() {
            *held = hold();
        }
    }
}

fn hold() -> Option<File> {
    let mut file = OpenOptions::new()
        .write(true)
        .open("/dev/cpu_dma_latency")
        .ok()?;
    file.write_all(&0_i32.to_ne_bytes()).ok()?;
    Some(file)
}
