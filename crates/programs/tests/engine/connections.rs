//! Connections: made first, lost and made again, left and made again because the workload wants it.

use std::time::{Duration, Instant};

use diskproof_load::driver::null::NullDriver;
use diskproof_load::driver::sqlite::SqliteDriver;
use diskproof_load::driver::{Dialect, Fault};
use diskproof_load::engine::{Patience, RunOptions};
use diskproof_load::target::Target;

use crate::run::{account, broken_off, options, run, summary};
use crate::server::{Manners, SERVICE, Server};
use crate::steps::{ASK, COME_AGAIN, Steps};

const CLIENTS: usize = 2;
/// The first connection breaks after so many statements.
const STATEMENTS_BEFORE_BREAK: usize = 20;

fn ask() -> Steps {
    Steps::new(&[ASK])
}

fn first_breaks() -> Manners {
    Manners {
        breaks_after: Some(STATEMENTS_BEFORE_BREAK),
        ..Manners::default()
    }
}

fn slow(log_in: Duration) -> Manners {
    Manners {
        log_in: Some(log_in),
        ..Manners::default()
    }
}

/// Waits so many seconds for a server that is gone.
fn patient(seconds: f64, options: RunOptions) -> RunOptions {
    let connections = Duration::from_secs_f64(seconds);
    RunOptions {
        patience: Patience {
            connections,
            ..options.patience
        },
        ..options
    }
}

fn unreachable() -> Fault {
    Fault::Unreachable("no one is there".into())
}

#[test]
fn a_slow_log_in_does_not_stop_the_other_clients() {
    let server = Server::new(|number| match number {
        0 => Ok(first_breaks()),
        number if number < CLIENTS => Ok(Manners::default()),
        _ => Ok(slow(Duration::from_millis(1500))),
    });
    let summary = summary(server, ask(), &options(CLIENTS, 1, 2.5));
    assert_eq!(summary.reconnects, 1);
    assert_eq!(summary.failed_transactions, 1);
    let longest_us = summary.latency_us.expect("latencies").max;
    assert!(longest_us < 750_000.0, "{longest_us}");
}

#[test]
fn one_client_without_a_connection_does_not_end_the_run() {
    let server = Server::new(|number| match number {
        0 => Ok(first_breaks()),
        number if number < CLIENTS => Ok(Manners::default()),
        _ => Err(unreachable()),
    });
    let summary = summary(server, ask(), &options(CLIENTS, CLIENTS, 5.0));
    assert_eq!(summary.reconnects, 0);
    assert!(summary.transactions > 100, "{}", summary.transactions);
    let unreachable = summary.errors.iter().find(|e| e.code == "unreachable");
    assert!(unreachable.expect("it was tried").count >= 3);
    let linux_counts = std::path::Path::new("/proc/self/schedstat").exists();
    assert_eq!(summary.client.waited_for_cpu_s.is_some(), linux_counts);
}

