//! The slap workload on a real database: every load type does what it is for, and leaves nothing.

use std::process::Output;

use serde_json::Value;

use crate::program::{Load, account};

const SLAP: Load = Load("slap");

/// Runs `diskproof-load VERB slap --url URL ARGUMENTS`.
pub(crate) fn slap(verb: &str, url: &str, arguments: &[&str]) -> Output {
    SLAP.call(verb, url, arguments)
}

/// Runs slap and gives its summary, which must be without errors.
pub(crate) fn summary(url: &str, arguments: &str) -> Value {
    let words: Vec<_> = arguments.split_whitespace().collect();
    let summary = SLAP.summary(url, &words);
    assert_eq!(summary["errors"], Value::Array(Vec::new()), "{summary}");
    summary
}

/// What a client's statements must come to, alone on a table of 49 rows: statements of a type with
/// the rows that they read or change together.
struct Expected {
    arguments: &'static str,
    name: &'static str,
    count: u64,
    rows: u64,
    affected: u64,
}

/// Each load type alone, and with others at the same time; then nothing must be left.
pub(crate) fn check(url: &str, count_tables: &mut dyn FnMut() -> String) {
    let before = count_tables();
    check_alone(url);
    check_together(url);
    check_commits(url);
    check_keys(url);
    assert_eq!(count_tables(), before, "nothing is left");
}

fn check_alone(url: &str) {
    let all = [
        // 49 rows, and one more by each INSERT that went before: the list of eleven begins with
        // an INSERT and ends with one.
        Expected {
            arguments: "--load-type mixed --queries 10",
            name: "select",
            count: 5,
            rows: 50 + 51 + 52 + 53 + 54,
            affected: 0,
        },
        Expected {
            arguments: "--load-type mixed --queries 13",
            name: "insert",
            count: 7,
            rows: 0,
            affected: 7,
        },
        Expected {
            arguments: "--load-type read --queries 20",
            name: "select",
            count: 20,
            rows: 20 * 49,
            affected: 0,
        },
        Expected {
            arguments: "--load-type write --queries 20 --int-columns 0 --char-columns 3",
            name: "insert",
            count: 20,
            rows: 0,
            affected: 20,
        },
        Expected {
            arguments: "--load-type update --queries 4 --int-columns 4",
            name: "update",
            count: 4,
            rows: 0,
            affected: 4 * 49,
        },
        Expected {
            arguments: "--load-type key --queries 30 --auto-increment",
            name: "select",
            count: 30,
            rows: 30,
            affected: 0,
        },
    ];
    for expected in all {
        let arguments = format!("{} --write-number 50", expected.arguments);
        let summary = summary(url, &arguments);
        let account = account(&summary, expected.name);
        assert_eq!(account["count"], expected.count, "{arguments}: {account}");
        assert_eq!(account["rows"], expected.rows, "{arguments}: {account}");
        assert_eq!(
            account["affected"], expected.affected,
            "{arguments}: {account}"
        );
    }
}

fn check_together(url: &str) {
    let several = summary(url, "--clients 3 --queries 100 --iterations 2");
    let iterations = &several["iterations"];
    assert_eq!(iterations["count"], 2, "{several}");
    assert_eq!(
        iterations["queries_per_client"], 33,
        "each share is rounded down"
    );
    let operations = several["operations"].as_array().expect("a list");
    let seconds: Vec<_> = operations
        .iter()
        .map(|one| one["seconds"].as_f64().expect("a time"))
        .collect();
    assert_eq!(seconds.len(), 2);
    let mean_s = iterations["mean_s"].as_f64().expect("a mean");
    assert!((mean_s - f64::midpoint(seconds[0], seconds[1])).abs() < 1e-9);
    assert_eq!(several["statements"], 2 * 99);
    for operation in operations {
        assert_eq!(operation["count"], 99);
        assert_eq!(operation["planned"], 99);
        assert_eq!(operation["statement_types"][0]["name"], "insert");
    }

    let few = summary(url, "--clients 3 --queries 2");
    assert_eq!(few["statements"], 3 * 11, "each goes through the list once");
}

fn check_commits(url: &str) {
    let committing = summary(url, "--clients 2 --queries 20 --commit 4 --load-type write");
    assert_eq!(
        committing["transactions"], 6,
        "4, 4 and 2 statements of each"
    );
    assert_eq!(account(&committing, "insert")["affected"], 20);
}

fn check_keys(url: &str) {
    let arguments = "--load-type update --queries 40 --clients 2 --auto-increment";
    let updating = summary(url, arguments);
    let updated = account(&updating, "update")["affected"].as_u64();
    // MySQL counts no row that held the same values already.
    assert!((1..=40).contains(&updated.expect("a count")), "{updating}");
    let arguments = "--load-type mixed --queries 22 --auto-increment";
    let mixed = summary(url, arguments);
    assert_eq!(account(&mixed, "select")["rows"], 10, "one for each");
}
