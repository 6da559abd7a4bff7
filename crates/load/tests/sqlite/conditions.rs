//! The conditions workload on SQLite.

use crate::conditions_support::{check_answers, check_program};
use crate::target::driver;
use diskproof_load::driver::Driver;

#[test]
fn the_answer_is_the_latest_entry_not_after_the_time() {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}/conditions.db", directory.path().display());
    check_answers(&driver(&url).creating());
}

#[test]
fn clients_ask_append_and_leave() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("conditions.db");
    let url = format!("sqlite:{}?journal_mode=wal&synchronous=off", path.display());
    driver(&url).creating().admin().unwrap();
    check_program(&url, &driver(&url));
}
