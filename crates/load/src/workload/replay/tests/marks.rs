//! Each transaction that writes leaves a mark. If the server refuses it, the account says so.

use super::{sent, workload, workload_of};
use crate::driver::Dialect;
use crate::workload::ledger::Acknowledgements;
use crate::workload::replay::Marks;

/// What is sent with marks, and the lines of the acknowledgements without their moments.
fn with_marks(statements: &[&str], refused: &str) -> (Vec<String>, Vec<String>) {
    with_marks_in(Dialect::Postgres, statements, refused)
}

fn with_marks_in(
    dialect: Dialect,
    statements: &[&str],
    refused: &str,
) -> (Vec<String>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("acknowledged");
    let marks = Marks {
        file: Acknowledgements::create(&path, 1).unwrap(),
        table: "marks",
        untransactional: vec!["counters".into()],
    };
    let workload = workload_of(dialect, statements, 0, false, Some(marks));
    let sent = sent(&workload, refused);
    let told = std::fs::read_to_string(&path).unwrap();
    let lines = told.lines().map(|line| {
        let (line, _moment) = line.rsplit_once(' ').unwrap();
        line.to_owned()
    });
    (sent, lines.collect())
}

#[test]
fn a_transaction_that_writes_has_a_mark_in_it() {
    let statements = [
        "INSERT INTO t VALUES (1)",
        "SELECT 2",
        "BEGIN",
        "UPDATE t SET a=3",
        "SELECT 4",
        "COMMIT",
        "BEGIN",
        "SELECT 5",
        "COMMIT",
        "BEGIN",
        "DELETE FROM t",
        "ROLLBACK",
        "UPDATE t SET a=6",
    ];
    let (sent, told) = with_marks(&statements, "");
    let mut expected = statements.map(str::to_owned).to_vec();
    let mut insert = |at: usize, sql: &str| expected.insert(at, sql.to_owned());
    insert(0, "BEGIN");
    insert(2, "INSERT INTO marks VALUES (0, 1)");
    insert(3, "COMMIT");
    insert(8, "INSERT INTO marks VALUES (0, 2)");
    insert(16, "BEGIN");
    insert(18, "INSERT INTO marks VALUES (0, 3)");
    insert(19, "COMMIT");
    assert_eq!(sent, expected);
    // Its session, and when it began in the log: after the first statement.
    assert_eq!(told, ["0 1 0 0", "0 2 0 2000", "0 3 0 12000"]);
}

#[test]
fn a_transaction_that_the_server_refuses_is_not_acknowledged() {
    let alone = ["INSERT INTO t VALUES (1)", "SELECT 2"];
    let (sent, told) = with_marks(&alone, "INTO t");
    assert_eq!(sent, ["BEGIN", alone[0], "COMMIT", alone[1]]);
    assert!(told.is_empty(), "{told:?}");

    let (sent, told) = with_marks(&alone, "marks");
    let mark = "INSERT INTO marks VALUES (0, 1)";
    assert_eq!(sent, ["BEGIN", alone[0], mark, "COMMIT", alone[1]]);
    assert_eq!(told, ["0 1 !1213"]);

    let (_, told) = with_marks(&alone, "COMMIT");
    assert_eq!(told, ["0 1 !refused"]);

    let within = ["BEGIN", "UPDATE t SET a=1", "COMMIT", "SELECT 2"];
    let (sent, told) = with_marks(&within, "marks");
    assert_eq!(
        sent,
        ["BEGIN", within[1], mark, "SELECT 2"],
        "a deadlock took all of it"
    );
    assert_eq!(told, ["0 1 !1213"]);
}

