//! Statements and loads, on a real server.

use diskproof_load::driver::{Args, Driver, Fault, Protocol, Reply, ServerError, Statement};

use crate::drive::{Client, ints, push_text, statement};
use crate::server::{Server, database_or_skip};

const TABLE: &str =
    "CREATE TABLE t (id serial PRIMARY KEY, k integer NOT NULL, c char(120) NOT NULL);
     INSERT INTO t (k, c) SELECT i, repeat('x', 100) FROM generate_series(1, 1000) AS i;
     ANALYZE t";

/// Sessions of this database that wait for a lock.
const WAITING: &str = "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE NOT granted AND datname = current_database()";

fn reply(rows: u64, affected: u64) -> Reply {
    Reply { rows, affected }
}

fn server_error(outcome: Result<Reply, Fault>) -> ServerError {
    match outcome {
        Err(Fault::Server(error)) => error,
        other => panic!("not a server error: {other:?}"),
    }
}

fn catalogue() -> Vec<Statement> {
    let begin = Statement::as_text("BEGIN");
    [
        "SELECT c FROM t WHERE id = ?",
        "SELECT c FROM t WHERE id BETWEEN ? AND ? ORDER BY c",
        "UPDATE t SET k = k + ? WHERE id = ?",
        "UPDATE t SET c = ? WHERE id = ?",
        "DELETE FROM t WHERE id = ?",
        "INSERT INTO t (id, k, c) VALUES (?, ?, ?)",
        "SELECT 1 / (? - id) FROM t WHERE id = 1",
        "COMMIT",
        "ROLLBACK",
        "SELECT repeat(c, 8000) FROM t WHERE id <= ?",
    ]
    .map(statement)
    .into_iter()
    .chain([begin])
    .collect()
}

const BEGIN: usize = 10;

#[test]
fn every_kind_of_statement_in_both_protocols() {
    let database = database_or_skip!(Server::database());
    database.psql(TABLE);
    for protocol in [Protocol::Text, Protocol::Prepared] {
        let session = database.driver().connect(&catalogue(), protocol);
        let mut client = Client::new(session.expect("a connection"));
        let mut run = |id, args: &Args| client.run(id, args);
        let none = Args::default();

        assert_eq!(run(0, &ints(&[500])).unwrap(), reply(1, 0), "{protocol:?}");
        assert_eq!(run(0, &ints(&[5_000])).unwrap(), reply(0, 0));
        assert_eq!(run(1, &ints(&[101, 200])).unwrap(), reply(100, 0));

        assert_eq!(run(BEGIN, &none).unwrap(), reply(0, 0));
        assert_eq!(run(2, &ints(&[-3, 7])).unwrap(), reply(0, 1));
        let mut change = push_text(Args::default(), "it's a \\ c");
        change.push_int(7);
        assert_eq!(run(3, &change).unwrap(), reply(0, 1));
        assert_eq!(run(4, &ints(&[8])).unwrap(), reply(0, 1));
        let row = push_text(ints(&[8, -1]), "new");
        assert_eq!(run(5, &row).unwrap(), reply(0, 1));
        assert_eq!(run(7, &none).unwrap(), reply(0, 0));
        assert_eq!(
            database.psql("SELECT k, rtrim(c) FROM t WHERE id IN (7, 8) ORDER BY id"),
            "4|it's a \\ c\n-1|new"
        );

        let error = server_error(run(6, &ints(&[1])));
        assert_eq!((error.code.as_str(), error.transient), ("22012", false));
        assert_eq!(run(0, &ints(&[1])).unwrap(), reply(1, 0), "after an error");

        // About a megabyte a row: far more than any buffer, in many reads.
        assert_eq!(run(9, &ints(&[20])).unwrap(), reply(20, 0));
        let excess = server_error(run(0, &ints(&[1, 2])));
        assert_eq!(excess.code, "08P01");
        assert_eq!(run(0, &ints(&[1])).unwrap(), reply(1, 0));
        database.psql("UPDATE t SET k = 7 WHERE id = 7");
    }
}

