//! What the log has prepared is prepared, as often as there.

use super::workload_from;
use crate::driver::{Args, Dialect, Reply, ServerError};
use crate::log::{Bound, Statement, Value, What};
use crate::workload::replay::prepared::Prepared;
use crate::workload::{Account, Next, Script, Workload};

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
