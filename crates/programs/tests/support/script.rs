//! The script workload from end to end: accounts that money moves between, as in TPC-B.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::program::{Load, account};

/// Tables and rows in SQL that every family reads.
const SCHEMA: &str = "\
CREATE TABLE branches (bid INT NOT NULL PRIMARY KEY, bbalance INT NOT NULL);
CREATE TABLE tellers (tid INT NOT NULL PRIMARY KEY, tbalance INT NOT NULL);
CREATE TABLE accounts (aid INT NOT NULL PRIMARY KEY, abalance INT NOT NULL);
CREATE TABLE history (tid INT, bid INT, aid INT, delta INT, share DOUBLE PRECISION);
INSERT INTO branches VALUES (1, 0), (2, 0);
INSERT INTO tellers
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20) SELECT i, 0 FROM n;
INSERT INTO accounts
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :accounts) SELECT i, 0 FROM n;
";

const DROP: &str =
    "DROP TABLE branches;\nDROP TABLE tellers;\nDROP TABLE accounts; DROP TABLE history;\n";

const MOVE: &str = "\
\\set aid random_zipfian(1, :accounts, 1.1)
\\set bid random(1, 2)
\\set tid random_gaussian(1, 20, 2.5)
\\set delta random(-5000, 5000)
\\set share case when :delta < -3000 then null when :delta < 0 then :delta else :delta / 5000.0 end
BEGIN;
UPDATE accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM accounts WHERE aid = :aid;
UPDATE tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE branches SET bbalance = bbalance + :delta WHERE bid = :bid;
INSERT INTO history (tid, bid, aid, delta, share) VALUES (:tid, :bid, :aid, :delta, :share);
COMMIT;
";

/// Scripts in a folder of their own.
pub(crate) struct Scripts {
    directory: TempDir,
}

impl Scripts {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        Self { directory }
    }

    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Writes a script; its whole path.
    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        let path: PathBuf = self.directory().join(name);
        fs::write(&path, text).expect("a script is written");
        path.display().to_string()
    }
}

pub(crate) const SCRIPT: Load = Load("script");

/// Makes the accounts, moves money in both protocols, and holds the sums against each other.
/// `begin` is how a writer begins; `value` asks the database for one value.
pub(crate) fn money_is_neither_made_nor_lost(
    url: &str,
    begin: &str,
    value: impl Fn(&str) -> String,
) {
    let scripts = Scripts::new();
    let accounts = ["--variable", "accounts=1000"];
    let schema = scripts.write("schema.sql", SCHEMA);
    SCRIPT.succeed(
        "prepare",
        url,
        &[&["--file", &schema], &accounts[..]].concat(),
    );
    assert_eq!(value("SELECT count(*) FROM accounts"), "1000");

    let moves = scripts.write("move.sql", &MOVE.replace("BEGIN", begin));
    let each = 300;
    let count = each.to_string();
    let load = [
        "--clients",
        "4",
        "--transactions",
        &count,
        "--seconds",
        "60",
    ];
    for (round, protocol) in (1..).zip(["text", "prepared"]) {
        let arguments = ["--file", &moves, "--protocol", protocol];
        let summary = SCRIPT.summary(url, &[&arguments[..], &accounts, &load].concat());
        check_accounts(&summary, each, begin);
        let done = round * each;
        assert_eq!(
            value("SELECT count(*) FROM history"),
            done.to_string(),
            "{protocol}"
        );
        let delta = value("SELECT sum(delta) FROM history");
        assert_ne!(delta, "0");
        for sum in [
            "SELECT sum(abalance) FROM accounts",
            "SELECT sum(tbalance) FROM tellers",
            "SELECT sum(bbalance) FROM branches",
        ] {
            assert_eq!(value(sum), delta, "{protocol}: {sum}");
        }
        // Each arrives as what it is: nothing, a whole number or a double.
        let wrong = "SELECT count(*) FROM history WHERE (share IS NULL) <> (delta < -3000) \
            OR abs(share - CASE WHEN delta < 0 THEN delta ELSE delta / 5000.0 END) > 0.0001";
        assert_eq!(value(wrong), "0", "{protocol}");
        let drawn = "SELECT count(*) FROM history WHERE aid NOT BETWEEN 1 AND 1000 OR tid NOT BETWEEN 1 AND 20";
        assert_eq!(value(drawn), "0", "{protocol}");
    }
    let drop = scripts.write("drop.sql", DROP);
    SCRIPT.succeed("cleanup", url, &["--file", &drop]);
    let gone = SCRIPT.call("cleanup", url, &["--file", &drop]);
    assert_eq!(gone.status.code(), Some(1));
    let complaint = String::from_utf8_lossy(&gone.stderr).into_owned();
    assert!(
        complaint.contains("drop.sql:1 DROP TABLE branches"),
        "{complaint}"
    );
}

