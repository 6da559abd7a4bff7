//! The conditions workload on a real MariaDB.

use diskproof_load::driver::mysql::MysqlDriver;
use diskproof_load::target::Target;

use crate::conditions_support::{check_answers, check_program};
use crate::server::{Database, database_or_skip};

fn driver(url: &str) -> MysqlDriver {
    match Target::parse(url, None).expect(url) {
        Target::Mysql(server) => MysqlDriver::new(server).expect(url),
        other => panic!("{url}: {other:?}"),
    }
}

#[test]
fn the_answer_is_the_latest_entry_not_after_the_time() {
    let database = database_or_skip!(Database::shared());
    check_answers(&driver(&database.socket_url("root")));
}

#[test]
fn clients_ask_append_and_leave() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    check_program(&url, &driver(&url));
}

#[test]
fn questions_are_answered_from_the_index() {
    let database = database_or_skip!(Database::shared());
    check_answers(&driver(&database.socket_url("root")));
    for (comparison, order) in [(">", ""), ("<=", " DESC")] {
        let plan = database.sql(&format!(
            "EXPLAIN SELECT dataID FROM conditions1 WHERE elementID=1 AND flavor='ofl' AND deactive=0 \
             AND beginTime{comparison}1000000000 ORDER BY beginTime{order} LIMIT 1"
        ));
        assert!(
            plan.contains("validity_1") && !plan.contains("filesort"),
            "{plan}"
        );
    }
}
