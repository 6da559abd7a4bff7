//! Open loop: transactions begin when they arrive, and their latency counts from then.

use std::time::Duration;

use diskproof_load::driver::Dialect;
use diskproof_load::driver::null::NullDriver;
use diskproof_load::driver::sqlite::SqliteDriver;
use diskproof_load::engine::{Arrivals, Rate, RunOptions};
use diskproof_load::report::{Event, Interval, Summary};
use diskproof_load::target::Target;

use crate::run::{account, options, run, summary};
use crate::server::{Manners, SERVICE, Server};
use crate::steps::{ASK, COME_AGAIN, Steps};

fn at_rate(per_s: f64, arrivals: Arrivals, options: RunOptions) -> RunOptions {
    RunOptions {
        rate: Some(Rate { per_s, arrivals }),
        ..options
    }
}

fn server() -> Server {
    Server::new(|_| Ok(Manners::default()))
}

fn rate(summary: &Summary) -> diskproof_load::report::RateSummary {
    summary.rate.expect("an open loop")
}

fn mean_us(summary: &Summary) -> f64 {
    summary.latency_us.as_ref().expect("latencies").mean
}

#[test]
fn a_rate_is_held_however_many_workers_share_it() {
    for workers in [1, 3] {
        let options = RunOptions {
            seconds: None,
            transactions: Some(40),
            ..at_rate(40.0, Arrivals::Even, options(9, workers, 1.0))
        };
        let summary = summary(server(), Steps::new(&[ASK]), &options);
        let rate = rate(&summary);
        assert_eq!((summary.transactions, rate.backlog.arrived), (40, 40));
        // A machine that is busy with other things is late, and latencies count from when a transaction is due.
        // So the last one was due after 975 ms, however late the machine was.
        let last_due_s = 39.0 / 40.0;
        let longest_s = summary.latency_us.as_ref().expect("some").max / 1e6;
        assert!(
            (last_due_s..last_due_s + longest_s * 1.01 + 0.001).contains(&summary.seconds),
            "{} {longest_s}",
            summary.seconds
        );
        assert!(rate.held || rate.backlog.most_behind_s > 0.01, "{rate:?}");
    }
}

#[test]
fn arrivals_at_random_come_at_their_rate() {
    let options = at_rate(2000.0, Arrivals::Poisson, options(4, 2, 1.0));
    let summary = summary(NullDriver(Dialect::Mysql), Steps::new(&[ASK]), &options);
    let arrived = rate(&summary).backlog.arrived as f64;
    assert!(
        (arrived - 2000.0).abs() < 5.0 * 2000.0_f64.sqrt(),
        "{arrived}"
    );
}

#[test]
fn a_transaction_is_begun_when_it_is_due() {
    // One every 3.7 ms: an event loop that wakes in whole milliseconds would be late by up to one.
    let options = at_rate(270.0, Arrivals::Even, options(2, 1, 1.0));
    let summary = summary(server(), Steps::new(&[ASK]), &options);
    let latencies = summary.latency_us.as_ref().expect("some");
    assert!(latencies.min >= SERVICE.as_secs_f64() * 1e6);
    let best_us = account(&summary, "ask")
        .latency_us
        .as_ref()
        .expect("some")
        .min;
    // The best one, because the machine may be busy with other things.
    assert!(
        latencies.min - best_us < 500.0,
        "{} {best_us}",
        latencies.min
    );
}

#[test]
fn a_rate_that_cannot_be_held_says_so_and_drops_nothing() {
    // One client that needs more than a millisecond each, asked for two each millisecond.
    let options = RunOptions {
        report_interval: Some(Duration::from_millis(250)),
        ..at_rate(2000.0, Arrivals::Even, options(1, 1, 1.0))
    };
    let events = run(server(), Steps::new(&[ASK]), &options).expect("a good run");
    let Some(Event::Summary(summary)) = events.last() else {
        panic!("{events:?}");
    };
    let rate = rate(summary);
    assert!(!rate.held, "{rate:?}");
    assert_eq!(rate.backlog.arrived, 2000);
    assert!(rate.achieved_per_s < 1000.0, "{rate:?}");
    // Every arrival has completed, is under way, or waits.
    let accounted = summary.transactions + rate.backlog.waiting;
    assert!((1999..=2000).contains(&accounted), "{accounted} {rate:?}");
    let even_share = rate.backlog.waiting as f64 / 2000.0;
    assert!(
        (rate.backlog.behind_s - even_share).abs() < 0.002,
        "{rate:?}"
    );
    // The last ones waited as long as the backlog was; the statements took no longer than ever.
    let longest_us = summary.latency_us.as_ref().expect("some").max;
    assert!(
        longest_us > 0.9 * rate.backlog.behind_s * 1e6 - 50_000.0,
        "{longest_us}"
    );
    let intervals: Vec<&Interval> = events
        .iter()
        .filter_map(|event| match event {
            Event::Interval(interval) => Some(interval),
            _ => None,
        })
        .collect();
    let waiting: Vec<u64> = intervals
        .iter()
        .map(|interval| interval.backlog.expect("an open loop").waiting)
        .collect();
    assert!(waiting.is_sorted() && waiting[0] > 100, "{waiting:?}");
    assert_eq!(waiting.last(), Some(&rate.backlog.waiting));
    let arrived: u64 = intervals
        .iter()
        .filter_map(|interval| interval.backlog)
        .map(|b| b.arrived)
        .sum();
    assert_eq!(arrived, 2000);
}