#[test]
fn an_acknowledged_write_whose_mark_the_server_refused_is_told() {
    let mark = "INSERT INTO marks VALUES (0, 1)";
    let alone = ["INSERT INTO t VALUES (1)"];
    let within = ["BEGIN", "UPDATE t SET a=1", "COMMIT"];
    // The code of a deadlock, of which nothing is left, and another one.
    for (refused, told_too) in [("marks", None), ("marks!1146", Some("0 0 !mark"))] {
        let code = refused.strip_prefix("marks!").unwrap_or("1213");
        let expected: Vec<_> = [format!("0 1 !{code}")]
            .into_iter()
            .chain(told_too.map(str::to_owned))
            .collect();
        let (sent, told) = with_marks_in(Dialect::Mysql, &alone, refused);
        assert_eq!(sent, ["BEGIN", alone[0], mark, "COMMIT"]);
        assert_eq!(told, expected);
        let (sent, told) = with_marks_in(Dialect::Mysql, &within, refused);
        assert_eq!(sent[..3], ["BEGIN", within[1], mark]);
        assert_eq!(sent.get(3).is_some(), told_too.is_some());
        assert_eq!(told, expected);
        // PostgreSQL's commit rolls back then.
        let (_, told) = with_marks(&alone, refused);
        assert_eq!(told, expected[..1]);
    }
    // A write that was refused itself is none.
    let (_, told) = with_marks_in(Dialect::Mysql, &alone, "INTO t!1146");
    assert!(told.is_empty(), "{told:?}");
}

#[test]
fn a_savepoint_unlocks_no_tables() {
    let statements = [
        "SET autocommit=0",
        "LOCK TABLES t WRITE",
        "SAVEPOINT a",
        "UPDATE t SET a=1",
        "ROLLBACK TO SAVEPOINT a",
        "UPDATE t SET a=2",
        "COMMIT",
    ];
    let (sent, told) = with_marks_in(Dialect::Mysql, &statements, "");
    let mut expected = statements.map(str::to_owned).to_vec();
    expected[1] = "LOCK TABLES marks_0 WRITE, t WRITE".to_owned();
    expected.insert(6, "INSERT INTO marks_0 VALUES (0, 1)".to_owned());
    assert_eq!(sent, expected);
    assert_eq!(told, ["0 1 0 1000"]);
}

#[test]
fn tables_are_locked_with_our_own_in_any_form_that_names_some() {
    let write = "INSERT INTO t VALUES (1)";
    for (text, locked) in [
        (
            "lock table t read, u write",
            "lock table marks_0 WRITE, t read, u write",
        ),
        (
            "LOCK TABLES`t` WRITE",
            "LOCK TABLES marks_0 WRITE,`t` WRITE",
        ),
        (
            "LOCK/* t */TABLES\nt WRITE WAIT 5;",
            "LOCK/* t */TABLES marks_0 WRITE,\nt WRITE WAIT 5;",
        ),
        (
            "LOCK TABLES `for` WRITE",
            "LOCK TABLES marks_0 WRITE, `for` WRITE",
        ),
    ] {
        let (sent, told) = with_marks_in(Dialect::Mysql, &[text, write], "");
        let mark = "INSERT INTO marks_0 VALUES (0, 1)";
        let around = ["SET autocommit=0", write, mark, "SET autocommit=1"];
        assert_eq!(sent, [&[locked], &around[..]].concat());
        assert_eq!(told, ["0 1 0 1000"]);
    }
    let backup = ["LOCK TABLES FOR BACKUP", write];
    let (sent, told) = with_marks_in(Dialect::Mysql, &backup, "");
    assert_eq!(sent, backup);
    assert_eq!(told, ["0 0 !locked"]);
    // PostgreSQL's are those of a transaction.
    let within = ["BEGIN", "LOCK TABLE t IN EXCLUSIVE MODE", write, "COMMIT"];
    let (sent, told) = with_marks(&within, "");
    assert_eq!(sent[..3], within[..3]);
    assert_eq!(sent[3..], ["INSERT INTO marks VALUES (0, 1)", "COMMIT"]);
    assert_eq!(told, ["0 1 0 0"]);
}

