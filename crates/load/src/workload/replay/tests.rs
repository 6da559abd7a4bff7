//! The order of commits, and what a client sends of its sessions.

use super::order::Order;
use super::{ReplayOptions, ReplayWorkload};
use crate::driver::{Args, Dialect, Reply, ServerError};
use crate::log::{Event, Sink, Statement, What};
use crate::recording::{Recorder, Recording};
use crate::workload::sql::{Errand, Fence};
use crate::workload::{Next, Script, Workload};

#[test]
fn commits_out_of_turn_are_waited_for_and_told() {
    let order = Order::default();
    assert!(order.allows(0));
    assert!(!order.allows(1));
    assert!(order.done(1), "before the first one");
    assert!(!order.allows(1));
    assert!(!order.done(0));
    assert!(order.allows(2));
    assert!(!order.done(0), "again");
    assert!(!order.done(2));
    assert!(order.allows(3));
    assert!(!order.allows(4));
}

/// A workload of statements of one session, 10 µs each.
fn workload(statements: &[&str], from_us: u64, only_reads: bool) -> ReplayWorkload {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let mut recorder = Recorder::new(&mut file, Dialect::Postgres, false).unwrap();
    for (place, sql) in (1..).zip(statements) {
        let what = What::Statement(Statement {
            sql: sql.as_bytes().to_vec(),
            duration_us: Some(10),
            ..Statement::default()
        });
        let event = Event {
            session: 1,
            at_us: place * 1000,
            step_us: 1,
            what,
            line: 1,
        };
        recorder.take(event).unwrap();
    }
    recorder.finish("log").unwrap();
    let options = ReplayOptions {
        database: None,
        speed: None,
        copies: 1,
        from_us,
        until_us: u64::MAX,
        share: 1.0,
        only_reads,
        fence: Fence::new(Dialect::Postgres, Errand::Measured, Some("shop")),
        dilation: 1,
    };
    ReplayWorkload::new(Recording::open(file.path()).unwrap(), options).unwrap()
}

/// What its client sends, if the server refuses statements with this word.
fn sent(workload: &ReplayWorkload, refused: &str) -> Vec<String> {
    let mut script = workload.script(0);
    let mut args = Args::default();
    let mut sent = Vec::new();
    while script.begin() {
        while let Some(next) = script.next(&mut args) {
            let Next::Sql { type_index } = next else {
                panic!("{next:?}")
            };
            let sql = String::from_utf8(args.sql().to_vec()).unwrap();
            if !refused.is_empty() && sql.contains(refused) {
                let error = ServerError {
                    code: "1213".into(),
                    sql_state: None,
                    message: "Deadlock".into(),
                    transient: true,
                };
                assert!(script.take_refusal(&error, false));
            } else {
                script.take_reply(Reply::default(), None, type_index);
            }
            sent.push(sql);
        }
    }
    sent
}

#[test]
fn what_a_session_leaves_open_is_rolled_back() {
    let open = workload(&["SELECT 1", "BEGIN", "UPDATE t SET a=1"], 0, false);
    assert_eq!(
        sent(&open, ""),
        ["SELECT 1", "BEGIN", "UPDATE t SET a=1", "ROLLBACK"]
    );
}

#[test]
fn the_rest_of_a_deadlocked_transaction_is_left_out() {
    let statements = [
        "BEGIN",
        "UPDATE t SET a=1",
        "UPDATE t SET b=2",
        "COMMIT",
        "SELECT 5",
    ];
    let all = workload(&statements, 0, false);
    assert_eq!(sent(&all, "a=1"), ["BEGIN", "UPDATE t SET a=1", "SELECT 5"]);
}

#[test]
fn a_part_begins_between_transactions_and_with_the_sessions_settings() {
    let statements = [
        "SET search_path=x",
        "BEGIN",
        "UPDATE t SET a=1",
        "COMMIT",
        "SELECT 5",
    ];
    let part = workload(&statements, 1500, false);
    assert_eq!(sent(&part, ""), ["SET search_path=x", "SELECT 5"]);
}

#[test]
fn only_reads_are_sent_if_they_alone_were_asked_for() {
    let statements = [
        "SELECT 1",
        "TRUNCATE t",
        "SELECT 2 FOR UPDATE",
        "EXPLAIN ANALYZE DELETE FROM t",
        "SELECT 1; DELETE FROM t",
        "BEGIN; DELETE FROM t; COMMIT",
        "INSERT INTO t VALUES (1)",
    ];
    assert_eq!(sent(&workload(&statements, 0, true), ""), ["SELECT 1"]);
}

#[test]
fn no_statement_behind_a_semicolon_leaves_the_database() {
    let statements = [
        "SELECT 1; COPY t FROM PROGRAM 'id'",
        "SELECT ';'",
        "SELECT 1; SELECT 2;",
    ];
    let all = workload(&statements, 0, false);
    assert_eq!(sent(&all, ""), ["SELECT ';'", "SELECT 1; SELECT 2;"]);
}

#[test]
fn many_statements_in_one_text_are_judged_one_by_one() {
    let long = format!("SELECT 1{}", "; SELECT 2".repeat(200_000));
    let hidden = format!("{long}; COPY t FROM PROGRAM 'id'");
    assert_eq!(sent(&workload(&[&long, &hidden], 0, false), ""), [long]);
}
