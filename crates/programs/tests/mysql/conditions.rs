//! The conditions workload on a real MariaDB.

use diskproof_load::driver::mysql::MysqlDriver;
use diskproof_load::target::Target;

use crate::conditions_support::{check_answers, check_program, prepare as prepare_conditions};
use crate::server::{Database, database_or_skip};

pub(crate) fn driver(url: &str) -> MysqlDriver {
    match Target::parse(url, None).expect(url) {
        Target::Mysql(server) => MysqlDriver::new(server).expect(url),
        other => panic!("{url}: {other:?}"),
    }
}

#[test]
fn the_answer_is_the_latest_entry_not_after_the_time() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    check_answers(&url, &driver(&url));
}

#[test]
fn clients_ask_append_and_leave() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    check_program(&url, &driver(&url));
}

/// Whatever the time is, a question looks at a few entries beside it: not at all before it.
#[test]
fn questions_look_at_few_entries() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    for engine in ["innodb", "myisam"] {
        let made = ["--tables", "1", "--rows", "5000", "--elements", "2"];
        prepare_conditions(&url, &[&made[..], &["--engine", engine]].concat());
        for share in [0.001, 0.1, 0.5, 0.9, 1.0] {
            let time = format!(
                "(SELECT floor(min(beginTime) + {share} * (max(beginTime) - min(beginTime))) FROM conditions1)"
            );
            let time = database.sql(&format!("SELECT {time}"));
            for (comparison, order) in [(">", ""), ("<=", " DESC")] {
                let looked_at = database.sql(&format!(
                    "FLUSH STATUS; SELECT payload FROM conditions1 WHERE elementID=1 AND flavor='ofl' AND deactive=0 \
                     AND beginTime{comparison}{time} ORDER BY beginTime{order} LIMIT 1 INTO @payload; \
                     SELECT sum(variable_value) FROM information_schema.session_status \
                     WHERE variable_name LIKE 'Handler_read%' OR variable_name = 'Handler_icp_attempts'"
                ));
                let looked_at: f64 = looked_at.parse().expect("a number");
                assert!(
                    looked_at < 30.0,
                    "{engine} {share} {comparison}: {looked_at}"
                );
            }
        }
        database.sql("DROP TABLE conditions1");
    }
}
