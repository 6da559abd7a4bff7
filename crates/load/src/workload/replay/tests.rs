//! The order of commits, and what a client sends of its sessions.

use super::order::Order;
use super::prepared::Prepared;
use super::{Marks, ReplayOptions, ReplayWorkload};
use crate::driver::{Args, Dialect, Reply, ServerError};
use crate::log::{Bound, Event, Sink, Statement, Value, What};
use crate::recording::{Recorder, Recording};
use crate::workload::ledger::Acknowledgements;
use crate::workload::sql::{Errand, Fence};
use crate::workload::{Account, Next, Script, Workload};

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

/// The steps of a replay in which a SELECT that ends in a number was prepared, and its certificate. `PREPARED` begins
/// an event of the log. Preparations are refused with this code, or those that replace one, or lose the connection.
fn steps(
    dialect: Dialect,
    statements: &[&str],
    fault: Option<&str>,
) -> (Vec<String>, serde_json::Value) {
    let mark = if dialect == Dialect::Mysql { "?" } else { "$1" };
    let key = |text: &str| text.bytes().map(u64::from).sum::<u64>();
    let said = statements.iter().map(|sql| {
        if let Some(text) = sql.strip_prefix("PREPARED ") {
            return What::Prepared(key(text));
        }
        let parts = sql.rsplit_once(' ').filter(|_| sql.starts_with("SELECT"));
        What::Statement(Statement {
            sql: sql.as_bytes().to_vec(),
            key: parts.map(|(before, _)| key(before)),
            bound: parts.map(|(before, value)| Bound {
                sql: format!("{before} {mark}").into_bytes(),
                values: vec![Value::Text(value.as_bytes().to_vec()), Value::Null],
            }),
            ..Statement::default()
        })
    });
    let workload = workload_from(dialect, said, 0, false, None);
    let mut script = workload.script(0);
    let mut args = Args::default();
    let mut steps = Vec::new();
    while script.begin() {
        while let Some(next) = script.next(&mut args) {
            let text = String::from_utf8(args.sql().to_vec()).unwrap();
            match next {
                Next::Prepare { replaces: None } => steps.push(format!("prepare {text}")),
                Next::Prepare { replaces } => {
                    let number = replaces.unwrap();
                    steps.push(format!("prepare {text} as {number}"));
                }
                Next::Own { number, .. } => {
                    steps.push(format!("{number} of {text}, {}", args.values().len()));
                }
                Next::Sql { .. } => steps.push(text),
                other => panic!("{other:?}"),
            }
            match (next, fault) {
                (Next::Prepare { replaces: None }, Some("again")) => {
                    script.take_reply(Reply::default(), None, 0);
                }
                (Next::Prepare { .. }, Some("lost")) => {
                    script.lost();
                    break;
                }
                (Next::Prepare { .. }, Some(code)) => {
                    let error = ServerError {
                        code: code.into(),
                        sql_state: None,
                        message: "This command is not supported".into(),
                        transient: false,
                    };
                    assert!(script.take_refusal(&error, false));
                    assert!(!script.counts());
                }
                (next, _) => {
                    script.take_reply(Reply::default(), None, 0);
                    assert_eq!(script.counts(), !matches!(next, Next::Prepare { .. }));
                }
            }
        }
    }
    let Some(Account::Replay(certificate)) = workload.account() else {
        panic!("no certificate")
    };
    (steps, serde_json::to_value(certificate).unwrap())
}

#[test]
fn what_was_prepared_is_prepared_once_and_bound() {
    let texts = ["SELECT a FROM t LIMIT 5", "SELECT a FROM t LIMIT 6"];
    let steps = |fault| steps(Dialect::Mysql, &texts, fault);
    let (made, told) = steps(None);
    let prepares = "prepare SELECT a FROM t LIMIT ?";
    assert_eq!(made, [prepares, "0 of 5, 2", "0 of 6, 2"]);
    assert_eq!([&told["prepared"], &told["prepared_as_text"]], [2, 0]);
    let (made, told) = steps(Some("1295"));
    assert_eq!(made, [&[prepares], &texts[..]].concat());
    assert_eq!([&told["prepared"], &told["prepared_as_text"]], [0, 2]);
    assert_eq!(told["sent"], 2);
    // A preparation that breaks the connection is not tried again on the next one.
    let (made, told) = steps(Some("lost"));
    assert_eq!(made, [&[prepares], &texts[..]].concat());
    assert_eq!([&told["prepared"], &told["prepared_as_text"]], [0, 2]);
}

#[test]
fn all_connections_together_prepare_no_more_than_a_server_has_and_memory_holds() {
    let made = |connections: usize, bytes: usize| {
        let mut prepared = Prepared::default();
        for number in 0..1000 {
            let sql = format!("SELECT {number:bytes$}");
            prepared.ask(sql.as_bytes(), connections, number % 2 == 0);
            prepared.conclude(true);
        }
        let known = |number| {
            *prepared
                .numbers
                .get(format!("SELECT {number:bytes$}").as_bytes())?
        };
        let numbers: Vec<_> = (0..1000).filter_map(known).collect();
        assert!(numbers.iter().copied().eq(0..numbers.len()));
        numbers.len()
    };
    assert_eq!(made(1, 10), 500);
    assert_eq!(made(100, 10), 160);
    assert_eq!(made(20_000, 10), 0);
    // Each has 1.28 MiB, for texts of 64 KiB.
    assert_eq!(made(100, (64 << 10) - 7), 20);
}

