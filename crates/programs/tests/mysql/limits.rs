//! What servers do at their limits: of time, of a packet's length, of patience.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use diskproof_load::driver::mysql::{MysqlDriver, MysqlSession};
use diskproof_load::driver::{Driver, Fault, Protocol, Reply, Session};
use diskproof_load::target::Target;

use crate::kind::Kind;
use crate::server::{Database, Server, database_or_skip};

/// A little more than one packet holds.
const LONG: usize = (16 << 20) + 1000;

fn connect(url: &str) -> MysqlSession {
    let driver = match Target::parse(url, None) {
        Ok(Target::Mysql(server)) => MysqlDriver::new(server).expect("a good URL"),
        other => panic!("{url}: {other:?}"),
    };
    driver.connect(&[], Protocol::Text).expect("a log-in")
}

fn run(session: &mut MysqlSession, sql: &str) -> Result<Reply, Fault> {
    session.submit_text(sql.as_bytes())?;
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        if let std::task::Poll::Ready(outcome) = session.poll() {
            return outcome;
        }
        assert!(Instant::now() < deadline, "no end of {sql:.40}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// What every server of the family must bear.
fn reach_the_limits(kind: Kind) {
    let server = database_or_skip!(Server::start(
        kind,
        &["--max-allowed-packet=64M".to_owned()]
    ));
    let database = Database::on(Arc::new(server));
    for url in [database.socket_url("root"), database.tcp_url("root")] {
        long_packets_go_both_ways(&url);
        a_server_that_has_waited_long_enough_is_gone(&url);
    }
    database.sql("SET GLOBAL max_allowed_packet = 1048576");
    for url in [database.socket_url("root"), database.tcp_url("root")] {
        a_statement_that_is_too_long_is_refused(&url);
    }
}

fn long_packets_go_both_ways(url: &str) {
    let mut session = connect(url);
    let one_row = Reply {
        rows: 1,
        affected: 0,
    };
    let reply = run(&mut session, &format!("SELECT REPEAT('x', {LONG})"));
    assert_eq!(reply.expect("a long reply"), one_row);
    let statement = format!("SELECT LENGTH('{}')", "x".repeat(LONG));
    let reply = run(&mut session, &statement);
    assert_eq!(reply.expect("a long statement"), one_row);
    assert_eq!(run(&mut session, "SELECT 1").expect("a reply"), one_row);
}

fn a_server_that_has_waited_long_enough_is_gone(url: &str) {
    let mut session = connect(url);
    run(&mut session, "SET SESSION wait_timeout = 1").expect("a reply");
    thread::sleep(Duration::from_millis(2500));
    match run(&mut session, "SELECT 1") {
        // New servers say why.
        Err(Fault::Lost(error)) => {
            let words = error.to_string();
            assert!(
                words.contains("closed the connection") || words.contains("(4031)"),
                "{words}"
            );
        }
        other => panic!("{url}: {other:?}"),
    }
    assert_lost(run(&mut session, "SELECT 1"));
}

/// The server may go on reading to the statement's end or not, and close the connection or not;
/// in any case it says why, and nothing is taken for the reply to another statement.
fn a_statement_that_is_too_long_is_refused(url: &str) {
    for length in [2 << 20, LONG] {
        let mut session = connect(url);
        let statement = format!("SELECT LENGTH('{}')", "x".repeat(length));
        let refusal = run(&mut session, &statement).expect_err("it is too long");
        // Over TCP the connection's reset may overtake the words.
        let words = refusal.to_string();
        assert!(
            words.contains("max_allowed_packet") || url.contains("127.0.0.1"),
            "{words}"
        );
        match refusal {
            Fault::Server(error) => assert_eq!(error.code, "1153"),
            other => assert_lost(Err(other)),
        }
        assert_lost(run(&mut session, "SELECT 1"));
    }
}

fn assert_lost(outcome: Result<Reply, Fault>) {
    match outcome {
        Err(Fault::Lost(_)) => {}
        other => panic!("not lost: {other:?}"),
    }
}

#[test]
fn mariadb() {
    reach_the_limits(Kind::Mariadb);
}

#[test]
fn mysql_5_6() {
    reach_the_limits(Kind::Mysql56);
}

#[test]
fn mysql_9() {
    reach_the_limits(Kind::Mysql9);
}
