//! Statements, transactions and loads.

use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use diskproof_load::driver::sqlite::SqliteSession;
use diskproof_load::driver::{
    Args, Driver, Fault, Protocol, Reply, ServerError, Session, Statement,
};
use tempfile::TempDir;

use crate::target::driver;

const CATALOGUE: [&str; 9] = [
    "BEGIN",
    "BEGIN IMMEDIATE",
    "COMMIT",
    "ROLLBACK",
    "SELECT c FROM t WHERE id = ?",
    "SELECT c FROM t WHERE id BETWEEN ? AND ? ORDER BY c",
    "UPDATE t SET k = k - ? WHERE id = ?",
    "DELETE FROM t WHERE id = ?",
    "INSERT INTO t (id, k, c) VALUES (?, ?, ?)",
];
const BEGIN: usize = 0;
const BEGIN_IMMEDIATE: usize = 1;
const COMMIT: usize = 2;
const ROLLBACK: usize = 3;
const POINT: usize = 4;
const RANGE: usize = 5;
const UPDATE: usize = 6;
const DELETE: usize = 7;
const INSERT: usize = 8;

struct Bench {
    directory: TempDir,
    options: &'static str,
}

impl Bench {
    /// A database with a table of a thousand rows.
    fn new(options: &'static str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let bench = Self { directory, options };
        let mut admin = driver(&bench.url()).creating().admin().unwrap();
        admin
            .execute("CREATE TABLE t (id INTEGER PRIMARY KEY, k INTEGER NOT NULL, c TEXT NOT NULL)")
            .unwrap();
        let mut ids = 1..=1000;
        let loaded = admin.load("t", &["id", "k", "c"], &mut |args| {
            let Some(id) = ids.next() else { return false };
            args.push_int(id);
            args.push_int(id % 7);
            args.push_text(|out| out.extend_from_slice(format!("it's {id}").as_bytes()));
            true
        });
        assert_eq!(loaded.unwrap(), 1000);
        bench
    }

    fn url(&self) -> String {
        let path = self.directory.path().join("bench.db");
        format!("sqlite:{}?{}", path.display(), self.options)
    }

    fn session(&self, protocol: Protocol) -> SqliteSession {
        let statements = CATALOGUE.map(Statement::prepared);
        driver(&self.url()).connect(&statements, protocol).unwrap()
    }

    fn value(&self, sql: &str) -> Option<String> {
        driver(&self.url())
            .admin()
            .unwrap()
            .query_value(sql)
            .unwrap()
    }
}

fn run(session: &mut SqliteSession, statement: usize, args: &Args) -> Result<Reply, Fault> {
    assert!(session.source().is_none());
    session.submit(statement, args)?;
    match session.poll() {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => panic!("an embedded database answers at once"),
    }
}

fn ints(values: &[i64]) -> Args {
    let mut args = Args::default();
    for &value in values {
        args.push_int(value);
    }
    args
}

fn reply(rows: u64, affected: u64) -> Reply {
    Reply { rows, affected }
}

fn server_error(outcome: Result<Reply, Fault>) -> ServerError {
    match outcome {
        Err(Fault::Server(error)) => error,
        other => panic!("not a server error: {other:?}"),
    }
}

#[test]
fn every_kind_of_statement_in_both_protocols() {
    let bench = Bench::new("journal_mode=wal&synchronous=normal");
    let none = Args::default();
    for protocol in [Protocol::Prepared, Protocol::Text] {
        let mut session = bench.session(protocol);
        let mut done = |id, args: &Args| run(&mut session, id, args).unwrap();
        assert_eq!(done(POINT, &ints(&[500])), reply(1, 0), "{protocol:?}");
        assert_eq!(done(POINT, &ints(&[5_000])), reply(0, 0));
        assert_eq!(done(RANGE, &ints(&[101, 200])), reply(100, 0));
        assert_eq!(done(BEGIN_IMMEDIATE, &none), reply(0, 0));
        assert_eq!(done(UPDATE, &ints(&[-3, 7])), reply(0, 1));
        assert_eq!(done(UPDATE, &ints(&[1, 7_000])), reply(0, 0));
        assert_eq!(done(DELETE, &ints(&[8])), reply(0, 1));
        let mut row = ints(&[8, -1]);
        row.push_text(|out| out.extend_from_slice(b"it's new"));
        assert_eq!(done(INSERT, &row), reply(0, 1));
        // Not the INSERT's count again.
        assert_eq!(done(COMMIT, &none), reply(0, 0));
        assert_eq!(done(BEGIN, &none), reply(0, 0));
        assert_eq!(done(DELETE, &ints(&[9])), reply(0, 1));
        assert_eq!(done(ROLLBACK, &none), reply(0, 0));
        let changed = bench.value("SELECT group_concat(k || c) FROM t WHERE id IN (7, 8, 9)");
        assert_eq!(changed.unwrap(), "3it's 7,-1it's new,2it's 9");
        bench.value("UPDATE t SET k = 0 WHERE id = 7");

        let wrong = server_error(run(&mut session, POINT, &ints(&[1, 2])));
        assert_eq!(wrong.code, "SQLITE_MISUSE", "{protocol:?}");
    }
}

