//! The conditions workload on SQLite.

use crate::conditions_support::{check_answers, check_program, prepare};
use crate::target::driver;
use diskproof_load::driver::Driver;

#[test]
fn the_answer_is_the_latest_entry_not_after_the_time() {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}/conditions.db", directory.path().display());
    check_answers(&url, &driver(&url));
}

#[test]
fn clients_ask_append_and_leave() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("conditions.db");
    let url = format!("sqlite:{}?journal_mode=wal&synchronous=off", path.display());
    driver(&url).creating().admin().unwrap();
    check_program(&url, &driver(&url));
}

#[test]
fn questions_are_answered_from_the_index() {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}/conditions.db", directory.path().display());
    prepare(
        &url,
        &["--tables", "1", "--rows", "5000", "--elements", "2"],
    );
    let file = rusqlite::Connection::open(directory.path().join("conditions.db")).unwrap();
    for (comparison, order) in [(">", ""), ("<=", " DESC")] {
        let sql = format!(
            "EXPLAIN QUERY PLAN SELECT payload FROM conditions1 WHERE elementID=1 AND flavor='ofl' \
             AND deactive=0 AND beginTime{comparison}1000000000 ORDER BY beginTime{order} LIMIT 1"
        );
        let plan: Vec<String> = file
            .prepare(&sql)
            .unwrap()
            .query_map([], |row| row.get("detail"))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        let [search] = &plan[..] else {
            panic!("one step, and nothing sorted: {plan:?}")
        };
        assert!(search.contains("validity_1 (beginTime"), "{search}");
    }
}
