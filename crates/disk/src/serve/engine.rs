//! Brings requests to the model and answers to the kernel, each at its moment.
//!
//! The model is driven by the clock from two sides: by whoever brings a request, and by a scheduler
//! that sleeps until the next event. Whoever finds answers due sends them. What an answer costs on
//! its way (`path`, measured beforehand) is taken off: it leaves that much earlier than the model
//! says, so that a database sees the model's latency and not the model's plus ours; never before the
//! request arrived. For that the model runs at most `path` ahead of the clock, and only as far as
//! its next event. A request that arrives meanwhile is submitted at its arrival if the model's head
//! start allows, at the model's moment if not; the difference is counted as lateness.

use std::collections::HashMap;

use fuser::Errno;
use parking_lot::{Condvar, Mutex, MutexGuard};

use super::answer::Answer;
use super::clock::Clock;
use super::statistics::{Answered, Report, Statistics};
use crate::request::{Kind, Nanos, Request, Tag};
use crate::timing::{Event, Timing};

/// How answers are timed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// What the way to the kernel and back costs, taken off each modelled latency.
    pub(super) path: Nanos,
    /// The last bit before a deadline is waited for without sleeping; 0 for never.
    pub(super) spin: Nanos,
}

/// One disk at work.
pub(super) struct Engine {
    clock: Clock,
    core: Mutex<Core>,
    /// The scheduler is to look again: an earlier event, or the end.
    wake: Condvar,
    statistics: Mutex<Statistics>,
}

struct Core {
    timing: Box<dyn Timing>,
    pace: Pace,
    timed: bool,
    ended: bool,
    /// The latest moment that was named to the model.
    model_at: Nanos,
    next_tag: u64,
    under_way: HashMap<Tag, UnderWay>,
    /// Bytes of each write that a power cut could still take.
    unstable: HashMap<Tag, u64>,
    unstable_bytes: u64,
    events: Vec<Event>,
    /// When the scheduler wakes by itself: 0 while it is awake.
    scheduler_wakes: Nanos,
    depth: Depth,
}

struct UnderWay {
    kind: Kind,
    arrived: Nanos,
    submitted: Nanos,
    answer: Answer,
}

/// An answer whose moment has come.
struct Due {
    kind: Kind,
    answer: Answer,
    /// The model's moment, counted from the arrival.
    at: Nanos,
    /// The model's.
    latency: Nanos,
    /// When it should leave.
    deadline: Nanos,
}

impl Engine {
    pub(super) fn new(timing: Box<dyn Timing>, timed: bool, pace: Pace) -> Self {
        let clock = Clock::start();
        Self {
            clock,
            core: Mutex::new(Core {
                timing,
                pace,
                timed,
                ended: false,
                model_at: 0,
                next_tag: 0,
                under_way: HashMap::new(),
                unstable: HashMap::new(),
                unstable_bytes: 0,
                events: Vec::new(),
                scheduler_wakes: 0,
                depth: Depth::default(),
            }),
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
            .timing
            .next_event()
            .is_some_and(|next| next < core.scheduler_wakes)
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
        let mut core = self.core.lock();
        while !core.ended {
            let mut due = Vec::new();
            core.drive(self.clock.now(), &mut due);
            if due.is_empty() {
                self.sleep(&mut core);
            } else {
                MutexGuard::unlocked(&mut core, || self.send(due));
            }
        }
    }

    fn sleep(&self, core: &mut MutexGuard<'_, Core>) {
        let Some(next) = core.timing.next_event() else {
            core.scheduler_wakes = Nanos::MAX;
            self.wake.wait(core);
            core.scheduler_wakes = 0;
            return;
        };
        let deadline = next.saturating_sub(core.pace.path);
        let spin = core.pace.spin;
        core.scheduler_wakes = next;
        self.wake
            .wait_until(core, self.clock.instant(deadline.saturating_sub(spin)));
        core.scheduler_wakes = 0;
        if spin > 0 {
            MutexGuard::unlocked(core, || self.spin_until(deadline, spin));
        }
    }

    /// Not at all if the deadline is further away than that: something else woke the scheduler.
    fn spin_until(&self, deadline: Nanos, spin: Nanos) {
        if self.clock.now() + spin < deadline {
            return;
        }
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

    pub(super) fn requests_under_way(&self) -> usize {
        self.core.lock().under_way.len()
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
        let mut core = self.core.lock();
        core.ended = true;
        let left: Vec<UnderWay> = core.under_way.drain().map(|(_, request)| request).collect();
        drop(core);
        self.wake.notify_all();
        for request in left {
            request.answer.fail(Errno::EIO);
        }
    }
}

impl Core {
    fn submit(&mut self, request: Request, arrived: Nanos, answer: Answer, due: &mut Vec<Due>) {
        let submitted = arrived.max(self.model_at.saturating_sub(self.timing.head_start()));
        if submitted > self.model_at {
            self.advance(submitted, due);
        }
        let tag = Tag(self.next_tag);
        self.next_tag += 1;
        if matches!(request.kind, Kind::Write | Kind::Discard) {
            self.unstable.insert(tag, request.length_bytes);
            self.unstable_bytes += request.length_bytes;
        }
        self.under_way.insert(
            tag,
            UnderWay {
                kind: request.kind,
                arrived,
                submitted,
                answer,
            },
        );
        self.depth.changes(arrived, self.under_way.len());
        self.timing.submit(submitted, tag, request);
    }

    /// Lets the model do all whose answers have to leave by now.
    fn drive(&mut self, now: Nanos, due: &mut Vec<Due>) {
        let horizon = now + self.pace.path;
        while let Some(next) = self.timing.next_event()
            && next <= horizon
        {
            self.advance(next.max(self.model_at), due);
        }
    }

    fn advance(&mut self, to: Nanos, due: &mut Vec<Due>) {
        self.model_at = to;
        self.timing.advance(to, &mut self.events);
        for event in self.events.drain(..) {
            match event {
                Event::Answered { tag, at } => {
                    let request = self
                        .under_way
                        .remove(&tag)
                        .expect("a model answers each request once");
                    self.depth.changes(at, self.under_way.len());
                    let latency = at - request.submitted;
                    due.push(Due {
                        kind: request.kind,
                        answer: request.answer,
                        at: request.arrived + latency,
                        latency,
                        deadline: request.arrived + latency.saturating_sub(self.pace.path),
                    });
                }
                Event::Stable { tag, .. } => {
                    let bytes = self.unstable.remove(&tag).unwrap_or(0);
                    self.unstable_bytes -= bytes;
                }
            }
        }
    }
}

/// Requests under way over time.
#[derive(Default)]
struct Depth {
    now: usize,
    max: usize,
    /// Request-nanoseconds since `from`.
    area: u128,
    from: Nanos,
    changed: Nanos,
}

impl Depth {
    fn changes(&mut self, at: Nanos, depth: usize) {
        self.area += u128::from(at.saturating_sub(self.changed)) * self.now as u128;
        self.changed = self.changed.max(at);
        self.now = depth;
        self.max = self.max.max(depth);
    }

    fn reset(&mut self, at: Nanos) {
        *self = Self {
            now: self.now,
            max: self.now,
            area: 0,
            from: at,
            changed: at,
        };
    }

    fn mean(&mut self, at: Nanos) -> f64 {
        self.changes(at, self.now);
        self.area as f64 / at.saturating_sub(self.from).max(1) as f64
    }
}
