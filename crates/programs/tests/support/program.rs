//! The program itself, run as a user runs it.

use std::process::{Command, Output};

use serde_json::Value;

/// Every mix of the OLTP workload.
pub(crate) const MIXES: [&str; 9] = [
    "complex",
    "read-only",
    "read-write",
    "write-only",
    "point-select",
    "update-index",
    "update-non-index",
    "insert",
    "delete",
];

/// A workload of diskproof-load, by its name.
pub(crate) struct Load(pub(crate) &'static str);

impl Load {
    /// Runs `diskproof-load VERB WORKLOAD --url URL ARGUMENTS`.
    pub(crate) fn call(&self, verb: &str, url: &str, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_diskproof-load"))
            .args([verb, self.0, "--url", url])
            .args(arguments)
            .output()
            .expect("the program starts")
    }

    /// Runs a verb that must succeed.
    pub(crate) fn succeed(&self, verb: &str, url: &str, arguments: &[&str]) -> Output {
        let output = self.call(verb, url, arguments);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{verb} {arguments:?}: {complaint}");
        output
    }

    /// Runs the load and gives its summary.
    pub(crate) fn summary(&self, url: &str, arguments: &[&str]) -> Value {
        let output = self.succeed("run", url, &[arguments, &["--json"]].concat());
        let summary = events(&output).pop().expect("a last line");
        assert_eq!(summary["event"], "summary", "{summary}");
        summary
    }
}

const OLTP: Load = Load("oltp");

/// Runs `diskproof-load VERB oltp --url URL ARGUMENTS`.
pub(crate) fn program(verb: &str, url: &str, arguments: &[&str]) -> Output {
    OLTP.call(verb, url, arguments)
}

/// Runs a verb of oltp that must succeed.
pub(crate) fn succeed(verb: &str, url: &str, arguments: &[&str]) -> Output {
    OLTP.succeed(verb, url, arguments)
}

/// The JSON lines that a run printed.
pub(crate) fn events(output: &Output) -> Vec<Value> {
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).expect(line))
        .collect()
}

/// Runs a mix and gives its summary.
pub(crate) fn summary(url: &str, mix: &str, arguments: &[&str]) -> Value {
    OLTP.summary(url, &[&["--mix", mix], arguments].concat())
}

/// One statement type's account in a summary.
pub(crate) fn account<'a>(summary: &'a Value, name: &str) -> &'a Value {
    let types = summary["statement_types"].as_array().expect("a list");
    let found = types.iter().find(|account| account["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {summary}"))
}

/// A transaction of one client, alone: each of its statements must do exactly what it is for.
/// Three transactions are run, and every account is held to three times these counts
/// (executions, rows and affected rows per transaction).
pub(crate) fn check_accounts(summary: &Value) {
    let point_selects = match summary["mix"].as_str().expect("a name") {
        "point-select" => 1,
        _ => 10,
    };
    assert_eq!(summary["transactions"], 3, "{summary}");
    assert_eq!(summary["errors"], Value::Array(Vec::new()), "{summary}");
    assert_eq!(summary["failed_transactions"], 0, "{summary}");
    for account in summary["statement_types"].as_array().expect("a list") {
        let name = account["name"].as_str().expect("a name");
        let [executions, rows, affected] = match name {
            "begin" | "commit" | "lock_tables" | "unlock_tables" => [1, 0, 0],
            "point_select" => [point_selects, point_selects, 0],
            "sum_range" => [1, 1, 0],
            "simple_range" | "order_range" | "distinct_range" => [1, 100, 0],
            "index_update" | "non_index_update" | "delete" | "insert" => [1, 0, 1],
            other => panic!("what is {other}?"),
        };
        assert_eq!(account["count"], 3 * executions, "{name}: {summary}");
        assert_eq!(account["affected"], 3 * affected, "{name}: {summary}");
        let found = account["rows"].as_u64().expect("a count");
        match name {
            // Ranges may reach past the last row; two equal texts in a range are one.
            "simple_range" | "order_range" | "distinct_range" => {
                assert!((1..=3 * rows).contains(&found), "{name}: {summary}");
            }
            _ => assert_eq!(found, 3 * rows, "{name}: {summary}"),
        }
    }
}
