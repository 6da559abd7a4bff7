//! The slap workload on SQLite.

use std::process::Command;

use crate::program::events;
use crate::slap_support::{check, slap};
use crate::target::driver;
use diskproof_load::driver::Driver;

#[test]
fn every_load_type_does_what_it_is_for() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("slap.db");
    let url = format!("sqlite:{}?journal_mode=wal&synchronous=off", path.display());
    check(&url, &mut || {
        // The run makes the file where there is none; the question must not.
        if !path.exists() {
            return "0".to_owned();
        }
        let tables = "SELECT count(*) FROM sqlite_master WHERE name NOT LIKE 'sqlite%'";
        let mut admin = driver(&url).admin().unwrap();
        admin.query_value(tables).unwrap().unwrap()
    });
}

#[test]
fn engines_are_the_mysql_familys() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.db");
    let url = format!("sqlite:{}", path.display());
    let refused = slap("run", &url, &["--engine", "innodb"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(!path.exists(), "nothing was begun");
}

#[test]
fn an_interrupt_reports_what_was_done_and_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("slap.db");
    let url = format!("sqlite:{}?synchronous=off", path.display());
    let child = Command::new(env!("CARGO_BIN_EXE_diskproof-load"))
        .args([
            "run",
            "slap",
            "--url",
            &url,
            "--json",
            "--queries",
            "100000000",
        ])
        .args(["--load-type", "write"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("the program starts");
    std::thread::sleep(std::time::Duration::from_millis(700));
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-s", "INT", &pid]).status();
    assert!(sent.is_ok_and(|status| status.success()));
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    let events = events(&output);
    let names: Vec<_> = events.iter().map(|event| event["event"].as_str()).collect();
    let names: Vec<_> = names.into_iter().flatten().collect();
    assert_eq!(
        names,
        [
            "ready",
            "measuring",
            "operation",
            "measured",
            "idle",
            "summary"
        ]
    );
    let operation = &events[2];
    assert!(operation["count"].as_u64() > Some(0), "{operation}");
    assert!(operation["extrapolated_s"].as_f64() > operation["seconds"].as_f64());
    assert!(events[5].get("iterations").is_none(), "none was whole");
    let left = driver(&url)
        .admin()
        .unwrap()
        .query_value("SELECT count(*) FROM sqlite_master");
    assert_eq!(left.unwrap().as_deref(), Some("0"));
}

#[test]
fn what_rounding_makes_of_the_queries_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}/s.db?synchronous=off", directory.path().display());
    for (queries, said) in [("4", "88 are run"), ("10", "8 are run"), ("16", "")] {
        let arguments = [
            "--clients",
            "8",
            "--load-type",
            "read",
            "--queries",
            queries,
        ];
        let output = slap("run", &url, &arguments);
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{complaint}");
        assert!(complaint.contains(said), "{queries}: {complaint}");
        assert_eq!(complaint.is_empty(), said.is_empty(), "{complaint}");
    }
}
