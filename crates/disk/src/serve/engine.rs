//! Brings requests to the model and answers to the kernel, each at its moment.
//!
//! Two sides drive the model by the clock: the thread that brings a request, and a scheduler that
//! sleeps until the next event. Either sends the answers that it finds due.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use anyhow::ensure;
use fuser::Errno;
use parking_lot::{Condvar, Mutex, MutexGuard, RwLock};

use super::alarm::Alarm;
use super::answer::Answer;
use super::befalling::Befalling;
use super::clock::Clock;
pub(super) use super::core::Arrival;
use super::core::{Core, Due, Power};
use super::statistics::{QueueDepth, Report, Statistics};
use super::tracking::Tracking;
use crate::account::Medium;
use crate::account::log::{Asked, Record};
use crate::request::{Kind, Nanos, Request};
use crate::timing::Timing;

/// One disk at work.
pub(super) struct Engine {
    pub(super) clock: Clock,
    core: Mutex<Core>,
    /// The scheduler is to look again: an earlier event, or the end.
    wake: Condvar,
    statistics: Mutex<Statistics>,
    pub(super) tracking: Arc<Tracking>,
    pub(super) faults: Befalling,
    /// A copy of the core's value, for threads that do not hold the core.
    off: AtomicBool,
    /// When the power was last cut; 0 for never.
    cut_at: AtomicU64,
    /// Held by a thread that sends answers, from before it releases the core. A cut waits for it,
    /// so that no answer made before the cut leaves after it.
    sending: RwLock<()>,
    /// When a flush was last answered; 0 for never.
    last_flush: AtomicU64,
}

/// The instant at which the power was cut.
pub(super) struct Cut {
    pub(super) at: Nanos,
    /// Requests that had no answer.
    pub(super) under_way: usize,
    /// When a flush had last been answered since the disk was tracked or had its model.
    pub(super) last_flush: Option<Nanos>,
}

impl Engine {
    /// `path` is in the disk's own time.
    pub(super) fn new(
        clock: Clock,
        timing: Box<dyn Timing>,
        timed: bool,
        path: Nanos,
        medium: Medium,
    ) -> Self {
        let tracking = Arc::new(Tracking::new(clock, medium));
        Self {
            clock,
            core: Mutex::new(Core::new(timing, timed, path, tracking.clone())),
            wake: Condvar::new(),
            statistics: Mutex::new(Statistics::new()),
            tracking,
            faults: Befalling::new(medium.sector_bytes),
            off: AtomicBool::new(false),
            cut_at: AtomicU64::new(0),
            sending: RwLock::new(()),
            last_flush: AtomicU64::new(0),
        }
    }

    pub(super) fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// Whether the power is cut, so that every request fails.
    pub(super) fn is_off(&self) -> bool {
        self.off.load(Ordering::Acquire)
    }

    /// Whether a cut took a request that arrived then: it was in progress at the cut, though the
    /// power may have returned since.
    pub(super) fn is_cut(&self, arrived: Nanos) -> bool {
        self.is_off() || arrived <= self.cut_at.load(Ordering::Acquire)
    }

    /// Takes a request after its bytes have been processed, and answers it when the model does.
    pub(super) fn arrive_with(&self, arrival: Arrival, answer: Answer) {
        let Arrival {
            request,
            ticket,
            arrived,
            ..
        } = arrival;
        let Some(mut core) = self.powered(arrived) else {
            return self.fail(request.kind, answer, Errno::EIO);
        };
        if !core.timed {
            self.tracking.untimed(request.kind, ticket, arrived);
            return self.answer_at_once(core, request, arrived, answer);
        }
        let mut due = Vec::new();
        core.submit(arrival, answer, &mut due);
        core.drive(self.clock.now(), &mut due);
        self.wake_if_earlier(&core);
        // The work after an answer in a directory may come back here, and must not wait for itself.
        let _sending = self.sending.read_recursive();
        drop(core);
        self.statistics.lock().count(request);
        self.send(due);
    }

    /// Takes a request that brings no bytes, as its faults have it; `record` is its place in the account.
    pub(super) fn arrive(
        &self,
        request: Request,
        record: impl FnOnce(Asked) -> Record,
        arrived: Nanos,
        answer: Answer,
    ) {
        let befalls = match self.faults.befalls(request, false, arrived) {
            Ok(befalls) => befalls,
            Err(errno) => return self.refuse(request, arrived, answer, errno),
        };
        if befalls.ignored {
            // It does nothing, as on a device that lies. The account's log has no such flush, because a replay would
            // let it make writes stable.
            return match self.powered(arrived) {
                Some(core) => self.answer_at_once(core, request, arrived, answer),
                None => self.fail(request.kind, answer, Errno::EIO),
            };
        }
        let arrival = Arrival {
            request,
            ticket: self.tracking.asked(record, request, arrived),
            arrived,
            delay: befalls.delay,
        };
        self.arrive_with(arrival, answer);
    }