#[test]
fn a_number_of_transactions_ends_it_without_waiting_for_another_arrival() {
    // The next arrival of either worker would be half a second after the last one that counts.
    let options = RunOptions {
        seconds: None,
        transactions: Some(4),
        ..at_rate(4.0, Arrivals::Even, options(2, 2, 1.0))
    };
    let begun = std::time::Instant::now();
    let summary = summary(server(), Steps::new(&[ASK]), &options);
    assert_eq!(summary.transactions, 4);
    assert!(
        (0.75..1.0).contains(&summary.seconds),
        "{}",
        summary.seconds
    );
    assert!(begun.elapsed() < Duration::from_millis(1400));
    assert_eq!(
        rate(&summary).backlog.waiting,
        0,
        "nothing else was asked for"
    );
}

#[test]
fn a_warm_up_is_paced_too_and_does_not_count() {
    let options = RunOptions {
        warm_up: Duration::from_millis(500),
        report_interval: Some(Duration::from_millis(500)),
        ..at_rate(200.0, Arrivals::Even, options(4, 2, 0.5))
    };
    let events = run(server(), Steps::new(&[ASK]), &options).expect("a good run");
    let Some(Event::Summary(summary)) = events.last() else {
        panic!("{events:?}");
    };
    let at_end = rate(summary).backlog;
    assert_eq!(at_end.arrived, 100);
    // A busy machine carries some over from the warm-up, and they count where they end.
    let carried = events.iter().find_map(|event| match event {
        Event::Interval(interval) => interval.backlog.map(|backlog| backlog.waiting),
        _ => None,
    });
    // Each of four clients may have one under way at either end.
    let own = summary.transactions + at_end.waiting - carried.expect("an interval");
    assert!((96..=104).contains(&own), "{own} {carried:?} {at_end:?}");
}

#[test]
fn arrivals_wait_while_a_client_is_away() {
    let log_in = Duration::from_millis(300);
    let server = Server::new(move |number| {
        Ok(Manners {
            log_in: Some(if number == 0 { Duration::ZERO } else { log_in }),
            breaks_after: (number == 0).then_some(10),
            ..Manners::default()
        })
    });
    let options = at_rate(100.0, Arrivals::Even, options(1, 1, 1.0));
    let summary = summary(server, Steps::new(&[ASK]), &options);
    assert_eq!((summary.reconnects, summary.failed_transactions), (1, 1));
    // The first that waited arrived just after the loss.
    let longest_us = summary.latency_us.as_ref().expect("some").max;
    assert!(longest_us > 250_000.0, "{longest_us}");
    // It has caught up, and yet it was behind for a third of the phase.
    let rate = rate(&summary);
    assert!(summary.transactions >= 95, "{}", summary.transactions);
    assert!(rate.backlog.waiting <= 5, "{rate:?}");
    assert!((20..60).contains(&rate.backlog.most_waiting), "{rate:?}");
    assert!(rate.backlog.most_behind_s > 0.25, "{rate:?}");
    assert!(!rate.held, "{rate:?}");
}

#[test]
fn whoever_is_idle_serves_while_a_client_of_another_worker_is_away() {
    // The client never comes back: what waited for it would never end.
    let server = Server::new(move |number| {
        Ok(Manners {
            log_in: (number < 2).then_some(Duration::ZERO),
            breaks_after: (number == 0).then_some(10),
            ..Manners::default()
        })
    });
    let options = RunOptions {
        seconds: Some(Duration::from_secs(20)),
        transactions: Some(100),
        ..at_rate(500.0, Arrivals::Even, options(2, 2, 1.0))
    };
    let summary = summary(server, Steps::new(&[ASK]), &options);
    assert_eq!(summary.failed_transactions, 1);
    assert_eq!(rate(&summary).backlog.waiting, 0);
    assert!(summary.transactions >= 99, "{}", summary.transactions);
}

#[test]
fn a_number_of_transactions_does_not_hide_how_far_behind_they_were_begun() {
    // The last of them arrives after 20 ms, and each takes more than one.
    let options = RunOptions {
        seconds: None,
        transactions: Some(100),
        ..at_rate(5000.0, Arrivals::Even, options(1, 1, 1.0))
    };
    let summary = summary(server(), Steps::new(&[ASK]), &options);
    let rate = rate(&summary);
    assert_eq!((summary.transactions, rate.backlog.arrived), (100, 100));
    assert_eq!(rate.backlog.waiting, 0);
    assert!((50..100).contains(&rate.backlog.most_waiting), "{rate:?}");
    assert!(rate.backlog.behind_s > 0.07, "{rate:?}");
    assert!(!rate.held, "{rate:?}");
}

#[test]
fn coming_again_is_part_of_a_paced_transaction() {
    let options = at_rate(100.0, Arrivals::Poisson, options(8, 2, 0.5));
    let summary = summary(server(), Steps::new(&[COME_AGAIN, ASK]), &options);
    assert!(account(&summary, "come_again").count >= summary.transactions);
    assert!(summary.transactions > 10);
}

#[test]
fn an_embedded_database_is_paced_too() {
    let directory = tempfile::tempdir().expect("a directory");
    let url = format!("sqlite:{}", directory.path().join("file").display());
    let Ok(Target::Sqlite(file)) = Target::parse(&url, None) else {
        panic!("{url} is a file");
    };
    let driver = SqliteDriver::new(file).expect("a database").creating();
    let options = at_rate(100.0, Arrivals::Even, options(2, 2, 0.5));
    let summary = summary(driver, Steps::new(&[ASK]), &options);
    assert_eq!(rate(&summary).backlog.arrived, 50);
    assert!(mean_us(&summary) < 100_000.0, "{}", mean_us(&summary));
    assert!(summary.transactions >= 48, "{}", summary.transactions);
}
