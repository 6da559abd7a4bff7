//! The ledger on a real PostgreSQL.

use crate::ledger_servers::{check_a_killed_server, check_rollbacks};
use crate::ledger_support::{check_a_good_run, check_a_killed_program};
use crate::server::{Server, database_or_skip};

#[test]
fn every_commit_is_acknowledged_and_there() {
    let database = database_or_skip!(Server::database());
    check_a_good_run(&database.socket_url("postgres"), &database.driver());
}

#[test]
fn acknowledgements_outlive_the_program() {
    let database = database_or_skip!(Server::database());
    check_a_killed_program(&database.socket_url("postgres"), &database.driver());
}

#[test]
fn a_serialization_failure_keeps_the_number() {
    let database = database_or_skip!(Server::database());
    let trigger = [
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         IF random() < 0.2 THEN RAISE EXCEPTION 'not today' USING ERRCODE = '40001'; END IF; \
         RETURN NEW; END $$",
        "CREATE TRIGGER refuse BEFORE INSERT ON ledger_entries FOR EACH ROW EXECUTE FUNCTION refuse()",
    ];
    let url = database.socket_url("postgres");
    check_rollbacks(&url, &database.driver(), &trigger, "40001");
}

/// Its sessions die with it, one by one and in words of their own.
#[test]
fn a_server_that_is_shut_down_ends_the_run_at_once() {
    let database = database_or_skip!(Server::own("local all all trust\n", &[]));
    let url = database.socket_url("postgres");
    check_a_killed_server(&url, &database.driver(), || {
        let gone = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                    WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
        database.psql(gone);
    });
}