#[test]
fn a_server_that_is_gone_for_good_ends_the_run() {
    let server = Server::new(|number| match number {
        0 => Ok(first_breaks()),
        _ => Err(unreachable()),
    });
    let begun = Instant::now();
    let (summary, failure) = broken_off(server, ask(), &patient(1.0, options(1, 1, 60.0)));
    assert_eq!(failure.code, "unreachable");
    // What was measured is told all the same.
    assert_eq!(summary.transactions, STATEMENTS_BEFORE_BREAK as u64);
    assert!((1.0..10.0).contains(&summary.seconds), "{summary:?}");
    assert!(failure.message.contains("still running"), "{failure:?}");
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn each_outage_is_waited_out_by_itself() {
    // Six attempts with growing pauses take 1.3 s, each time.
    let server = Server::new(|number| match number {
        0 | 7 => Ok(first_breaks()),
        1..=6 | 8..=13 => Err(unreachable()),
        _ => Ok(Manners::default()),
    });
    let summary = summary(server, ask(), &patient(2.0, options(1, 1, 3.5)));
    assert_eq!((summary.reconnects, summary.failed_transactions), (2, 2));
    assert!(summary.transactions > 2 * STATEMENTS_BEFORE_BREAK as u64);
}

#[test]
fn log_ins_go_on_side_by_side() {
    let log_in = Duration::from_millis(300);
    let server = Server::new(move |_| Ok(slow(log_in)));
    let begun = Instant::now();
    summary(server, ask(), &options(40, 1, 0.1));
    // One after the other, they would take 12 s.
    assert!(begun.elapsed() < 12 * log_in, "{:?}", begun.elapsed());
}

#[test]
fn a_client_that_cannot_connect_at_first_ends_the_run() {
    let server = Server::new(|number| match number {
        2 => Err(unreachable()),
        _ => Ok(Manners::default()),
    });
    let failure = run(server, ask(), &options(3, 2, 1.0)).expect_err("one is missing");
    assert_eq!(failure.code, "unreachable");
    assert!(
        failure.message.contains("connecting a client"),
        "{failure:?}"
    );
}

#[test]
fn a_log_in_without_end_is_given_up() {
    let server = Server::new(|_| {
        Ok(Manners {
            log_in: None,
            ..Manners::default()
        })
    });
    let begun = Instant::now();
    let failure = run(server, ask(), &options(1, 1, 1.0)).expect_err("no log-in");
    assert!(failure.message.contains("within 10 s"), "{failure:?}");
    let taken = begun.elapsed();
    assert!((10..20).contains(&taken.as_secs()), "{taken:?}");
}

#[test]
fn a_server_whose_queue_is_full_is_asked_again() {
    let server = Server::new(|number| {
        if number % 3 == 0 {
            return Err(Fault::Busy("the queue is full".into()));
        }
        Ok(Manners::default())
    });
    let options = options(20, 2, 0.3);
    let summary = summary(server, Steps::new(&[COME_AGAIN, ASK]), &options);
    assert!(summary.transactions > 20, "{}", summary.transactions);
    assert!(summary.errors.is_empty(), "{:?}", summary.errors);
    // The wait for the server's queue is the reconnection's own.
    let latencies = account(&summary, "come_again").latency_us.as_ref();
    assert!(latencies.expect("some").max >= 1000.0);
}

#[test]
fn coming_again_is_timed_under_its_type() {
    let log_in = Duration::from_millis(20);
    let server = Server::new(move |_| Ok(slow(log_in)));
    let summary = summary(server, Steps::new(&[COME_AGAIN, ASK]), &options(4, 2, 0.5));
    let (ask, again) = (account(&summary, "ask"), account(&summary, "come_again"));
    assert_eq!(ask.count, summary.transactions);
    assert!(again.count >= ask.count && ask.count > 8, "{}", ask.count);
    let mean_us = |account: &diskproof_load::report::StatementSummary| {
        account.latency_us.as_ref().expect("some").mean
    };
    assert!(mean_us(again) >= 20_000.0, "{}", mean_us(again));
    assert!(mean_us(ask) < 20_000.0, "{}", mean_us(ask));
    assert!(mean_us(ask) >= SERVICE.as_secs_f64() * 1e6);
    // It is what the workload does, not a loss.
    assert_eq!((summary.reconnects, summary.others), (0, again.count));
}

#[test]
fn coming_again_may_fail_and_is_then_made_good() {
    let server = Server::new(|number| match number {
        1 => Err(unreachable()),
        _ => Ok(Manners::default()),
    });
    let summary = summary(server, Steps::new(&[COME_AGAIN, ASK]), &options(1, 1, 0.5));
    assert_eq!((summary.failed_transactions, summary.reconnects), (1, 1));
    let error = &summary.errors[0];
    assert_eq!(
        (error.code.as_str(), error.statement.as_deref(), error.count),
        ("unreachable", Some("come_again"), 1)
    );
    assert!(summary.transactions > 3);
}

#[test]
fn a_workload_that_only_comes_again() {
    // Where a connection is there at once, nothing else would be looked after.
    let summary = summary(
        NullDriver(Dialect::Mysql),
        Steps::new(&[COME_AGAIN]),
        &options(3, 2, 0.2),
    );
    assert_eq!(account(&summary, "come_again").count, summary.transactions);
    assert!(summary.transactions > 100);
}

#[test]
fn an_embedded_database_is_left_and_opened_again() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("file");
    let url = format!("sqlite:{}", path.display());
    let Ok(Target::Sqlite(file)) = Target::parse(&url, None) else {
        panic!("{url} is a file");
    };
    let driver = SqliteDriver::new(file).expect("a database").creating();
    let summary = summary(driver, Steps::new(&[COME_AGAIN, ASK]), &options(2, 2, 0.3));
    let ask = account(&summary, "ask");
    assert_eq!(
        (ask.count, ask.rows),
        (summary.transactions, summary.transactions)
    );
    assert!(account(&summary, "come_again").count >= ask.count);
}