#[test]
fn postgresql_is_asked_to_prepare_between_transactions_only() {
    let log = [
        "BEGIN",
        "SELECT a+ 1",
        "SELECT b+ 2",
        "COMMIT",
        "BEGIN",
        "SELECT b+ 3",
        "COMMIT",
    ];
    let prepares = ["prepare SELECT b+ $1", "prepare SELECT a+ $1"];
    let (made, told) = steps(Dialect::Postgres, &log, None);
    let expected = [&log[..4], &prepares, &["BEGIN", "0 of 3, 2", "COMMIT"]].concat();
    assert_eq!(made, expected);
    assert_eq!([&told["prepared"], &told["prepared_as_text"]], [1, 2]);
    let (made, _) = steps(Dialect::Postgres, &log, Some("42P18"));
    assert_eq!(made, [&log[..4], &prepares, &log[4..]].concat());
    // MySQL's transactions go on.
    let (made, _) = steps(Dialect::Mysql, &log[..4], None);
    let expected = [
        "prepare SELECT a+ ?",
        "0 of 1, 2",
        "prepare SELECT b+ ?",
        "1 of 2, 2",
    ];
    assert_eq!(made, [&["BEGIN"], &expected[..], &["COMMIT"]].concat());
}

#[test]
fn what_the_log_prepares_again_is_prepared_again_in_its_place() {
    let [a, b] = ["PREPARED SELECT a+", "PREPARED SELECT b+"];
    // Twice, or without an execution: that makes no difference.
    let (first, second) = (
        ["SELECT a+ 1", "SELECT a+ 2"],
        ["SELECT a+ 3", "SELECT b+ 4"],
    );
    let log = [&[a], &first[..], &[b, a, a], &second, &[a]].concat();
    let prepares = ["prepare SELECT a+ ?", "prepare SELECT b+ ?"];
    let before = [
        prepares[0],
        "0 of 1, 2",
        "0 of 2, 2",
        "prepare SELECT a+ ? as 0",
    ];
    let (made, told) = steps(Dialect::Mysql, &log, None);
    let after = ["0 of 3, 2", prepares[1], "1 of 4, 2"];
    assert_eq!(made, [&before[..], &after].concat());
    let counts = ["preparations", "preparations_recorded", "prepared"];
    assert_eq!(counts.map(|own| told[own].clone()), [3, 3, 4]);
    // What is refused then is gone, and prepared as if for the first time.
    let (made, told) = steps(
        Dialect::Mysql,
        &[&log[..], &["SELECT a+ 5"]].concat(),
        Some("again"),
    );
    let after = [
        prepares[0],
        "1 of 3, 2",
        prepares[1],
        "2 of 4, 2",
        "prepare SELECT a+ ? as 1",
        prepares[0],
        "3 of 5, 2",
    ];
    assert_eq!(made, [&before[..], &after].concat());
    assert_eq!(counts.map(|own| told[own].clone()), [4, 4, 5]);

    // PostgreSQL has taken the one before, and takes this in a transaction.
    let within = [
        "BEGIN",
        a,
        "SELECT a+ 2",
        b,
        "SELECT b+ 3",
        "COMMIT",
        "SELECT b+ 4",
    ];
    let log = [&[a, "SELECT a+ 1"], &within[..]].concat();
    let (made, told) = steps(Dialect::Postgres, &log, None);
    let expected = [
        "prepare SELECT a+ $1",
        "0 of 1, 2",
        "BEGIN",
        "prepare SELECT a+ $1 as 0",
        "0 of 2, 2",
        "SELECT b+ 3",
        "COMMIT",
        "prepare SELECT b+ $1",
        "1 of 4, 2",
    ];
    assert_eq!(made, expected);
    assert_eq!(counts.map(|own| told[own].clone()), [3, 3, 3]);
}

