//! The ledger on servers, which can be told to refuse and can be killed beside the program.

use std::time::{Duration, Instant};

use diskproof_load::driver::Driver;

use crate::ledger_support::{Ledger, assert_stopped};

/// One transaction in five is rolled back by `trigger` and run again under its number.
pub(crate) fn check_rollbacks<D: Driver>(url: &str, driver: &D, trigger: &[&str], code: &str) {
    let ledger = Ledger::prepare(url, driver, 20);
    for sql in trigger {
        ledger.execute(sql);
    }
    let summary = ledger.run(&["--clients", "4", "--transactions", "300"]);
    assert!(summary["retries"].as_u64() >= Some(5), "{summary}");
    assert_eq!(summary["errors"][0]["code"], code, "{summary}");
    assert_eq!(summary["failed_transactions"], 0, "{summary}");
    assert_eq!(ledger.check(), Ok(ledger.acknowledgements()));
}

/// A server that is killed: the run ends at once, and says so.
pub(crate) fn check_a_killed_server<D: Driver>(url: &str, driver: &D, kill: impl FnOnce()) {
    let ledger = Ledger::prepare(url, driver, 20);
    let child = ledger.begin(100, &[]);
    kill();
    let killed = Instant::now();
    let output = child.wait_with_output().expect("it ends");
    // Without acknowledgements it would try for 10 s.
    assert!(
        killed.elapsed() < Duration::from_secs(8),
        "{:?}",
        killed.elapsed()
    );
    let summary = assert_stopped(&output).expect("what was measured before");
    assert_eq!(summary["stopped_clients"], 4, "{summary}");
    assert_eq!(summary["reconnects"], 0, "{summary}");
    assert!(!ledger.acknowledgements().is_empty());
}
