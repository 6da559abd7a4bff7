//! Pauses before transactions.

use std::time::{Duration, Instant};

use diskproof_load::workload::Next;

use crate::run::{options, summary};
use crate::server::{Manners, Server};
use crate::steps::{ASK, Steps};

fn server() -> Server {
    Server::new(|_| Ok(Manners::default()))
}

#[test]
fn a_wait_is_in_no_latency() {
    const WAIT: Next = Next::Wait { us: 50_000 };
    let summary = summary(server(), Steps::new(&[WAIT, ASK]), &options(4, 2, 1.0));
    // Four clients, at most twenty transactions each.
    assert!((20..=80).contains(&summary.transactions), "{summary:?}");
    let latency_us = summary.latency_us.expect("transactions");
    assert!(latency_us.mean < 25_000.0, "{latency_us:?}");
}

#[test]
fn a_run_ends_although_its_clients_wait() {
    const WAIT: Next = Next::Wait { us: 60_000_000 };
    let began = Instant::now();
    let summary = summary(server(), Steps::new(&[WAIT, ASK]), &options(4, 2, 0.3));
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_eq!((summary.transactions, summary.statements), (0, 0));
}

#[test]
fn a_wait_does_not_keep_a_number_of_transactions_from_completing() {
    const WAIT: Next = Next::Wait { us: 20_000 };
    let mut options = options(4, 2, 1.0);
    (options.seconds, options.transactions) = (None, Some(30));
    let summary = summary(server(), Steps::new(&[WAIT, ASK]), &options);
    assert_eq!(summary.transactions, 30);
}
