//! The user's own scripts on a real MariaDB.

use crate::program::account;
use crate::script_support::{
    SCRIPT, Scripts, money_is_neither_made_nor_lost, what_the_server_cannot_read_ends_the_run,
};
use crate::server::{Database, database_or_skip};

#[test]
fn money_stays() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    money_is_neither_made_nor_lost(&url, "BEGIN", |sql| database.sql(sql));
}

#[test]
fn mistakes_in_sql_are_told_first() {
    let database = database_or_skip!(Database::shared());
    what_the_server_cannot_read_ends_the_run(&database.socket_url("root"));
}

/// Two scripts that lock the same rows in opposite orders: each deadlock's loser runs its own
/// script again, so that both come to what their weights promise.
#[test]
fn after_a_deadlock_the_same_script_runs_again() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    database.sql(
        "CREATE TABLE t (id INT PRIMARY KEY, n INT, m INT) ENGINE=InnoDB; INSERT INTO t VALUES (1, 0, 0), (2, 0, 0)",
    );
    let scripts = Scripts::new();
    let update =
        |id: u32, column: &str| format!("UPDATE t SET {column} = {column} + 1 WHERE id = {id};");
    let up = format!(
        "BEGIN;\n{}\n\\sleep 1 ms\n{}\nCOMMIT;",
        update(1, "n"),
        update(2, "n")
    );
    let down = format!(
        "BEGIN;\n{}\n\\sleep 1 ms\n{}\nCOMMIT;",
        update(2, "m"),
        update(1, "m")
    );
    let (up, down) = (
        scripts.write("up.sql", &up),
        scripts.write("down.sql", &down),
    );
    let load = ["--clients", "4", "--transactions", "200", "--seconds", "60"];
    let files = ["--file", &up, "--file", &down];
    let summary = SCRIPT.summary(&url, &[&files[..], &load].concat());
    assert!(summary["retries"].as_u64() > Some(0), "{summary}");
    assert_eq!(summary["failed_transactions"], 0, "{summary}");
    let ended = |name: &str| account(&summary, name)["count"].as_u64().expect("a count");
    let (ups, downs) = (ended("up.sql:5 COMMIT"), ended("down.sql:5 COMMIT"));
    assert_eq!(ups + downs, 200);
    assert_eq!(
        database.sql("SELECT min(n), max(n), min(m), max(m) FROM t"),
        format!("{ups}\t{ups}\t{downs}\t{downs}")
    );
}

/// Procedures made by a script: their bodies are whole, and all of their results are taken.
#[test]
fn procedures_answer_with_several_results() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    let scripts = Scripts::new();
    let schema = scripts.write(
        "schema.sql",
        "CREATE PROCEDURE twice(IN n INT)\nBEGIN\n  SELECT n;\n  IF n > 0 THEN SELECT n UNION ALL SELECT 2; END IF;\nEND;\n",
    );
    SCRIPT.succeed("prepare", &url, &["--file", &schema]);
    let call = scripts.write(
        "call.sql",
        "CALL twice(:scale);\nSELECT 'it\\'s; # no comment'; # one\n",
    );
    for protocol in ["text", "prepared"] {
        let few = [
            "--transactions",
            "5",
            "--seconds",
            "20",
            "--protocol",
            protocol,
        ];
        let summary = SCRIPT.summary(&url, &[&["--file", &call], &few[..]].concat());
        assert_eq!(summary["transactions"], 5, "{summary}");
        assert_eq!(
            summary["errors"],
            serde_json::json!([]),
            "{protocol}: {summary}"
        );
        assert_eq!(
            account(&summary, "call.sql:1 CALL twice(:scale)")["rows"],
            15,
            "{protocol}"
        );
    }
}

/// A file of ours is no server's to ask for.
#[test]
fn no_script_sends_a_file_away() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    database.sql("CREATE TABLE t (line TEXT)");
    let scripts = Scripts::new();
    let take = scripts.write(
        "take.sql",
        "LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE t;",
    );
    for verb in ["run", "prepare"] {
        let output = SCRIPT.call(verb, &url, &["--file", &take, "--any-database"]);
        assert_eq!(output.status.code(), Some(1), "{verb}");
        assert_eq!(database.sql("SELECT count(*) FROM t"), "0", "{verb}");
    }
}
