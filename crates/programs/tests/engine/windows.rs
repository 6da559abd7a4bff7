//! Windows: runs that take turns with others.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use diskproof_load::engine::RunOptions;
use diskproof_load::measure::{Phase, Sharing};
use diskproof_load::report::{Event, Interval, Summary};

use crate::run::{options, run};
use crate::server::{Manners, Server};
use crate::steps::{ASK, Steps};

const LENGTH: Duration = Duration::from_millis(100);
const GAP: Duration = Duration::from_millis(60);

fn in_turns(clients: usize, workers: usize, seconds: f64) -> RunOptions {
    RunOptions {
        sharing: Some(Sharing {
            place: 0,
            runs: 2,
            length: LENGTH,
            gap: GAP,
        }),
        report_interval: Some(LENGTH),
        ..options(clients, workers, seconds)
    }
}

/// A run's windows, its summary, and when its server heard each statement.
fn outcome(service: Duration, options: &RunOptions) -> (Vec<Interval>, Summary, Vec<Instant>) {
    let heard: &'static Mutex<Vec<Instant>> = Box::leak(Box::default());
    let server = Server::new(move |_| {
        Ok(Manners {
            service,
            heard: Some(heard),
            ..Manners::default()
        })
    });
    let mut events = run(server, Steps::new(&[ASK]), options).expect("a good run");
    let Some(Event::Summary(summary)) = events.pop() else {
        panic!("{events:?}");
    };
    let windows = events.into_iter().filter_map(|event| match event {
        Event::Interval(interval) => Some(interval),
        _ => None,
    });
    let mut heard = heard.lock().expect("no panic").clone();
    heard.sort_unstable();
    (windows.collect(), *summary, heard)
}

#[test]
fn clients_work_in_their_windows_alone() {
    let options = RunOptions {
        warm_up: 2 * LENGTH,
        ..in_turns(3, 2, 0.4)
    };
    let (windows, summary, heard) = outcome(Duration::from_millis(1), &options);
    let phases: Vec<_> = windows.iter().map(|window| window.phase).collect();
    assert_eq!(phases[..2], [Phase::WarmUp; 2]);
    assert_eq!(phases[2..], [Phase::Measure; 4]);
    // Ours are the first, fourth, fifth, eighth … of all windows.
    let slot = LENGTH + GAP;
    let starts_s: Vec<_> = windows[2..].iter().map(|window| window.start_s).collect();
    for (start_s, slots) in starts_s.iter().zip([0, 3, 4, 7]) {
        assert!(
            (start_s - (slot * slots).as_secs_f64()).abs() < 1e-6,
            "{starts_s:?}"
        );
    }
    let first = heard[0];
    for at in &heard {
        let place = (*at - first).as_micros() / slot.as_micros() % 4;
        assert!(
            matches!(place, 0 | 3),
            "heard in another's window: {:?}",
            *at - first
        );
    }
    let in_windows: u64 = windows.iter().map(|window| window.transactions).sum();
    assert_eq!(in_windows, heard.len() as u64, "every transaction counts");
    let measured: u64 = windows[2..].iter().map(|window| window.transactions).sum();
    assert_eq!(measured, summary.transactions);
}

#[test]
fn the_measured_seconds_are_those_at_work() {
    let (windows, summary, _) = outcome(Duration::from_millis(1), &in_turns(3, 2, 0.4));
    let busy_s: f64 = windows.iter().filter_map(|window| window.busy_s).sum();
    assert!(
        (busy_s - summary.seconds).abs() < 1e-9,
        "{busy_s} {summary:?}"
    );
    assert!((0.2..0.6).contains(&summary.seconds), "{summary:?}");
    // Little's law holds only for seconds at work: three clients that never pause.
    let mean_s = summary.latency_us.as_ref().expect("latencies").mean / 1e6;
    let clients = summary.transactions_per_s * mean_s;
    assert!((2.7..=3.001).contains(&clients), "{clients} {summary:?}");
}

#[test]
fn a_transaction_that_reaches_into_another_window_is_told() {
    let service = Duration::from_millis(240);
    let (_, summary, _) = outcome(service, &in_turns(2, 1, 0.2));
    let turns = summary.windows.expect("windows");
    assert_eq!((turns.runs, turns.overlaps), (2, 2), "{turns:?}");
    // From 160 ms, when the other's window opens, to 240 ms.
    assert!((0.07..0.16).contains(&turns.overlap_s), "{turns:?}");
    assert_eq!(
        summary.transactions, 4,
        "whatever began counts: {summary:?}"
    );
    assert!(summary.seconds > 0.47, "as does its time: {summary:?}");
}
