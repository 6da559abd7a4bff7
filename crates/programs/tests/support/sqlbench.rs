//! sql-bench's tests, run as a user runs them and held to the original's names.

use std::process::{Command, Output};

use serde_json::Value;

use crate::program::events;

/// Names and counts of the original's operations.
const FACTS: &str = include_str!("../../../load/tests/facts/sql-bench-operations.csv");

/// Runs `diskproof-load VERB sqlbench --url URL ARGUMENTS`.
pub(crate) fn sqlbench(verb: &str, url: &str, arguments: &[&str]) -> Output {
    command(verb, url, arguments)
        .output()
        .expect("the program starts")
}

pub(crate) fn command(verb: &str, url: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_diskproof-load"));
    command
        .args([verb, "sqlbench", "--url", url])
        .args(arguments);
    command
}

pub(crate) fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs tests and gives their operations, which the summary must repeat. No error is allowed.
pub(crate) fn operations(url: &str, arguments: &[&str]) -> Vec<Value> {
    let output = sqlbench("run", url, &[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{}", complaint(&output));
    let events = events(&output);
    let summary = events.last().expect("a last line");
    assert_eq!(summary["event"], "summary", "{summary}");
    assert_eq!(summary["errors"], Value::Array(Vec::new()), "{summary}");
    let told = events.iter().filter(|event| event["event"] == "operation");
    let told: Vec<Value> = told.cloned().collect();
    let repeated = summary["operations"].as_array().expect("a list");
    assert_eq!(repeated.len(), told.len());
    for (one, other) in repeated.iter().zip(&told) {
        assert_eq!(
            [&one["test"], &one["name"], &one["count"]],
            [&other["test"], &other["name"], &other["count"]]
        );
    }
    told
}

/// Runs all nine tests at the smallest scale. Each operation must have been done as often as
/// planned, or be one of `skipped`; the reasons for those are given back.
pub(crate) fn check_all(url: &str, arguments: &[&str], skipped: &[&str]) -> Vec<String> {
    let told = operations(url, &[&["--scale", "0.001"], arguments].concat());
    let names = told.iter().map(|operation| {
        let [test, name] = ["test", "name"].map(|key| operation[key].as_str().expect("a name"));
        format!("{test},{name}")
    });
    let facts = FACTS.lines().filter(|line| !line.starts_with('#')).skip(1);
    let expected = facts.map(|line| line.rsplit_once(',').expect("three fields").0.to_owned());
    assert_eq!(names.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    let mut reasons = Vec::new();
    for operation in &told {
        let is_skipped = [&operation["test"], &operation["name"]]
            .iter()
            .any(|name| skipped.contains(&name.as_str().unwrap()));
        assert_eq!(operation["skipped"].is_string(), is_skipped, "{operation}");
        assert_eq!(operation["extrapolated_s"], Value::Null, "{operation}");
        if is_skipped {
            assert_eq!(operation["count"], 0, "{operation}");
            assert_eq!(operation["seconds"], Value::Null, "{operation}");
            reasons.push(operation["skipped"].as_str().unwrap().to_owned());
        } else {
            assert_eq!(operation["count"], operation["planned"], "{operation}");
            assert_eq!(operation["errors"], 0, "{operation}");
            assert!(operation["seconds"].as_f64() > Some(0.0), "{operation}");
        }
    }
    reasons
}

/// One operation by its name.
pub(crate) fn named<'a>(operations: &'a [Value], name: &str) -> &'a Value {
    let found = operations.iter().find(|one| one["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {operations:?}"))
}
