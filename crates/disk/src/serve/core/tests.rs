use super::*;
use crate::account::Medium;
use crate::request::NANOS_PER_MS;
use crate::serve::clock::Clock;
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

/// The account of a disk that is not tracked.
fn untracked() -> Arc<Tracking> {
    let medium = Medium {
        size_bytes: 1 << 20,
        sector_bytes: 512,
        survives: true,
    };
    Arc::new(Tracking::new(Clock::start(1), medium))
}

fn core(latency_ms: Nanos, path_ms: Nanos, head_start_ms: Nanos) -> Core {
    let timing = Fixed {
        latency: latency_ms * MS,
        head_start: head_start_ms * MS,
        named: 0,
        pending: Vec::new(),
    };
    Core::new(Box::new(timing), true, path_ms * MS, untracked())
}

fn arrival(request: Request, at_ms: Nanos) -> Arrival {
    Arrival {
        request,
        ticket: None,
        arrived: at_ms * MS,
        delay: Delay::default(),
    }
}

fn arrive(core: &mut Core, at_ms: Nanos) -> Vec<Due> {
    let mut due = Vec::new();
    let answer = Answer::Then(Box::new(|_| ()));
    core.submit(arrival(Request::read(0, 4096), at_ms), answer, &mut due);
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
    assert!(!core.used);
    let mut due = Vec::new();
    let answer = Answer::Then(Box::new(|_| ()));
    core.submit(arrival(Request::write(0, 4096), 100), answer, &mut due);
    assert_eq!(drive(&mut core, 150).len(), 1);
    // This model never tells that the write is stable.
    assert_eq!((core.unstable_bytes, core.used), (4096, true));
    let fresh = Fixed {
        latency: 7 * MS,
        head_start: 0,
        named: 0,
        pending: Vec::new(),
    };
    core.renew(Box::new(fresh));
    assert_eq!((core.unstable_bytes, core.used), (0, false));
    assert_eq!(arrive(&mut core, 200)[0].latency, 7 * MS);
}

/// A delay makes one answer later, not those behind it; what is held back is under way.
#[test]
fn a_fault_holds_an_answer_back() {
    let mut core = core(50, 20, 0);
    let mut due = Vec::new();
    for (arrived, add) in [(100, 70), (101, 0)] {
        let mut arrival = arrival(Request::read(0, 4096), arrived);
        arrival.delay.add = add * MS;
        core.submit(arrival, Answer::Then(Box::new(|_| ())), &mut due);
    }
    let first = drive(&mut core, 190);
    assert_eq!(first.len(), 1);
    assert_eq!(first[0].latency, 50 * MS);
    assert_eq!((core.under_way(), core.next_due()), (1, Some(200 * MS)));
    let second = drive(&mut core, 200);
    assert_eq!(
        (second[0].latency, second[0].deadline),
        (120 * MS, 200 * MS)
    );
    assert_eq!((core.under_way(), core.next_due()), (0, None));
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
    drive(&mut Core::new(Box::new(Stuck), true, 0, untracked()), 1);
}

#[test]
fn what_is_left_at_the_end_is_given_back() {
    let mut core = core(50, 20, 0);
    arrive(&mut core, 100);
    arrive(&mut core, 101);
    assert_eq!(core.end().len(), 2);
    assert_eq!(core.power, Power::Ended);
    assert_eq!(core.under_way(), 0);
}