    /// Fails a request that has changed nothing and is in no log yet.
    pub(super) fn refuse(&self, request: Request, arrived: Nanos, answer: Answer, errno: Errno) {
        let kind = request.kind;
        let failed = |asked| Record::Failed {
            request: kind,
            asked,
        };
        self.tracking.asked(failed, request, arrived);
        self.fail(kind, answer, errno);
    }

    /// The core, unless a cut took a request that arrived then.
    fn powered(&self, arrived: Nanos) -> Option<MutexGuard<'_, Core>> {
        let core = self.core.lock();
        (core.power == Power::On && !self.is_cut(arrived)).then_some(core)
    }

    fn answer_at_once(
        &self,
        core: MutexGuard<'_, Core>,
        request: Request,
        arrived: Nanos,
        answer: Answer,
    ) {
        let _sending = self.sending.read_recursive();
        drop(core);
        self.statistics.lock().count(request);
        self.note_flush(request.kind, arrived);
        answer.give(Ok(arrived));
    }

    /// A request that could not be done; it is answered at once, whatever the model.
    pub(super) fn fail(&self, kind: Kind, answer: Answer, errno: Errno) {
        self.statistics.lock().count_error(kind);
        answer.give(Err(errno));
    }

    fn wake_if_earlier(&self, core: &Core) {
        let Some(due) = core.next_due() else {
            return;
        };
        if due < core.scheduler_wakes {
            self.wake.notify_one();
        }
    }

    fn send(&self, due: Vec<Due>) {
        for due in due {
            let left = self.clock.now();
            self.note_flush(due.kind, left);
            due.answer.give(Ok(due.at));
            let lateness = left.saturating_sub(due.deadline);
            let mut statistics = self.statistics.lock();
            statistics.answered(due.kind, due.latency, due.below_path, lateness);
        }
    }

    fn note_flush(&self, kind: Kind, at: Nanos) {
        if kind == Kind::Flush {
            self.last_flush.fetch_max(at, Ordering::Relaxed);
        }
    }

    /// The scheduler: sleeps until something is due, until the end.
    pub(super) fn schedule(&self) {
        let mut alarm = Alarm::default();
        // The moment that was slept for; its answers leave though it may not quite have come.
        let mut called_for = 0;
        let mut core = self.core.lock();
        while core.power != Power::Ended {
            let mut due = Vec::new();
            core.drive(self.clock.now().max(called_for), &mut due);
            if due.is_empty() {
                called_for = self.sleep(&mut core, &mut alarm);
            } else {
                let sending = self.sending.read_recursive();
                MutexGuard::unlocked(&mut core, || {
                    self.send(due);
                    drop(sending);
                });
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
        let set_for = deadline.saturating_sub(alarm.lead());
        if self.clock.now() < set_for {
            core.scheduler_wakes = deadline;
            let woken = self.wake.wait_until(core, self.clock.instant(set_for));
            core.scheduler_wakes = 0;
            if !woken.timed_out() {
                return 0;
            }
            alarm.came_late(self.clock.now().saturating_sub(set_for));
        }
        deadline
    }

    /// Starts or stops taking the model's time. Requests in progress keep theirs.
    pub(super) fn set_timed(&self, timed: bool) {
        self.core.lock().timed = timed;
    }

    pub(super) fn is_timed(&self) -> bool {
        self.core.lock().timed
    }

    pub(super) fn set_path(&self, path: Nanos) {
        self.core.lock().path = path;
    }

    /// Continues with a new model if this one was used or is not the wanted one (`another`), and
    /// restarts the statistics. Refused while requests are in progress.
    pub(super) fn renew(
        &self,
        another: bool,
        anew: impl FnOnce() -> Box<dyn Timing>,
    ) -> anyhow::Result<()> {
        let mut core = self.core.lock();
        check_idle(&core)?;
        if another || core.used || core.power == Power::Cut {
            core.renew(anew());
        }
        self.last_flush.store(0, Ordering::Relaxed);
        self.off.store(false, Ordering::Release);
        drop(core);
        self.reset();
        Ok(())
    }

    pub(super) fn check_idle(&self) -> anyhow::Result<()> {
        check_idle(&self.core.lock())
    }

    /// Cuts the power: answers that left before are true, and none leaves after. `None` if the
    /// power is off.
    pub(super) fn cut(&self) -> Option<Cut> {
        let mut core = self.core.lock();
        if core.power != Power::On {
            return None;
        }
        let nobody_sends = self.sending.write();
        let at = self.clock.now();
        let failed = core.cut(at);
        self.cut_at.store(at, Ordering::Release);
        self.off.store(true, Ordering::Release);
        drop(nobody_sends);
        drop(core);
        let last_flush = self.last_flush.load(Ordering::Relaxed);
        let cut = Cut {
            at,
            under_way: failed.len(),
            last_flush: (last_flush > 0).then_some(last_flush),
        };
        for (kind, answer) in failed {
            self.fail(kind, answer, Errno::EIO);
        }
        Some(cut)
    }

    /// Flushes that were answered so far are of another account.
    pub(super) fn forget_flushes(&self) {
        self.last_flush.store(0, Ordering::Relaxed);
    }

    /// Statistics count from now on.
    pub(super) fn reset(&self) {
        let mut fresh = Statistics::new();
        let mut core = self.core.lock();
        let now = self.clock.now();
        core.depth.reset(now);
        fresh.begin(now, core.timing.counters());
        let before = std::mem::replace(&mut *self.statistics.lock(), fresh);
        drop(core);
        drop(before);
    }

    /// Answers go on meanwhile, because the lock is held only to copy the figures.
    pub(super) fn report(&self) -> Report {
        let mut core = self.core.lock();
        let now = self.clock.now();
        let (timing, unstable_bytes) = (core.timed, core.unstable_bytes);
        let queue_depth = QueueDepth {
            mean: core.depth.mean(now),
            max: core.depth.max,
            full_share: core.depth.full_share(now),
        };
        let counters = core.timing.counters();
        drop(core);
        let statistics = self.statistics.lock().clone();
        Report {
            timing,
            queue_depth,
            unstable_bytes,
            faults: self.faults.befallen(),
            ..statistics.report(now, counters)
        }
    }

    /// Ends the disk: requests in progress fail, and so do all later ones.
    pub(super) fn end(&self) {
        let left = self.core.lock().end();
        self.wake.notify_all();
        for (_, answer) in left {
            answer.give(Err(Errno::EIO));
        }
    }
}

fn check_idle(core: &Core) -> anyhow::Result<()> {
    let under_way = core.under_way();
    ensure!(
        under_way == 0,
        "{under_way} requests are in progress; unmount the file system on the disk first"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::request::{NANOS_PER_MS, Tag};
    use crate::timing::{Counters, Event};

    /// A read takes a millisecond for each of its bytes, whatever else there is.
    #[derive(Default)]
    struct ByLength {
        pending: Vec<(Nanos, Tag)>,
    }

    impl Timing for ByLength {
        fn capacity_bytes(&self) -> u64 {
            1 << 20
        }

        fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
            self.pending
                .push((now + request.length_bytes * NANOS_PER_MS, tag));
        }

        fn next_event(&self) -> Option<Nanos> {
            self.pending.iter().map(|(at, _)| *at).min()
        }

        fn advance(&mut self, now: Nanos, events: &mut Vec<Event>) {
            self.pending.retain(|&(at, tag)| {
                if at <= now {
                    events.push(Event::Answered { tag, at });
                }
                at > now
            });
        }

        fn counters(&self) -> Counters {
            Counters::new()
        }
    }

    fn engine(path: Nanos) -> Engine {
        let medium = Medium {
            size_bytes: 1 << 20,
            sector_bytes: 512,
            survives: true,
        };
        let timing = Box::new(ByLength::default());
        Engine::new(Clock::start(1), timing, true, path, medium)
    }

    /// It may have left its bytes before the cut and come to the model after a restore that was quick.
    #[test]
    fn what_came_before_a_cut_is_taken_by_it_though_the_power_has_returned() {
        let engine = engine(0);
        let came = engine.now();
        engine.cut().expect("it was on");
        assert!(engine.is_cut(engine.now()));
        let renewed = engine.renew(true, || Box::new(ByLength::default()));
        renewed.expect("nothing is under way");
        engine.set_timed(false);
        let (answered, answers) = channel();
        for (arrived, good) in [(came, false), (engine.now(), true)] {
            let answered = answered.clone();
            assert_eq!(engine.is_cut(arrived), !good);
            let answer = Answer::Then(Box::new(move |outcome| {
                let _ = answered.send(outcome.is_ok());
            }));
            engine.arrive(Request::flush(), Record::Flush, arrived, answer);
            assert_eq!(answers.try_recv(), Ok(good));
        }
    }

    #[test]
    fn answers_faster_than_their_way_are_counted() {
        let engine = engine(20 * NANOS_PER_MS);
        assert_eq!(engine.report().below_path, None);
        for length_ms in [10, 19, 20, 30] {
            let answer = Answer::Then(Box::new(|_| ()));
            engine.arrive(
                Request::read(0, length_ms),
                Record::Read,
                engine.now(),
                answer,
            );
        }
        std::thread::scope(|threads| {
            threads.spawn(|| engine.schedule());
            let begun = Instant::now();
            let patience = Duration::from_secs(10);
            while engine.report().timed_requests < 4 && begun.elapsed() < patience {
                std::thread::sleep(Duration::from_millis(1));
            }
            engine.end();
        });
        let report = engine.report();
        assert_eq!((report.timed_requests, report.below_path), (4, Some(0.5)));
        engine.reset();
        let report = engine.report();
        assert_eq!((report.timed_requests, report.below_path), (0, None));
    }
}
