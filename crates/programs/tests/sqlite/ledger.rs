//! The ledger on SQLite.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::ledger_support::{
    Ledger, assert_refused, assert_stopped, check_a_good_run, check_a_killed_program,
};
use crate::target::driver;

/// Bytes of a database's header that tell WAL mode (2) from a rollback journal (1).
fn is_wal(path: &Path) -> bool {
    let header = fs::read(path).expect("the database");
    header[18..20] == [2, 2]
}

fn url(directory: &Path, options: &str) -> String {
    format!("sqlite:{}?{options}", directory.join("x.db").display())
}

#[test]
fn every_commit_is_acknowledged_and_there() {
    let directory = tempfile::tempdir().unwrap();
    let url = url(directory.path(), "journal_mode=wal&synchronous=off");
    check_a_good_run(&url, &driver(&url).creating());
}

#[test]
fn acknowledgements_outlive_the_program() {
    let directory = tempfile::tempdir().unwrap();
    let url = url(directory.path(), "journal_mode=wal&synchronous=off");
    check_a_killed_program(&url, &driver(&url).creating());
}

/// Whatever mode the file comes in, it is used in the one that is asked for.
#[test]
fn every_journal_mode() {
    let directory = tempfile::tempdir().unwrap();
    let made = url(directory.path(), "journal_mode=wal");
    let driver = driver(&made).creating();
    let mut ledger = Ledger::prepare(&made, &driver, 20);
    for mode in ["delete", "wal", "truncate", "wal", "persist"] {
        ledger.url = url(
            directory.path(),
            &format!("journal_mode={mode}&synchronous=extra"),
        );
        let summary = ledger.run(&["--clients", "4", "--transactions", "40"]);
        assert_eq!(summary["transactions"], 40, "{mode}: {summary}");
        assert_eq!(
            is_wal(&directory.path().join("x.db")),
            mode == "wal",
            "{mode}"
        );
        assert_eq!(ledger.check(), Ok(ledger.acknowledgements()), "{mode}");
        ledger.url.clone_from(&made);
        ledger.again();
    }
}

#[test]
fn a_busy_file_keeps_the_number() {
    let directory = tempfile::tempdir().unwrap();
    let url = url(
        directory.path(),
        "journal_mode=delete&synchronous=off&busy_timeout_ms=0",
    );
    let driver = driver(&url).creating();
    let ledger = Ledger::prepare(&url, &driver, 20);
    let summary = ledger.run(&["--clients", "8", "--transactions", "2000"]);
    assert!(summary["retries"].as_u64() > Some(0), "{summary}");
    assert_eq!(summary["errors"][0]["code"], "SQLITE_BUSY", "{summary}");
    assert_eq!(ledger.check(), Ok(ledger.acknowledgements()));
}

#[test]
fn a_run_ends_with_its_last_client() {
    let directory = tempfile::tempdir().unwrap();
    let url = url(directory.path(), "journal_mode=wal&synchronous=off");
    let driver = driver(&url).creating();
    let ledger = Ledger::prepare(&url, &driver, 20);
    // In the warm-up there is nothing to tell.
    for (warm_up, is_told) in [("0", true), ("60", false)] {
        ledger.again();
        ledger.execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON ledger_entries WHEN NEW.number = 5 \
             BEGIN SELECT RAISE(ABORT, 'not today'); END",
        );
        let begun = Instant::now();
        let arguments = ["--clients", "3", "--seconds", "60", "--warm-up", warm_up];
        let output = ledger.acknowledged(&arguments).output().unwrap();
        assert!(begun.elapsed() < Duration::from_secs(30));
        let summary = assert_stopped(&output);
        assert_eq!(summary.is_some(), is_told, "{output:?}");
        if let Some(summary) = summary {
            assert_eq!(summary["transactions"], 12, "{summary}");
            assert_eq!(summary["stopped_clients"], 3, "{summary}");
        }
        assert_eq!(ledger.check(), Ok(ledger.acknowledgements()));
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            complaint.contains("each of the 3 clients stopped"),
            "{complaint}"
        );
        assert_eq!(complaint.contains("not today"), is_told, "{complaint}");
    }
}

#[test]
fn tables_that_do_not_fit_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let url = url(directory.path(), "journal_mode=wal&synchronous=off");
    let driver = driver(&url).creating();
    let ledger = Ledger::prepare(&url, &driver, 20);
    let run = |arguments: &[&str], words: &str| {
        let output = ledger.acknowledged(arguments).output().unwrap();
        assert_refused(&output, words);
        assert!(!ledger.file().exists(), "no client came: {words}");
    };
    run(
        &["--filler-bytes", "0"],
        "fillers of 100 bytes, but the run has --filler-bytes 0",
    );
    ledger.execute("DELETE FROM ledger_accounts WHERE id = 20");
    run(&[], "ids from 1 to 19, but the run has --accounts 20");
    ledger.again();
    ledger.execute("DROP INDEX ledger_entries_numbers");
    run(&[], "no index on column client");
    ledger.execute("DROP TABLE ledger_entries");
    run(&[], "table ledger_entries does not exist");
    let again = ledger.command("prepare", &[]).output().unwrap();
    assert_refused(&again, "ledger_accounts exists already");
}
