//! sql-bench's tests on MariaDB: with transactions, without, and interrupted.

use std::process::Stdio;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::kind::Kind;
use crate::server::{Database, Server, database_or_skip};
use crate::sqlbench_support::{check_all, command, complaint, named, operations, sqlbench};

#[test]
fn all_nine_tests_on_innodb() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    assert_eq!(check_all(&url, &["--engine", "InnoDB"], &[]), [""; 0]);
    assert_eq!(database.sql("SHOW TABLES"), "");
}

#[test]
fn myisam_has_no_transactions_and_is_not_said_to() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    let reasons = check_all(&url, &["--engine", "myisam"], &["transactions"]);
    assert_eq!(reasons, ["engine MyISAM has no transactions"; 9]);
    assert_eq!(database.sql("SHOW TABLES"), "");
}

#[test]
fn all_nine_tests_on_mysql_5_6() {
    let server = database_or_skip!(Server::start(Kind::Mysql56, &[]));
    let database = Database::on(Arc::new(server));
    assert_eq!(check_all(&database.socket_url("root"), &[], &[]), [""; 0]);
}

#[test]
fn all_nine_tests_on_mysql_9() {
    let server = database_or_skip!(Server::start(Kind::Mysql9, &[]));
    let database = Database::on(Arc::new(server));
    assert_eq!(check_all(&database.socket_url("root"), &[], &[]), [""; 0]);
}

#[test]
fn several_clients_do_the_same_work() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    let shared = [
        "--tests",
        "insert,transactions",
        "--scale",
        "0.005",
        "--clients",
        "4",
    ];
    let told = operations(&url, &shared);
    let insert = named(&told, "insert");
    assert_eq!(
        (&insert["clients"], &insert["affected"]),
        (&4.into(), &1500.into())
    );
    assert_eq!(named(&told, "insert_duplicates")["count"], 500);
    assert_eq!(named(&told, "multiple_value_insert")["count"], 500);
    assert_eq!(named(&told, "insert_commit")["affected"], 50);
}

#[test]
fn an_unknown_engine_is_refused_with_those_that_are_there() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    let output = sqlbench("run", &url, &["--engine", "falcon"]);
    assert_eq!(output.status.code(), Some(2));
    let said = complaint(&output);
    assert!(said.contains("falcon") && said.contains("InnoDB"), "{said}");
}

#[test]
fn an_interrupt_ends_the_loop_and_leaves_no_table() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    let child = command("run", &url, &["--tests", "insert", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // The table appears at once, the first row when the loop has begun.
    let deadline = Instant::now() + Duration::from_secs(60);
    while database.sql("SHOW TABLES").is_empty()
        || database.sql("SELECT count(*) FROM sqlbench_bench1") == "0"
    {
        assert!(Instant::now() < deadline, "no row is inserted");
        thread::sleep(Duration::from_millis(20));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it is there");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    let events = crate::program::events(&output);
    let summary = events.last().expect("a last line");
    assert_eq!(summary["event"], "summary", "{summary}");
    let insert = &summary["operations"][0];
    assert_eq!(insert["name"], "insert");
    assert!(insert["count"].as_u64() > Some(0), "{insert}");
    assert!(insert["count"].as_u64() < Some(300_000), "{insert}");
    assert_eq!(summary["errors"], Value::Array(Vec::new()));
    assert_eq!(database.sql("SHOW TABLES"), "");
}
