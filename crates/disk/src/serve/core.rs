//! A model and the requests that are in it: everything about their times that needs no clock.
//!
//! Answers are due earlier than the model says by what their way costs (`path`), never before the
//! request arrived. For that the model is brought at most `path` ahead of the clock, and only as far
//! as its next event. A request that arrives meanwhile is submitted at its arrival if the model's head
//! start allows, at the model's moment if not; its answer is then late by the difference.

use std::collections::HashMap;

use super::answer::Answer;
use super::depth::Depth;
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

/// More than any model does at one moment for all the requests that a disk can have.
const STEPS_AT_A_MOMENT: u32 = 1_000_000;

pub(super) struct Core {
    pub(super) timing: Box<dyn Timing>,
    pub(super) pace: Pace,
    pub(super) timed: bool,
    pub(super) ended: bool,
    /// When the scheduler wakes by itself: 0 while it is awake.
    pub(super) scheduler_wakes: Nanos,
    pub(super) depth: Depth,
    /// Bytes that a power cut could still take.
    pub(super) unstable_bytes: u64,
    /// The latest moment that was named to the model.
    model_at: Nanos,
    next_tag: u64,
    used: bool,
    under_way: HashMap<Tag, UnderWay>,
    /// Bytes of each write that is not stable.
    unstable: HashMap<Tag, u64>,
    events: Vec<Event>,
}

struct UnderWay {
    kind: Kind,
    arrived: Nanos,
    submitted: Nanos,
    answer: Answer,
}

/// An answer whose moment has come.
pub(super) struct Due {
    pub(super) kind: Kind,
    pub(super) answer: Answer,
    /// The model's moment, counted from the arrival.
    pub(super) at: Nanos,
    /// The model's.
    pub(super) latency: Nanos,
    /// Whether that is less than its way costs: it cannot be seen to be so fast.
    pub(super) below_path: bool,
    /// When it should leave.
    pub(super) deadline: Nanos,
}

impl Core {
    pub(super) fn new(timing: Box<dyn Timing>, timed: bool, pace: Pace) -> Self {
        Self {
            timing,
            pace,
            timed,
            ended: false,
            scheduler_wakes: 0,
            depth: Depth::default(),
            unstable_bytes: 0,
            model_at: 0,
            next_tag: 0,
            used: false,
            under_way: HashMap::new(),
            unstable: HashMap::new(),
            events: Vec::new(),
        }
    }

    pub(super) fn under_way(&self) -> usize {
        self.under_way.len()
    }

    /// Whether the model has had a request since it was made.
    pub(super) fn is_used(&self) -> bool {
        self.used
    }

    /// Goes on with another model, which knows nothing of what was; only where nothing is under way.
    pub(super) fn renew(&mut self, timing: Box<dyn Timing>) {
        debug_assert!(self.under_way.is_empty(), "their answers would never come");
        self.timing = timing;
        self.used = false;
        self.unstable.clear();
        self.unstable_bytes = 0;
    }

    /// When answers have to be looked for, unless something is submitted before.
    pub(super) fn next_due(&self) -> Option<Nanos> {
        let next = self.timing.next_event()?;
        Some(next.saturating_sub(self.pace.path))
    }

    /// Nothing is in the model for anybody any more: what was under way is given back.
    pub(super) fn end(&mut self) -> Vec<Answer> {
        self.ended = true;
        let left = self.under_way.drain();
        left.map(|(_, request)| request.answer).collect()
    }

