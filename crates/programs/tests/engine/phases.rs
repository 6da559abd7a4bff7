//! Phases: the warm-up, a number of transactions, an end before the time.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use diskproof_load::engine::{self, Message, Outside, RunError, RunOptions};
use diskproof_load::report::{Event, Summary};

use crate::run::{Keep, options, run, summary};
use crate::server::{Manners, Server};
use crate::steps::{ASK, Steps};

fn server() -> Server {
    Server::new(|_| Ok(Manners::default()))
}

/// So many transactions after a warm-up, in which every client has one under way at its end.
fn counted_off(transactions: u64, clients: usize, workers: usize) -> Summary {
    let options = RunOptions {
        warm_up: Duration::from_millis(100),
        seconds: None,
        transactions: Some(transactions),
        report_interval: Some(Duration::from_millis(50)),
        ..options(clients, workers, 1.0)
    };
    let events = run(server(), Steps::new(&[ASK, ASK, ASK]), &options).expect("a good run");
    let in_intervals: u64 = events
        .iter()
        .filter_map(|event| match event {
            Event::Interval(interval)
                if interval.phase == diskproof_load::measure::Phase::Measure =>
            {
                Some(interval.transactions)
            }
            _ => None,
        })
        .sum();
    let Some(Event::Summary(summary)) = events.last() else {
        panic!("{events:?}");
    };
    assert_eq!(in_intervals, summary.transactions);
    (**summary).clone()
}

#[test]
fn a_number_of_transactions_is_exact_after_a_warm_up_too() {
    let summary = counted_off(50, 8, 2);
    assert_eq!((summary.transactions, summary.failed_transactions), (50, 0));
    // The warm-up had part of the first ones' statements.
    let missing = 150 - summary.statements;
    assert!(missing <= 16, "{}", summary.statements);
}

#[test]
fn fewer_transactions_than_clients() {
    let summary = counted_off(3, 8, 2);
    assert_eq!(summary.transactions, 3);
    // Of the five others that the warm-up began, not even the statements count.
    assert!((3..=9).contains(&summary.statements), "{summary:?}");
}

#[test]
fn transactions_that_are_given_up_are_of_the_number_too() {
    let server = Server::new(|_| {
        Ok(Manners {
            refuses_with: Some("1064"),
            ..Manners::default()
        })
    });
    let options = RunOptions {
        seconds: None,
        transactions: Some(30),
        ..options(2, 1, 1.0)
    };
    let summary = summary(server, Steps::new(&[ASK]), &options);
    assert!(
        summary.failed_transactions >= 8,
        "{}",
        summary.failed_transactions
    );
    assert_eq!(summary.transactions + summary.failed_transactions, 30);
}

#[test]
fn a_signal_is_heard_while_clients_connect() {
    let silent = Server::new(|_| {
        Ok(Manners {
            log_in: None,
            ..Manners::default()
        })
    });
    let (outbox, inbox) = channel();
    let signal = outbox.clone();
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        let _ = signal.send(Message::FromOutside(Outside::Interrupt));
    });
    let begun = Instant::now();
    let (driver, workload) = (Arc::new(silent), Arc::new(Steps::new(&[ASK])));
    let options = options(3, 1, 1.0);
    let ending = engine::run(
        &driver,
        &workload,
        &options,
        (outbox, inbox),
        &mut Keep::default(),
    );
    assert!(matches!(ending, Err(RunError::Interrupted)), "{ending:?}");
    assert!(
        begun.elapsed() < Duration::from_secs(5),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn an_interrupted_run_says_so() {
    let (outbox, inbox) = channel();
    let signal = outbox.clone();
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(400));
        let _ = signal.send(Message::FromOutside(Outside::Interrupt));
    });
    let mut report = Keep::default();
    let (driver, workload) = (Arc::new(server()), Arc::new(Steps::new(&[ASK])));
    let options = options(2, 1, 60.0);
    let ending = engine::run(&driver, &workload, &options, (outbox, inbox), &mut report);
    assert!(
        matches!(ending, Ok(engine::Ending::Interrupted)),
        "{ending:?}"
    );
    let Some(Event::Summary(summary)) = report.0.last() else {
        panic!("{:?}", report.0);
    };
    assert!(summary.interrupted && summary.transactions > 0 && summary.seconds < 30.0);
}
