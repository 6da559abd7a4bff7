//! The ledger on a real MariaDB.

use std::process::Command;

use crate::conditions::driver;
use crate::ledger_servers::{check_a_killed_server, check_rollbacks};
use crate::ledger_support::{
    Ledger, assert_refused, check_a_good_run, check_a_killed_program, cleanup,
};
use crate::program::events;
use crate::server::{Database, database_or_skip};

#[test]
fn every_commit_is_acknowledged_and_there() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    check_a_good_run(&url, &driver(&url));
}

#[test]
fn acknowledgements_outlive_the_program() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    check_a_killed_program(&url, &driver(&url));
}

#[test]
fn a_deadlock_keeps_the_number() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    let trigger = "CREATE TRIGGER refuse BEFORE INSERT ON ledger_entries FOR EACH ROW \
                   BEGIN IF RAND() < 0.2 THEN SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213; END IF; END";
    check_rollbacks(&url, &driver(&url), &[trigger], "1213");
}

#[test]
fn a_killed_server_ends_the_run_at_once() {
    let database = database_or_skip!(Database::own());
    let url = database.socket_url("root");
    check_a_killed_server(&url, &driver(&url), || database.server.kill());
}

/// In a closed loop and in an open one, where the others take over what arrives.
#[test]
fn a_client_that_lost_its_connection_ends_alone() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    let driver = driver(&url);
    let ledger = Ledger::prepare(&url, &driver, 20);
    for rate in [&[][..], &["--rate", "200"]] {
        let mut child = ledger.begin(50, rate);
        let others = "SELECT id FROM information_schema.processlist WHERE db = database() AND id <> connection_id()";
        for id in database.sql(others).lines().take(2) {
            database.sql(&format!("KILL {id}"));
        }
        ledger.follow(&mut child, ledger.lines() + 100);
        let pid = child.id().to_string();
        let interrupted = Command::new("kill").args(["-s", "INT", &pid]).status();
        assert!(interrupted.expect("kill starts").success());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(130), "{output:?}");
        let summary = events(&output).pop().expect("a last line");
        assert_eq!(summary["stopped_clients"], 2, "{summary}");
        assert_eq!(summary["reconnects"], 0, "{summary}");
        let acknowledged = ledger.acknowledgements();
        let found = ledger.check().expect("nothing contradicts itself");
        for (client, numbers) in &found {
            let more = numbers.len() - acknowledged.get(client).map_or(0, Vec::len);
            assert!(more <= 1, "client {client}: {more} without acknowledgement");
        }
        ledger.again();
    }
}

#[test]
fn an_error_of_another_kind_ends_its_client_alone() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    let driver = driver(&url);
    let ledger = Ledger::prepare(&url, &driver, 20);
    ledger.execute(
        "CREATE TRIGGER refuse BEFORE INSERT ON ledger_entries FOR EACH ROW \
         IF NEW.client = 1 AND NEW.number = 5 THEN SIGNAL SQLSTATE '45000'; END IF",
    );
    // On one thread the clients take turns.
    let summary = ledger.run(&["--clients", "3", "--workers", "1", "--transactions", "600"]);
    assert_eq!(summary["stopped_clients"], 1, "{summary}");
    assert_eq!(summary["failed_transactions"], 1, "{summary}");
    let acknowledged = ledger.acknowledgements();
    assert_eq!(acknowledged[&1], [1, 2, 3, 4]);
    assert_eq!(ledger.check(), Ok(acknowledged));
}

#[test]
fn tables_that_are_not_ours_are_left_alone() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    let driver = driver(&url);
    let ledger = Ledger::prepare(&url, &driver, 2);
    database.sql("ALTER TABLE ledger_accounts ENGINE=MyISAM");
    let refused = ledger
        .acknowledged(&[])
        .output()
        .expect("the program starts");
    assert_refused(&refused, "without transactions");
    database.sql("DROP TABLE ledger_accounts; CREATE TABLE ledger_accounts (owner TEXT)");
    for mut command in [cleanup(&url), ledger.acknowledged(&[])] {
        let refused = command.output().expect("the program starts");
        assert_refused(&refused, "this workload did not make it");
    }
    assert_refused(
        &ledger
            .command("prepare", &[])
            .output()
            .expect("the program starts"),
        "ledger_accounts exists already; drop the old tables with `diskproof-load cleanup ledger` first",
    );
    assert_eq!(
        database.sql("SHOW TABLES").lines().count(),
        2,
        "both are there"
    );
}