/// Statements that the server cannot read end the run before any client comes, each with its line; those
/// that are never sent do not, nor do those that need what the script itself makes.
pub(crate) fn what_the_server_cannot_read_ends_the_run(url: &str) {
    let scripts = Scripts::new();
    let schema = scripts.write("schema.sql", "CREATE TABLE read_me (a INT)");
    SCRIPT.succeed("prepare", url, &["--file", &schema]);
    let wrong = scripts.write(
        "wrong.sql",
        "\\set a random(1, 5)\nSELECT a FROM read_me WHERE a = :a;\nSELECT b FROM read_me;\n\\if :a = 9\n\
         SELECT never FROM nowhere;\n\\endif\nSELECT a FROM read_me WHRE a = 1;",
    );
    let said = |verb: &str, more: &[&str]| {
        let output = SCRIPT.call(verb, url, &[&["--file", &wrong], more].concat());
        assert_eq!(output.status.code(), Some(1), "{more:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    for protocol in ["text", "prepared"] {
        let all = said("run", &["--protocol", protocol, "--seconds", "60"]);
        for line in [
            "wrong.sql:3 SELECT b FROM read_me: the server refuses this statement: ",
            "wrong.sql:7 SELECT a FROM read_me WHRE a = 1: the server refuses this statement: ",
        ] {
            assert!(all.contains(line), "{all}");
        }
        assert!(!all.contains("nowhere"), "{all}");
    }
    let syntax = said("check", &["--syntax"]);
    assert!(
        syntax.contains("wrong.sql:7") && !syntax.contains("wrong.sql:3"),
        "{syntax}"
    );
    let own = scripts.write(
        "own.sql",
        "CREATE TEMPORARY TABLE own (a INT);\nINSERT INTO own VALUES (1);\nDROP TABLE own;",
    );
    SCRIPT.summary(url, &["--file", &own, "--transactions", "2"]);
}

/// Every statement of every transaction was executed; one that was rolled back and run again
/// adds to the counts.
fn check_accounts(summary: &Value, transactions: u64, begin: &str) {
    assert_eq!(summary["transactions"], transactions, "{summary}");
    assert_eq!(summary["failed_transactions"], 0, "{summary}");
    assert_eq!(
        (&summary["workload"], &summary["mix"]),
        (&"script".into(), &"move.sql".into())
    );
    let retries = summary["retries"].as_u64().expect("a count");
    let count = |name: &str| account(summary, name)["count"].as_u64().expect("a count");
    assert!(
        (transactions..=transactions + retries).contains(&count(&format!("move.sql:6 {begin}")))
    );
    assert_eq!(count("move.sql:12 COMMIT"), transactions);
    let select = account(
        summary,
        "move.sql:8 SELECT abalance FROM accounts WHERE aid …",
    );
    assert_eq!(select["kind"], "read");
    assert_eq!(select["rows"], select["count"]);
    let insert = "move.sql:11 INSERT INTO history (tid, bid, aid, delt…";
    assert_eq!(account(summary, insert)["affected"], transactions);
}
