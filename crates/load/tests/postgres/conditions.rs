//! The conditions workload on a real PostgreSQL.

use crate::conditions_support::{check_answers, check_program};
use crate::server::{Server, database_or_skip};

#[test]
fn the_answer_is_the_latest_entry_not_after_the_time() {
    let database = database_or_skip!(Server::database());
    check_answers(&database.driver());
}

#[test]
fn clients_ask_append_and_leave() {
    let database = database_or_skip!(Server::database());
    check_program(&database.socket_url("postgres"), &database.driver());
}