#[test]
fn what_unlocks_tables_commits_and_has_its_mark() {
    for unlocks in ["UNLOCK TABLES", "LOCK TABLES u WRITE"] {
        let statements = [
            "SET autocommit=0",
            "LOCK TABLES t WRITE",
            "UPDATE t SET a=1",
            unlocks,
            "UPDATE u SET a=2",
            "COMMIT",
        ];
        let locks = |text: &str| text.replace("LOCK TABLES u", "LOCK TABLES marks_0 WRITE, u");
        let last = if unlocks.starts_with("UN") {
            "marks"
        } else {
            "marks_0"
        };
        let mut expected = statements.map(str::to_owned).to_vec();
        expected[1] = "LOCK TABLES marks_0 WRITE, t WRITE".to_owned();
        expected[3] = locks(unlocks);
        expected.insert(5, format!("INSERT INTO {last} VALUES (0, 2)"));
        expected.insert(3, "INSERT INTO marks_0 VALUES (0, 1)".to_owned());
        let (sent, told) = with_marks_in(Dialect::Mysql, &statements, "");
        assert_eq!(sent, expected);
        assert_eq!(told, ["0 1 0 1000", "0 2 0 1000"]);
    }
}

#[test]
fn commits_that_need_not_wait_are_no_promises() {
    let statements = ["SET synchronous_commit = off", "SELECT 1"];
    assert_eq!(with_marks(&statements, "").0, ["SELECT 1"]);
    assert_eq!(sent(&workload(&statements, 0, false), ""), statements);
}

#[test]
fn acknowledged_writes_that_no_mark_holds_are_told() {
    let statements = [
        "CREATE TABLE u (a INT)",
        "UPDATE counters SET a=1",
        "BEGIN",
        "TRUNCATE u",
        "COMMIT",
        "SELECT 1; DELETE FROM u",
        "SELECT 1; SELECT 2",
        "CALL work()",
        "EXPLAIN SELECT 1",
    ];
    let (sent, told) = with_marks(&statements, "work");
    let mut expected = statements.map(str::to_owned).to_vec();
    let mut insert = |at: usize, sql: &str| expected.insert(at, sql.to_owned());
    insert(1, "BEGIN");
    insert(3, "INSERT INTO marks VALUES (0, 1)");
    insert(4, "COMMIT");
    // PostgreSQL's commit holds what changes objects, too.
    insert(7, "INSERT INTO marks VALUES (0, 2)");
    assert_eq!(sent, expected);
    let expected = [
        "0 0 !change",
        "0 0 !untransactional",
        "0 1 0 1000",
        "0 2 0 2000",
        "0 0 !change",
    ];
    assert_eq!(told, expected, "and nothing of what the server refused");
}

#[test]
fn locked_tables_stay_locked_and_their_writes_have_marks() {
    let statements = [
        "LOCK TABLES t WRITE",
        "UPDATE t SET a=1",
        "UNLOCK TABLES",
        "UPDATE t SET a=2",
    ];
    let (sent, told) = with_marks_in(Dialect::Mysql, &statements, "");
    let expected = [
        "LOCK TABLES marks_0 WRITE, t WRITE",
        "SET autocommit=0",
        statements[1],
        "INSERT INTO marks_0 VALUES (0, 1)",
        "SET autocommit=1",
        statements[2],
        "BEGIN",
        statements[3],
        "INSERT INTO marks VALUES (0, 2)",
        "COMMIT",
    ];
    assert_eq!(sent, expected);
    assert_eq!(told, ["0 1 0 1000", "0 2 0 3000"]);
    // A write is there without its mark, and then nothing is.
    for (refused, last) in [("marks_0 V!1146", Some("0 0 !mark")), ("marks_0 V", None)] {
        let (sent, told) = with_marks_in(Dialect::Mysql, &statements[..2], refused);
        assert_eq!(sent[4], "SET autocommit=1");
        assert_eq!(told.get(1).map(String::as_str), last);
    }
}