#[test]
fn a_lock_that_is_held_too_long_is_transient() {
    let bench = Bench::new("journal_mode=wal&synchronous=off&busy_timeout_ms=100");
    let none = Args::default();
    let mut holder = bench.session(Protocol::Prepared);
    let mut waiter = bench.session(Protocol::Prepared);
    run(&mut holder, BEGIN_IMMEDIATE, &none).unwrap();

    let begun = Instant::now();
    let error = server_error(run(&mut waiter, BEGIN_IMMEDIATE, &none));
    assert!(begun.elapsed() >= Duration::from_millis(90), "did not wait");
    assert!(error.transient && error.code == "SQLITE_BUSY", "{error:?}");
    // The engine rolls back after every error; here nothing had begun.
    assert_eq!(run(&mut waiter, ROLLBACK, &none).unwrap(), reply(0, 0));

    // A snapshot that another writer has overtaken cannot be written from.
    run(&mut waiter, BEGIN, &none).unwrap();
    run(&mut waiter, POINT, &ints(&[1])).unwrap();
    run(&mut holder, UPDATE, &ints(&[1, 1])).unwrap();
    run(&mut holder, COMMIT, &none).unwrap();
    let error = server_error(run(&mut waiter, UPDATE, &ints(&[1, 2])));
    assert!(error.transient && error.code == "SQLITE_BUSY", "{error:?}");
    assert!(error.message.contains("517"), "{}", error.message);
    run(&mut waiter, ROLLBACK, &none).unwrap();
    assert_eq!(
        run(&mut waiter, UPDATE, &ints(&[1, 2])).unwrap(),
        reply(0, 1)
    );
}

#[test]
fn writers_in_many_threads_lose_nothing() {
    let bench = Bench::new("journal_mode=wal&synchronous=off");
    thread::scope(|scope| {
        for client in 0..4 {
            let bench = &bench;
            scope.spawn(move || {
                let mut session = bench.session(Protocol::Prepared);
                let none = Args::default();
                for number in 0..200 {
                    run(&mut session, BEGIN_IMMEDIATE, &none).unwrap();
                    run(&mut session, UPDATE, &ints(&[-1, 1])).unwrap();
                    let id = 10_000 + client * 1_000 + number;
                    let mut row = ints(&[id, 0]);
                    row.push_text(|out| out.extend_from_slice(b"c"));
                    run(&mut session, INSERT, &row).unwrap();
                    run(&mut session, COMMIT, &none).unwrap();
                }
            });
        }
    });
    let counted = bench.value("SELECT (SELECT k FROM t WHERE id = 1) || ' ' || count(*) FROM t");
    assert_eq!(counted.unwrap(), "801 1800");
    assert_eq!(bench.value("PRAGMA integrity_check").unwrap(), "ok");
}

#[test]
fn two_loads_at_once_take_turns() {
    let bench = Bench::new("journal_mode=wal&synchronous=off&busy_timeout_ms=1");
    thread::scope(|scope| {
        for table in ["u", "v"] {
            let bench = &bench;
            scope.spawn(move || {
                let mut admin = driver(&bench.url()).admin().unwrap();
                let create = format!("CREATE TABLE {table} (id INTEGER PRIMARY KEY)");
                admin.execute(&create).unwrap();
                let mut id = 0;
                let loaded = admin.load(table, &["id"], &mut |args| {
                    id += 1;
                    args.push_int(id);
                    if id % 1000 == 0 {
                        thread::sleep(Duration::from_millis(5));
                    }
                    id <= 20_000
                });
                assert_eq!(loaded.unwrap(), 20_000);
            });
        }
    });
    let counted = bench.value("SELECT (SELECT count(*) FROM u) + (SELECT count(*) FROM v)");
    assert_eq!(counted.unwrap(), "40000");
}

#[test]
fn a_load_that_fails_leaves_nothing() {
    let bench = Bench::new("");
    let mut admin = driver(&bench.url()).admin().unwrap();
    let mut ids = [2001, 2002, 5].into_iter();
    let outcome = admin.load("t", &["id", "k", "c"], &mut |args| {
        let Some(id) = ids.next() else { return false };
        args.push_int(id);
        args.push_int(0);
        args.push_text(|out| out.push(b'c'));
        true
    });
    match outcome {
        Err(Fault::Server(error)) => {
            assert_eq!(error.code, "SQLITE_CONSTRAINT");
            assert!(!error.transient);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(
        admin
            .query_value("SELECT count(*) FROM t")
            .unwrap()
            .unwrap(),
        "1000"
    );
}

/// `max_page_count` stands in for a disk that fills up: SQLite treats the two alike.
#[test]
fn a_full_disk_is_told_by_name() {
    let bench = Bench::new("");
    let mut admin = driver(&bench.url()).admin().unwrap();
    admin.query_value("PRAGMA max_page_count = 20").unwrap();
    let mut id = 5_000;
    let outcome = admin.load("t", &["id", "k", "c"], &mut |args| {
        id += 1;
        args.push_int(id);
        args.push_int(0);
        args.push_text(|out| out.resize(out.len() + 1000, b'c'));
        id < 6_000
    });
    match outcome {
        Err(Fault::Server(error)) => assert_eq!(error.code, "SQLITE_FULL"),
        other => panic!("{other:?}"),
    }
    assert_eq!(
        admin
            .query_value("SELECT count(*) FROM t")
            .unwrap()
            .unwrap(),
        "1000"
    );
}

#[test]
fn a_missing_table_is_found_while_preparing() {
    let bench = Bench::new("");
    let statements = [Statement::prepared("SELECT c FROM gone WHERE id = ?")];
    match driver(&bench.url()).connect(&statements, Protocol::Prepared) {
        Err(Fault::Server(error)) => {
            assert_eq!(error.code, "SQLITE_ERROR");
            assert!(
                error.message.contains("no such table: gone"),
                "{}",
                error.message
            );
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("prepared a statement on a missing table"),
    }
}
