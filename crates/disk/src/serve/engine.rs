//! Brings requests to the model and answers to the kernel, each at its moment.
//!
//! The model is driven by the clock from two sides: by whoever brings a request, and by a scheduler
//! that sleeps until the next event. Whoever finds answers due sends them.

use fuser::Errno;
use parking_lot::{Condvar, Mutex, MutexGuard};

use super::alarm::Alarm;
use super::answer::Answer;
use super::clock::Clock;
pub(super) use super::core::Pace;
use super::core::{Core, Due};
use super::statistics::{Answered, Report, Statistics};
use crate::request::{Kind, Nanos, Request};
use crate::timing::Timing;

/// One disk at work.
pub(super) struct Engine {
    clock: Clock,
    core: Mutex<Core>,
    /// The scheduler is to look again: an earlier event, or the end.
    wake: Condvar,
    statistics: Mutex<Statistics>,
}

impl Engine {
    pub(super) fn new(timing: Box<dyn Timing>, timed: bool, pace: Pace) -> Self {
        let clock = Clock::start();
        Self {
            clock,
            core: Mutex::new(Core::new(timing, timed, pace)),
            wake: Condvar::new(),
            statistics: Mutex::new(Statistics::new()),
        }
    }

    pub(super) fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// Takes a request whose bytes have been dealt with, and answers it when the model does.
    pub(super) fn arrive(&self, request: Request, arrived: Nanos, answer: Answer) {
        let mut core = self.core.lock();
        if core.ended {
            drop(core);
            answer.fail(Errno::EIO);
            return;
        }
        if !core.timed {
            drop(core);
            self.statistics.lock().count(request);
            answer.send(arrived);
            return;
        }
        let mut due = Vec::new();
        core.submit(request, arrived, answer, &mut due);
        core.drive(self.clock.now(), &mut due);
        self.wake_if_earlier(&core);
        drop(core);
        self.statistics.lock().count(request);
        self.send(due);
    }

    /// A request that could not be done; it is answered at once, whatever the model.
    pub(super) fn fail(&self, kind: Kind, answer: Answer, errno: Errno) {
        self.statistics.lock().count_error(kind);
        answer.fail(errno);
    }

    fn wake_if_earlier(&self, core: &Core) {
        if core
            .next_due()
            .is_some_and(|due| due < core.scheduler_wakes)
        {
            self.wake.notify_one();
        }
    }

    fn send(&self, due: Vec<Due>) {
        for due in due {
            let left = self.clock.now();
            due.answer.send(due.at);
            self.statistics.lock().answered(Answered {
                kind: due.kind,
                latency: due.latency,
                lateness: left.saturating_sub(due.deadline),
            });
        }
    }

    /// The scheduler: sleeps until something is due, until the end.
    pub(super) fn schedule(&self) {
        let mut alarm = Alarm::default();
        // The moment that was slept for; its answers leave though it may not quite have come.
        let mut called_for = 0;
        let mut core = self.core.lock();
        while !core.ended {
            let mut due = Vec::new();
            core.drive(self.clock.now().max(called_for), &mut due);
            if due.is_empty() {
                called_for = self.sleep(&mut core, &mut alarm);
            } else {
                MutexGuard::unlocked(&mut core, || self.send(due));
            }
        }
    }

    /// Sleeps until the next answer is due, and says when that is; 0 if woken by something else.
    fn sleep(&self, core: &mut MutexGuard<'_, Core>, alarm: &mut Alarm) -> Nanos {
        let Some(deadline) = core.next_due() else {
            core.scheduler_wakes = Nanos::MAX;
            self.wake.wait(core);
            core.scheduler_wakes = 0;
            return 0;
        };
        let spin = core.pace.spin;
        let lead = if spin > 0 { spin } else { alarm.lead() };
        let set_for = deadline.saturating_sub(lead);
        if self.clock.now() < set_for {
            core.scheduler_wakes = deadline;
            let woken = self.wake.wait_until(core, self.clock.instant(set_for));
            core.scheduler_wakes = 0;
            if !woken.timed_out() {
                return 0;
            }
            alarm.came_late(self.clock.now().saturating_sub(set_for));
        }
        if spin > 0 {
            MutexGuard::unlocked(core, || self.spin_until(deadline));
        }
        deadline
    }

    fn spin_until(&self, deadline: Nanos) {
        while self.clock.now() < deadline {
            std::hint::spin_loop();
        }
    }

    /// From now on requests take the model's time, or none. Those under way keep theirs.
    pub(super) fn set_timed(&self, timed: bool) {
        self.core.lock().timed = timed;
    }

    pub(super) fn is_timed(&self) -> bool {
        self.core.lock().timed
    }

    pub(super) fn set_path(&self, path: Nanos) {
        self.core.lock().pace.path = path;
    }

    /// Goes on with a new model where this one was used or is `another` than wanted, and counts from
    /// now; `Err` says how many requests are in the way.
    pub(super) fn renew(
        &self,
        another: bool,
        anew: impl FnOnce() -> Box<dyn Timing>,
    ) -> Result<(), usize> {
        let mut core = self.core.lock();
        if core.under_way() > 0 {
            return Err(core.under_way());
        }
        if another || core.is_used() {
            core.renew(anew());
        }
        drop(core);
        self.reset();
        Ok(())
    }

    /// Statistics count from now on.
    pub(super) fn reset(&self) {
        let now = self.clock.now();
        let mut core = self.core.lock();
        core.depth.reset(now);
        self.statistics.lock().reset(now, core.timing.counters());
    }

    pub(super) fn report(&self) -> Report {
        let now = self.clock.now();
        let mut core = self.core.lock();
        let mean_depth = core.depth.mean(now);
        let statistics = self.statistics.lock();
        let mut report = statistics.report(now, core.timing.counters());
        report.timing = core.timed;
        report.queue_depth.mean = mean_depth;
        report.queue_depth.max = core.depth.max;
        report.unstable_bytes = core.unstable_bytes;
        report
    }

    /// Ends the disk: what is under way fails, and so does all that comes.
    pub(super) fn end(&self) {
        let left = self.core.lock().end();
        self.wake.notify_all();
        for answer in left {
            answer.fail(Errno::EIO);
        }
    }
}
