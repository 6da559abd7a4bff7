//! The scheduling policy of a worker.

use rustix::process::getpriority_process;
use thread_priority::unix::{
    NormalThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy,
    thread_native_id,
};
use thread_priority::{ThreadPriority, ThreadPriorityValue};

/// Makes the calling thread `SCHED_BATCH`: when a reply wakes it, it does not push the server off
/// the core at once, but takes its turn.
///
/// If the server runs on the same machine, a worker that is woken by each reply pre-empts the
/// server to read it. That costs two context switches per statement, and the next reply is not
/// ready afterwards. A worker that waits for its turn finds several replies: at 64 clients on two
/// cores that halved our CPU time per statement, and at 8 it raised the throughput by a quarter. If
/// a core is free, or the server is elsewhere, there is no difference.
///
/// A kernel that refuses leaves things as they are, which is slower but not wrong.
pub(super) fn take_turns() {
    let Some(priority) = present_priority() else {
        return;
    };
    let batch = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Batch);
    let _ = set_thread_priority_and_policy(thread_native_id(), priority, batch);
}

/// The niceness that the user gave us, as the crate counts it: 0 to 99 stand for 19 to -20, and
/// what is between two of its steps is rounded so as to come back to the same niceness.
fn present_priority() -> Option<ThreadPriority> {
    let nice = getpriority_process(None).ok()?;
    let steps = u8::try_from(99 * (19 - nice) / 39).ok()?;
    let value = ThreadPriorityValue::try_from(steps).ok()?;
    Some(ThreadPriority::Crossplatform(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use thread_priority::unix::thread_schedule_policy;

    #[test]
    fn a_worker_takes_turns_and_stays_as_nice_as_it_was() {
        let changed = std::thread::spawn(|| {
            let before = getpriority_process(None).unwrap();
            take_turns();
            let policy = thread_schedule_policy().unwrap();
            (policy, before, getpriority_process(None).unwrap())
        });
        let (policy, before, after) = changed.join().unwrap();
        let batch = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Batch);
        assert_eq!((policy, after), (batch, before));
    }
}
