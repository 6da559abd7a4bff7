//! The program from end to end on a real PostgreSQL.

use std::thread;
use std::time::{Duration, Instant};

use crate::program::{MIXES, account, check_accounts, events, program, succeed, summary};
use crate::server::{Server, database_or_skip};

#[test]
fn every_mix_does_what_it_is_for() {
    let database = database_or_skip!(Server::database());
    let url = database.socket_url("postgres");
    succeed("prepare", &url, &["--tables", "2", "--rows", "1000"]);
    let count = "SELECT (SELECT count(*) FROM sbtest1) + (SELECT count(*) FROM sbtest2)";
    assert_eq!(database.psql(count), "2000");
    let settled = "SELECT count(*) FROM pg_class WHERE relname ~ '^sbtest[12]$' \
                   AND reltuples = 1000 AND relallvisible = relpages";
    assert_eq!(database.psql(settled), "2", "vacuumed and analysed");
    let again = program("prepare", &url, &["--tables", "2", "--rows", "1000"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&again.stderr).contains("cleanup"));

    let tables = ["--tables", "2", "--rows", "1000"];
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
    assert_eq!(
        database.psql(count),
        "2006",
        "three inserts in each protocol"
    );

    let together = [&tables[..], &["--clients", "8", "--seconds", "0.3"]].concat();
    for mix in MIXES {
        let summary = summary(&url, mix, &together);
        assert!(summary["transactions"].as_u64() > Some(0), "{summary}");
        let errors = summary["errors"].as_array().expect("a list");
        for error in errors {
            // Two clients that delete and insert the same id meet in the primary key.
            let code = error["code"].as_str().expect("a code");
            assert!(["23505", "40P01"].contains(&code), "{mix}: {error}");
        }
        if mix == "write-only" {
            assert_eq!(
                database.psql(count),
                "2006",
                "delete and insert go together"
            );
        }
        if mix == "insert" {
            let inserted = account(&summary, "insert")["affected"].as_u64().unwrap();
            let found: u64 = database.psql(count).parse().unwrap();
            // Statements under way at the end are finished and not counted.
            assert!((2006 + inserted..=2006 + inserted + 16).contains(&found));
        }
    }

    succeed("cleanup", &url, &["--tables", "2"]);
    assert_eq!(
        database.psql("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"),
        "0"
    );
    let gone = program("run", &url, &["--tables", "2", "--seconds", "0.1"]);
    assert_eq!(gone.status.code(), Some(1));
}

#[test]
fn a_server_that_is_killed_ends_the_run_soon() {
    let database = database_or_skip!(Server::own("local all all trust\n", &[]));
    let url = database.socket_url("postgres");
    succeed("prepare", &url, &["--rows", "1000"]);
    let begun = Instant::now();
    let output = thread::scope(|scope| {
        let run = scope.spawn(|| {
            let arguments = [
                "--rows",
                "1000",
                "--clients",
                "4",
                "--seconds",
                "60",
                "--json",
            ];
            program("run", &url, &arguments)
        });
        thread::sleep(Duration::from_millis(700));
        database.server().kill();
        run.join().expect("no panic")
    });
    assert!(begun.elapsed() < Duration::from_secs(30), "hung");
    assert_eq!(output.status.code(), Some(1));
    let last = events(&output).pop().expect("a last line");
    assert_eq!(last["event"], "failed", "{last}");
}

#[test]
fn wrong_accounts_and_databases_are_refused_in_words() {
    let database = database_or_skip!(Server::database());
    let url = database.socket_url("postgres");
    let refused = |url: &str, words: &str| {
        let output = program("run", url, &["--seconds", "0.1", "--json"]);
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{complaint}");
        assert!(complaint.contains(words), "{complaint}");
        let last = events(&output).pop().expect("a last line");
        assert_eq!(last["event"], "failed");
    };
    refused(&url.replace("postgres@", "nobody@"), "28000");
    refused(
        &url.replace(&format!("/{}?", database.name()), "/gone?"),
        "3D000",
    );
    refused(
        &url.replace("host=", "host=/gone"),
        "check that the server is running there",
    );
}

#[test]
fn the_table_of_0_4_is_made_and_asked() {
    let database = database_or_skip!(Server::database());
    let url = database.socket_url("postgres");
    let table = ["--schema", "sbtest", "--rows", "12000"];
    succeed("prepare", &url, &table);
    let rows =
        "SELECT count(*), min(id), max(id), max(k), max(length(c)), min(length(pad)) FROM sbtest";
    assert_eq!(database.psql(rows), "12000|1|12000|0|0|50");
    let index = "SELECT indexdef FROM pg_indexes WHERE indexname = 'k'";
    assert!(database.psql(index).ends_with("sbtest USING btree (k)"));
    let few = ["--transactions", "3", "--distribution", "uniform"];
    for protocol in ["text", "prepared"] {
        let how = ["--protocol", protocol];
        let complex = summary(&url, "complex", &[&table[..], &few, &how].concat());
        check_accounts(&complex);
        assert_eq!(account(&complex, "simple_range")["rows"], 300);
    }
    assert_eq!(database.psql("SELECT count(*) FROM sbtest"), "12000");
    let wrong = program("run", &url, &["--seconds", "0.1"]);
    assert_eq!(wrong.status.code(), Some(1));
    let complaint = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(complaint.contains("--schema sbtest,"), "{complaint}");
    database.psql("DROP INDEX k");
    let wrong = program("run", &url, &[&table[..], &["--seconds", "0.1"]].concat());
    let complaint = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(complaint.contains("no index on column k"), "{complaint}");
}