#[test]
fn what_a_session_has_given_up_is_prepared_anew() {
    let log = [
        "SELECT a+ 1",
        "DEALLOCATE q",
        "DISCARD ALL",
        "SELECT a+ 2",
        "DEALLOCATE ALL;",
        "SELECT a+ 3",
    ];
    let prepares = "prepare SELECT a+ $1";
    let (made, told) = steps(Dialect::Postgres, &log, None);
    let expected = [
        prepares,
        "0 of 1, 2",
        log[2],
        prepares,
        "1 of 2, 2",
        log[4],
        prepares,
        "2 of 3, 2",
    ];
    assert_eq!(made, expected);
    assert_eq!(
        told["left_out"],
        serde_json::json!({}),
        "that of another name is none of ours"
    );
    // MySQL's are others.
    let log = ["SELECT a+ 1", "DEALLOCATE PREPARE q", "SELECT a+ 2"];
    let (made, _) = steps(Dialect::Mysql, &log, None);
    assert_eq!(
        made,
        ["prepare SELECT a+ ?", "0 of 1, 2", log[1], "0 of 2, 2"]
    );
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

#[test]
fn the_first_of_each_query_is_explained_if_it_is_a_mere_read_alone() {
    let statements = [
        "SELECT a FROM t WHERE id=2",
        "SELECT a FROM t WHERE id=1",
        "UPDATE t SET a=1",
        "SELECT a FROM t FOR UPDATE",
        "SELECT a FROM t; DELETE FROM t",
        "EXPLAIN ANALYZE DELETE FROM t",
        "(ANALYZE) DELETE FROM t",
        "WITH x AS (DELETE FROM t RETURNING a) SELECT a FROM x",
        "SELECT pg_read_file('/etc/passwd')",
    ];
    let all = workload(&statements, 0, false);
    assert_eq!(sent(&all, "").len(), 8);
    let counts = all.shared.counts(0);
    let kept: Vec<_> = counts.examples.values().map(|(_, sql)| &**sql).collect();
    assert_eq!(kept, [statements[0].as_bytes()]);
    drop(counts);
    let mut two = super::certificate::Counts::default();
    two.keep_example(0, 5, b"late");
    two.add(&all.shared.counts(0));
    assert_eq!(two.examples[&0].1, statements[0].as_bytes());
}

#[test]
fn a_plan_has_no_values_costs_and_estimates() {
    let of_postgres = serde_json::json!([{"Plan": {"Node Type": "Limit", "Plan Rows": 7, "Plans": [
        {"Node Type": "Aggregate", "Strategy": "Hashed", "Group Key": ["a"], "Plans": [
            {"Node Type": "Hash Join", "Join Type": "Inner", "Hash Cond": "(a = b)", "Plans": [
                {"Node Type": "Seq Scan", "Relation Name": "t", "Filter": "(a = 'Ann Miller')"},
                {"Node Type": "Index Scan", "Index Name": "u_key", "Relation Name": "u", "Index Cond": "(b = 4711)"},
            ]},
        ]},
    ]}}]);
    let plan = |json: &serde_json::Value| super::plans::plan(&json.to_string()).unwrap();
    let said = "Limit (Aggregate Hashed (Hash Join (Seq Scan t, Index Scan u_key u)))";
    assert_eq!(plan(&of_postgres), said);
    let table = serde_json::json!({"table_name": "t", "access_type": "ref", "key": "t_key", "key_length": "4",
        "ref": ["const"], "rows": 7, "attached_condition": "t.a = 'Ann Miller'", "using_index": true});
    let of_mysql = serde_json::json!({"query_block": {"select_id": 1, "cost_info": {"query_cost": "7"},
        "ordering_operation": {"using_filesort": true, "table": table}}});
    assert_eq!(plan(&of_mysql), "filesort (t ref t_key)");
    let of_mariadb = serde_json::json!({"query_block": {"select_id": 1, "nested_loop": [
        {"read_sorted_file": {"filesort": {"sort_key": "t.b", "table": table}}}, {"table": table}]}});
    assert_eq!(plan(&of_mariadb), "filesort (t ref t_key), t ref t_key");
}

#[test]
fn a_plan_that_is_not_understood_is_none() {
    for said in ["", "null", "{", "[]", r#"{"query_plan": {"join": "hash"}}"#] {
        assert_eq!(super::plans::plan(said), None, "{said}");
    }
}

#[test]
fn a_join_whose_tables_have_the_same_key_has_all_of_them() {
    let said = r#"{"query_block": {"select_id": 1, "const_condition": "1", "rows": 1.5, "deep": -1, "none": null,
        "table": {"table_name": "t", "access_type": "ALL"}, "table": {"table_name": "u", "access_type": "ref"}}}"#;
    assert_eq!(super::plans::plan(said).unwrap(), "t ALL, u ref");
}

#[test]
fn plans_that_differ_behind_the_end_are_not_the_same() {
    let plan = |last: &str| {
        let mut tables = vec![serde_json::json!({"table_name": "ä".repeat(50)}); 60];
        tables.push(serde_json::json!({"table_name": last}));
        super::plans::plan(&serde_json::to_string(&tables).unwrap()).unwrap()
    };
    assert_eq!(plan("t"), plan("t"));
    assert_ne!(plan("t"), plan("u"));
    assert!(plan("t").chars().count() < 2020);
}

#[test]
fn a_text_that_goes_on_behind_its_statement_is_not_explained() {
    let is_one = |sql: &str| super::plans::is_one(sql.as_bytes(), Dialect::Postgres);
    let long = "x".repeat(3000);
    assert!(is_one(&format!("SELECT '{long};'; -- ; done")));
    assert!(!is_one(&format!("SELECT '{long}'; DELETE FROM t")));
}