    /// Brings the model to what arrived; what is due by then is told.
    pub(super) fn submit(
        &mut self,
        request: Request,
        arrived: Nanos,
        answer: Answer,
        due: &mut Vec<Due>,
    ) {
        let submitted = arrived.max(self.model_at.saturating_sub(self.timing.head_start()));
        if submitted > self.model_at {
            self.advance(submitted, due);
        }
        let tag = Tag(self.next_tag);
        self.next_tag += 1;
        self.used = true;
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
    ///
    /// # Panics
    ///
    /// Where the model always has something to do at the same moment: it would never end, and the
    /// disk hang. The thread's end is the disk's.
    pub(super) fn drive(&mut self, now: Nanos, due: &mut Vec<Due>) {
        let horizon = now + self.pace.path;
        let mut still = 0;
        while let Some(next) = self.timing.next_event()
            && next <= horizon
        {
            still = if next > self.model_at { 0 } else { still + 1 };
            assert!(still < STEPS_AT_A_MOMENT, "the model stands still");
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
                        below_path: latency < self.pace.path,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::NANOS_PER_MS;
    use crate::timing::Counters;

    const MS: Nanos = NANOS_PER_MS;

    /// Every request takes the same time, however many there are.
    struct Fixed {
        latency: Nanos,
        head_start: Nanos,
        named: Nanos,
        pending: Vec<(Nanos, Tag)>,
    }

    impl Timing for Fixed {
        fn capacity_bytes(&self) -> u64 {
            1 << 20
        }

        fn head_start(&self) -> Nanos {
            self.head_start
        }

        fn submit(&mut self, now: Nanos, tag: Tag, _request: Request) {
            assert!(now + self.head_start >= self.named, "too far in the past");
            self.pending.push((now + self.latency, tag));
        }

        fn next_event(&self) -> Option<Nanos> {
            self.pending.first().map(|(at, _)| *at)
        }

        fn advance(&mut self, now: Nanos, events: &mut Vec<Event>) {
            self.named = now;
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

    fn core(latency_ms: Nanos, path_ms: Nanos, head_start_ms: Nanos) -> Core {
        let timing = Fixed {
            latency: latency_ms * MS,
            head_start: head_start_ms * MS,
            named: 0,
            pending: Vec::new(),
        };
        let pace = Pace {
            path: path_ms * MS,
            spin: 0,
        };
        Core::new(Box::new(timing), true, pace)
    }

    fn arrive(core: &mut Core, at_ms: Nanos) -> Vec<Due> {
        let mut due = Vec::new();
        let answer = Answer::Then(Box::new(|_| ()));
        core.submit(Request::read(0, 4096), at_ms * MS, answer, &mut due);
        core.drive(at_ms * MS, &mut due);
        due
    }

    fn drive(core: &mut Core, at_ms: Nanos) -> Vec<Due> {
        let mut due = Vec::new();
        core.drive(at_ms * MS, &mut due);
        due
    }

    #[test]
    fn an_answer_is_due_earlier_by_its_way() {
        let mut core = core(50, 20, 0);
        assert!(arrive(&mut core, 100).is_empty());
        assert_eq!(core.next_due(), Some(130 * MS));
        assert!(drive(&mut core, 129).is_empty());
        let due = drive(&mut core, 130);
        assert_eq!(due.len(), 1);
        assert_eq!(due[0].latency, 50 * MS);
        assert_eq!(due[0].deadline, 130 * MS);
        assert_eq!(due[0].at, 150 * MS);
        assert_eq!((core.under_way(), core.next_due()), (0, None));
    }

    #[test]
    fn an_answer_is_never_due_before_its_request() {
        let mut core = core(10, 20, 0);
        let due = arrive(&mut core, 100);
        assert_eq!((due[0].latency, due[0].deadline), (10 * MS, 100 * MS));
    }

    /// One after the other, over a way that costs what was measured, is exactly the model's time.
    #[test]
    fn a_chain_of_requests_runs_at_the_models_pace() {
        let mut core = core(50, 20, 0);
        for round in 0..5 {
            let arrival = 100 + 50 * round;
            assert!(arrive(&mut core, arrival).is_empty());
            let due = drive(&mut core, arrival + 30);
            assert_eq!(due[0].latency, 50 * MS, "round {round}");
            assert_eq!(due[0].deadline, (arrival + 30) * MS);
        }
    }

    #[test]
    fn who_arrives_while_the_model_is_ahead_is_late_by_the_difference() {
        let mut core = core(50, 20, 0);
        arrive(&mut core, 100);
        assert_eq!(drive(&mut core, 130).len(), 1);
        arrive(&mut core, 135);
        // The model was at 150 by then: its answer comes at 200, and leaves at 180.
        assert_eq!(core.next_due(), Some(180 * MS));
        let due = drive(&mut core, 180);
        assert_eq!(due[0].deadline, 165 * MS);
    }

    #[test]
    fn a_head_start_makes_nobody_late() {
        let mut core = core(50, 20, 15);
        arrive(&mut core, 100);
        assert_eq!(drive(&mut core, 130).len(), 1);
        arrive(&mut core, 135);
        assert_eq!(core.next_due(), Some(165 * MS));
        assert_eq!(drive(&mut core, 165)[0].deadline, 165 * MS);
        // A shorter one makes less late.
        arrive(&mut core, 166);
        assert_eq!(core.next_due(), Some(200 * MS));
        arrive(&mut core, 186);
        assert_eq!(core.next_due(), Some(200 * MS));
        assert_eq!(drive(&mut core, 200)[0].deadline, 196 * MS);
    }

    #[test]
    fn a_new_model_knows_nothing_of_what_the_old_one_held() {
        let mut core = core(50, 20, 0);
        assert!(!core.is_used());
        let mut due = Vec::new();
        let answer = Answer::Then(Box::new(|_| ()));
        core.submit(Request::write(0, 4096), 100 * MS, answer, &mut due);
        assert_eq!(drive(&mut core, 150).len(), 1);
        // This model never tells that the write is stable.
        assert_eq!((core.unstable_bytes, core.is_used()), (4096, true));
        let fresh = Fixed {
            latency: 7 * MS,
            head_start: 0,
            named: 0,
            pending: Vec::new(),
        };
        core.renew(Box::new(fresh));
        assert_eq!((core.unstable_bytes, core.is_used()), (0, false));
        assert_eq!(arrive(&mut core, 200)[0].latency, 7 * MS);
    }

    #[test]
    #[should_panic(expected = "the model stands still")]
    fn a_model_that_never_gets_on_is_found_out() {
        struct Stuck;
        impl Timing for Stuck {
            fn capacity_bytes(&self) -> u64 {
                4096
            }
            fn submit(&mut self, _now: Nanos, _tag: Tag, _request: Request) {}
            fn next_event(&self) -> Option<Nanos> {
                Some(0)
            }
            fn advance(&mut self, _now: Nanos, _events: &mut Vec<Event>) {}
            fn counters(&self) -> Counters {
                Counters::new()
            }
        }
        let pace = Pace { path: 0, spin: 0 };
        drive(&mut Core::new(Box::new(Stuck), true, pace), 1);
    }

    #[test]
    fn what_is_left_at_the_end_is_given_back() {
        let mut core = core(50, 20, 0);
        arrive(&mut core, 100);
        arrive(&mut core, 101);
        assert_eq!(core.end().len(), 2);
        assert!(core.ended);
        assert_eq!(core.under_way(), 0);
    }
}