#[test]
fn a_bound_integer_finds_the_index_of_an_integer_column() {
    let database = database_or_skip!(Server::database());
    database.psql(TABLE);
    database.set("plan_cache_mode = 'force_generic_plan'");
    let session = database.driver().connect(&catalogue(), Protocol::Prepared);
    let mut client = Client::new(session.expect("a connection"));
    for id in 1..=50 {
        client.run(0, &ints(&[id])).expect("a row");
    }
    // Statistics reach the shared table when a session ends.
    drop(client);
    let scans = || database.psql("SELECT idx_scan, seq_scan FROM pg_stat_user_tables");
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(5);
    while !scans().starts_with("50|") && std::time::Instant::now() < deadline {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let found = scans();
    let (index, sequential) = found.split_once('|').expect("two counts");
    assert_eq!(index, "50");
    // The fill and ANALYZE scan the table; fifty lookups must not.
    assert!(sequential.parse::<u64>().unwrap() < 10, "{sequential}");
}

#[test]
fn a_deadlock_is_transient_and_leaves_the_connection_usable() {
    let database = database_or_skip!(Server::database());
    database.psql(TABLE);
    database.set("deadlock_timeout = '50ms'");
    let driver = database.driver();
    let mut first = Client::new(driver.connect(&catalogue(), Protocol::Prepared).unwrap());
    let none = Args::default();
    first.run(BEGIN, &none).unwrap();
    first.run(2, &ints(&[1, 1])).unwrap();
    let second = std::thread::scope(|scope| {
        let second = scope.spawn(|| {
            let mut client = Client::new(driver.connect(&catalogue(), Protocol::Text).unwrap());
            client.run(BEGIN, &Args::default()).unwrap();
            client.run(2, &ints(&[1, 2])).unwrap();
            let outcome = client.run(2, &ints(&[1, 1]));
            client.run(8, &Args::default()).expect("a rollback");
            outcome
        });
        while database.psql(WAITING) == "0" {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let outcome = first.run(2, &ints(&[1, 2]));
        first.run(8, &none).expect("a rollback");
        [outcome, second.join().expect("no panic")]
    });
    let victims: Vec<_> = second.into_iter().filter_map(Result::err).collect();
    assert_eq!(victims.len(), 1, "{victims:?}");
    match &victims[0] {
        Fault::Server(error) => assert!(error.transient && error.code == "40P01", "{error:?}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(first.run(0, &ints(&[1])).unwrap(), reply(1, 0));
}

#[test]
fn a_statement_that_cannot_be_prepared_is_named() {
    let database = database_or_skip!(Server::database());
    let statements = [
        statement("SELECT 1"),
        statement("SELECT c FROM gone WHERE id = ?"),
    ];
    match database.driver().connect(&statements, Protocol::Prepared) {
        Err(Fault::Server(error)) => {
            assert_eq!(error.code, "42P01");
            assert!(error.message.contains("`SELECT c FROM gone WHERE id = $1`"));
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("prepared a statement on a missing table"),
    }
}

#[test]
fn a_large_catalogue_is_prepared_in_one_round_trip() {
    let database = database_or_skip!(Server::database());
    let statements: Vec<_> = (0..1_000)
        .map(|number| statement(&format!("SELECT {number}, ?::int")))
        .collect();
    let session = database.driver().connect(&statements, Protocol::Prepared);
    let mut client = Client::new(session.expect("a connection"));
    assert_eq!(client.run(999, &ints(&[1])).unwrap(), reply(1, 0));
}

#[test]
fn administration_loads_and_answers() {
    let database = database_or_skip!(Server::database());
    let mut admin = database.driver().admin().expect("a connection");
    assert!(admin.server_version().unwrap().starts_with("PostgreSQL 1"));
    admin
        .execute("CREATE TABLE loaded (id integer, c text)")
        .unwrap();
    let texts = [
        "plain",
        "tab\there",
        "back\\slash",
        "new\nline",
        "",
        "\\N",
        "ä\r",
    ];
    let mut rows = (1..).zip(texts);
    let loaded = admin.load("loaded", &["id", "c"], &mut |args| {
        let Some((id, text)) = rows.next() else {
            return false;
        };
        args.push_int(id);
        args.push_text(|out| out.extend_from_slice(text.as_bytes()));
        true
    });
    assert_eq!(loaded.unwrap(), 7);
    for (id, text) in (1..).zip(texts) {
        let found = admin.query_value(&format!("SELECT c FROM loaded WHERE id = {id}"));
        assert_eq!(found.unwrap().as_deref(), Some(text));
    }
    assert_eq!(
        admin.execute("DELETE FROM loaded WHERE id > 5").unwrap(),
        reply(0, 2)
    );
    assert_eq!(admin.query_value("SELECT NULL").unwrap(), None);
    assert_eq!(admin.query_value("SELECT 1 WHERE false").unwrap(), None);
    assert_eq!(
        admin
            .query_value("SELECT count(*) FROM loaded")
            .unwrap()
            .as_deref(),
        Some("5")
    );
    assert!(admin.execute("COPY loaded FROM STDIN").is_err());
}

#[test]
fn a_load_that_the_server_refuses_stops_early() {
    let database = database_or_skip!(Server::database());
    let mut admin = database.driver().admin().expect("a connection");
    admin.execute("CREATE TABLE small (id smallint)").unwrap();
    let mut drawn = 0_i64;
    let outcome = admin.load("small", &["id"], &mut |args| {
        drawn += 1;
        args.push_int(drawn);
        drawn < 50_000_000
    });
    match outcome {
        Err(Fault::Server(error)) => assert_eq!(error.code, "22003"),
        other => panic!("{other:?}"),
    }
    assert!(
        drawn < 5_000_000,
        "went on for {drawn} rows after the refusal"
    );
    assert_eq!(
        admin
            .query_value("SELECT count(*) FROM small")
            .unwrap()
            .as_deref(),
        Some("0")
    );
    let mut one = |args: &mut Args| {
        args.push_int(1);
        true
    };
    assert!(admin.load("gone", &["id"], &mut one).is_err());
    assert_eq!(admin.query_value("SELECT 7").unwrap().as_deref(), Some("7"));
}

#[test]
fn a_shutdown_is_reported_in_the_servers_own_words() {
    let database = database_or_skip!(Server::own("local all all trust\n", &[]));
    database.psql(TABLE);
    let driver = database.driver();
    let mut at_rest = Client::new(driver.connect(&catalogue(), Protocol::Prepared).unwrap());
    let mut busy = Client::new(
        driver
            .connect(&[statement("SELECT pg_sleep(30)")], Protocol::Text)
            .unwrap(),
    );
    at_rest.run(0, &ints(&[1])).unwrap();
    let interrupted = std::thread::scope(|scope| {
        let sleeping = scope.spawn(|| busy.run(0, &Args::default()));
        while database.psql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'")
            == "0"
        {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        database.server().shut_down();
        sleeping.join().expect("no panic")
    });
    for outcome in [interrupted, at_rest.run(0, &ints(&[1]))] {
        match outcome {
            Err(Fault::Lost(error)) => assert!(error.to_string().contains("57P01"), "{error}"),
            other => panic!("{other:?}"),
        }
    }
    match driver.connect(&[], Protocol::Text) {
        Err(Fault::Unreachable(words)) => assert!(words.contains(".s.PGSQL."), "{words}"),
        _ => panic!("connected to a server that is down"),
    }
}
