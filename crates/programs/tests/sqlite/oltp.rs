//! The program from end to end on SQLite.

use crate::program::{MIXES, account, check_accounts, events, program, succeed, summary};
use crate::target::driver;
use diskproof_load::driver::Driver;

#[test]
fn every_mix_does_what_it_is_for() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bench.db");
    let url = format!("sqlite:{}?journal_mode=wal&synchronous=off", path.display());
    let tables = ["--tables", "2", "--rows", "1000"];
    let missing = program("run", &url, &tables);
    assert_eq!(missing.status.code(), Some(1));
    assert!(!path.exists(), "a run made a database");

    succeed("prepare", &url, &tables);
    let count = || {
        let sql = "SELECT (SELECT count(*) FROM sbtest1) + (SELECT count(*) FROM sbtest2)";
        driver(&url)
            .admin()
            .unwrap()
            .query_value(sql)
            .unwrap()
            .unwrap()
    };
    assert_eq!(count(), "2000");

    let alone = [
        &tables[..],
        &["--clients", "1", "--transactions", "3", "--seconds", "20"],
    ]
    .concat();
    for protocol in ["text", "prepared"] {
        // What `delete` takes away, later reads would miss.
        for mix in MIXES.into_iter().filter(|mix| *mix != "delete") {
            let protocol = ["--protocol", protocol, "--distribution", "uniform"];
            check_accounts(&summary(&url, mix, &[&alone[..], &protocol].concat()));
        }
    }
    assert_eq!(count(), "2006", "three inserts in each protocol");

    let together = [&tables[..], &["--clients", "4", "--seconds", "0.2"]].concat();
    for mix in MIXES {
        let summary = summary(&url, mix, &together);
        assert!(summary["transactions"].as_u64() > Some(0), "{summary}");
        assert_eq!(
            summary["errors"].as_array().map(Vec::len),
            Some(0),
            "{summary}"
        );
        if mix == "write-only" {
            assert_eq!(count(), "2006", "delete and insert go together");
        }
        if mix == "insert" {
            let inserted = account(&summary, "insert")["affected"].as_u64().unwrap();
            let found: u64 = count().parse().unwrap();
            // Statements under way at the end are finished and not counted.
            assert!((2006 + inserted..=2006 + inserted + 8).contains(&found));
        }
    }
    succeed("cleanup", &url, &["--tables", "2"]);
    let left = driver(&url)
        .admin()
        .unwrap()
        .query_value("SELECT count(*) FROM sqlite_master");
    assert_eq!(left.unwrap().as_deref(), Some("0"));
}

#[test]
fn a_wrong_option_is_an_argument_error() {
    let output = program("run", "sqlite:x.db?journal_mode=wall", &[]);
    assert_eq!(output.status.code(), Some(2));
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(complaint.contains("one of delete, truncate"), "{complaint}");
}

#[test]
fn a_run_of_nothing_but_errors_fails() {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}/x.db", directory.path().display());
    succeed("prepare", &url, &["--rows", "10"]);
    let refuse = "CREATE TRIGGER refuse BEFORE INSERT ON sbtest1 BEGIN SELECT RAISE(ABORT, 'not today'); END";
    driver(&url).admin().unwrap().execute(refuse).unwrap();
    let few = [
        "--mix",
        "insert",
        "--rows",
        "10",
        "--transactions",
        "3",
        "--json",
    ];
    let output = program("run", &url, &few);
    assert_eq!(output.status.code(), Some(1));
    let events = events(&output);
    let last = events.last().expect("a last line");
    assert_eq!(
        (&last["event"], &last["code"]),
        (&"failed".into(), &"errors".into())
    );
    assert!(
        last["message"].as_str().unwrap().contains("not today"),
        "{last}"
    );
    let measured = events.iter().find(|event| event["event"] == "measured");
    assert!(
        measured.unwrap()["seconds"].as_f64() >= Some(0.003),
        "a pause of 1 ms, then one of 2 ms: {events:?}"
    );
}

#[test]
fn the_table_of_0_4_is_made_and_asked() {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}/x.db", directory.path().display());
    let table = ["--schema", "sbtest", "--rows", "12000"];
    succeed("prepare", &url, &table);
    let value = |sql: &str| driver(&url).admin().unwrap().query_value(sql).unwrap();
    // SQLite keeps trailing spaces.
    let rows = "SELECT count(*) || ' ' || min(id) || ' ' || max(id) || ' ' || max(k) || ' ' || \
                max(length(c)) || ' ' || min(length(pad)) FROM sbtest";
    assert_eq!(value(rows).as_deref(), Some("12000 1 12000 0 1 50"));
    let few = ["--transactions", "3", "--distribution", "uniform"];
    for protocol in ["text", "prepared"] {
        let how = ["--protocol", protocol];
        let complex = summary(&url, "complex", &[&table[..], &few, &how].concat());
        check_accounts(&complex);
        assert_eq!(account(&complex, "simple_range")["rows"], 300);
    }
    assert_eq!(
        value("SELECT count(*) FROM sbtest").as_deref(),
        Some("12000")
    );
    driver(&url)
        .admin()
        .unwrap()
        .execute("DROP INDEX k")
        .unwrap();
    let wrong = program("run", &url, &table);
    assert_eq!(wrong.status.code(), Some(1));
    let complaint = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(complaint.contains("no index on column k"), "{complaint}");
}
