//! The order of commits, and what a client sends of its sessions.

mod marks;
mod plans;
mod prepared;

use super::order::Order;
use super::{Marks, ReplayOptions, ReplayWorkload};
use crate::driver::{Args, Dialect, Reply, ServerError};
use crate::log::{Bound, Event, Sink, Statement, What};
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
    workload_of(Dialect::Postgres, statements, from_us, only_reads, None)
}

fn workload_of(
    dialect: Dialect,
    statements: &[&str],
    from_us: u64,
    only_reads: bool,
    marks: Option<Marks>,
) -> ReplayWorkload {
    let said = statements.iter().map(|sql| {
        What::Statement(Statement {
            sql: sql.as_bytes().to_vec(),
            duration_us: Some(10),
            ..Statement::default()
        })
    });
    workload_from(dialect, said, from_us, only_reads, marks)
}

fn workload_from(
    dialect: Dialect,
    whats: impl Iterator<Item = What>,
    from_us: u64,
    only_reads: bool,
    marks: Option<Marks>,
) -> ReplayWorkload {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let mut recorder = Recorder::new(&mut file, dialect, false).unwrap();
    for (place, what) in (1..).zip(whats) {
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
        explain: true,
        fence: Fence::new(dialect, Errand::Measured, Some("shop")),
        dilation: 1,
    };
    ReplayWorkload::new(Recording::open(file.path()).unwrap(), options, marks).unwrap()
}

/// What its client sends, if the server refuses statements with this word; with the code behind it, or of a deadlock.
fn sent(workload: &ReplayWorkload, refused: &str) -> Vec<String> {
    let (refused, code) = refused.split_once('!').unwrap_or((refused, "1213"));
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
                    code: code.into(),
                    sql_state: None,
                    message: "Deadlock".into(),
                    transient: true,
                };
                assert!(script.take_refusal(&error, false));
            } else {
                script.take_reply(Reply::default(), None, type_index);
            }
            script.acknowledged().unwrap();
            sent.push(sql);
        }
    }
    sent
}

#[test]
fn an_operator_of_postgresql_is_no_mark() {
    let said = Statement {
        sql: b"SELECT j ? 'a' FROM t".to_vec(),
        bound: Bound::read(
            b"SELECT j ? 'a' FROM t",
            b"SELECT j ? 'a' FROM t",
            Dialect::Postgres,
        ),
        ..Statement::default()
    };
    assert!(said.bound.is_some());
    let said = [What::Statement(said)].into_iter();
    let workload = workload_from(Dialect::Postgres, said, 0, false, None);
    assert_eq!(sent(&workload, ""), ["SELECT j ? 'a' FROM t"]);
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
