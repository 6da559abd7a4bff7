//! The program from end to end.

use crate::program::{MIXES, account, check_accounts, events, program, succeed, summary};
use crate::server::{Database, database_or_skip};

const COUNT: &str = "SELECT (SELECT count(*) FROM sbtest1) + (SELECT count(*) FROM sbtest2)";
const TABLES: [&str; 4] = ["--tables", "2", "--rows", "1000"];

#[test]
fn every_mix_does_what_it_is_for() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    succeed("prepare", &url, &TABLES);
    assert_eq!(database.sql(COUNT), "2000");
    let alone = [
        &TABLES[..],
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
        database.sql(COUNT),
        "2006",
        "three inserts in each protocol"
    );
}

#[test]
fn every_mix_with_many_clients() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    succeed("prepare", &url, &TABLES);
    let together = [&TABLES[..], &["--clients", "8", "--seconds", "0.3"]].concat();
    for mix in MIXES {
        let summary = summary(&url, mix, &together);
        assert!(summary["transactions"].as_u64() > Some(0), "{summary}");
        for error in summary["errors"].as_array().expect("a list") {
            // Two clients that delete and insert the same id meet in the primary key.
            let code = error["code"].as_str().expect("a code");
            assert!(
                ["1062", "1205", "1213", "1020"].contains(&code),
                "{mix}: {error}"
            );
        }
        if mix == "write-only" {
            assert_eq!(database.sql(COUNT), "2000", "delete and insert go together");
        }
        if mix == "insert" {
            let inserted = account(&summary, "insert")["affected"].as_u64().unwrap();
            let found: u64 = database.sql(COUNT).parse().unwrap();
            // Statements under way at the end are finished and not counted.
            assert!((2000 + inserted..=2000 + inserted + 16).contains(&found));
        }
    }
}

#[test]
fn tables_are_made_as_sysbench_makes_them_and_dropped() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    let complex = [&TABLES[..], &["--mix", "complex"]].concat();
    succeed("prepare", &url, &complex);
    let columns = "SELECT group_concat(column_name, ' ', column_type ORDER BY ordinal_position) \
                   FROM information_schema.columns WHERE table_schema = database() AND table_name = 'sbtest2'";
    assert_eq!(
        database.sql(columns),
        "id int(10) unsigned,k int(10) unsigned,c char(120),pad char(60)"
    );
    let index = "SELECT index_name, column_name FROM information_schema.statistics \
                 WHERE table_schema = database() AND table_name = 'sbtest2' AND index_name <> 'PRIMARY'";
    assert_eq!(database.sql(index), "k_2\tk");
    let lengths = "SELECT min(length(c)), max(length(c)), min(length(pad)), min(k) >= 1, max(k) <= 1000 FROM sbtest1";
    assert_eq!(database.sql(lengths), "119\t119\t59\t1\t1");

    let again = program("prepare", &url, &complex);
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&again.stderr).contains("cleanup"));

    succeed("cleanup", &url, &["--tables", "2"]);
    assert_eq!(database.sql("SHOW TABLES"), "");
    let gone = program("run", &url, &["--tables", "2", "--seconds", "0.1"]);
    assert_eq!(gone.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&gone.stderr).contains("prepare"));
}

#[test]
fn the_same_seed_makes_the_same_tables() {
    let (first, second) = (
        database_or_skip!(Database::shared()),
        database_or_skip!(Database::shared()),
    );
    let checksum = |database: &Database, arguments: &[&str]| {
        succeed(
            "prepare",
            &database.socket_url("root"),
            &[&TABLES[..], arguments].concat(),
        );
        let sums = database.sql("CHECKSUM TABLE sbtest1, sbtest2");
        succeed("cleanup", &database.socket_url("root"), &["--tables", "2"]);
        let sum = |line: &str| line.split('\t').nth(1).map(str::to_owned);
        sums.lines()
            .map(sum)
            .collect::<Option<Vec<_>>>()
            .expect("two sums")
    };
    let sums = checksum(&first, &["--threads", "1"]);
    assert_ne!(sums[0], sums[1], "the tables differ");
    assert_eq!(sums, checksum(&second, &["--threads", "2"]));
    assert_eq!(sums, checksum(&second, &["--engine", "MyISAM"]));
    assert_ne!(sums, checksum(&second, &["--seed", "2"]));
    // Loaded by INSERT where the server takes no LOAD DATA LOCAL.
    second.sql("SET GLOBAL local_infile = 0");
    let inserted = checksum(&second, &[]);
    second.sql("SET GLOBAL local_infile = 1");
    assert_eq!(sums, inserted);
}

#[test]
fn intervals_add_up_to_the_summary() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    succeed("prepare", &url, &["--rows", "1000"]);
    let arguments = [
        "--rows",
        "1000",
        "--clients",
        "3",
        // A thread of several clients sees when each reply was there to be read.
        "--workers",
        "1",
        "--seconds",
        "0.5",
        "--warm-up",
        "0.15",
    ];
    let arguments = [&arguments[..], &["--report-interval", "0.1", "--json"]].concat();
    let events = events(&succeed("run", &url, &arguments));
    let of_phase = |phase: &str| {
        let intervals = events.iter().filter(|event| event["event"] == "interval");
        intervals
            .filter(|event| event["phase"] == phase)
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (of_phase("warm-up").len(), of_phase("measure").len()),
        (2, 5)
    );
    let summary = events.last().expect("a last line");
    for field in ["transactions", "reads", "writes", "others"] {
        let sum: u64 = of_phase("measure")
            .iter()
            .map(|event| event[field].as_u64().unwrap())
            .sum();
        assert_eq!(summary[field], sum, "{field}");
    }
    assert!(
        summary["client"]["delay_us"]["mean"].as_f64() > Some(0.0),
        "{summary}"
    );
    assert!(summary["client"]["cpu_user_s"].as_f64().is_some());
    // Little's law: three clients are always in a transaction.
    let mean_s = summary["latency_us"]["mean"].as_f64().unwrap() / 1e6;
    let inside = mean_s * summary["transactions_per_s"].as_f64().unwrap();
    assert!((2.5..3.5).contains(&inside), "{inside} clients");
}
