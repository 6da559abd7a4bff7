//! The conditions workload on a real PostgreSQL.

use crate::conditions_support::{check_answers, check_program, prepare};
use crate::server::{Server, database_or_skip};

#[test]
fn the_answer_is_the_latest_entry_not_after_the_time() {
    let database = database_or_skip!(Server::database());
    check_answers(&database.socket_url("postgres"), &database.driver());
}

#[test]
fn clients_ask_append_and_leave() {
    let database = database_or_skip!(Server::database());
    check_program(&database.socket_url("postgres"), &database.driver());
}

/// Whatever the time is, a question looks at a few pages beside it: not at all entries before it.
#[test]
fn questions_look_at_few_pages() {
    let database = database_or_skip!(Server::database());
    let made = ["--tables", "1", "--rows", "5000", "--elements", "2"];
    prepare(&database.socket_url("postgres"), &made);
    for share in [0.001, 0.1, 0.5, 0.9, 1.0] {
        let time = database.psql(&format!(
            "SELECT floor(min(beginTime) + {share} * (max(beginTime) - min(beginTime))) FROM conditions1"
        ));
        for (comparison, order) in [(">", ""), ("<=", " DESC")] {
            let plan = database.psql(&format!(
                "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) SELECT payload FROM conditions1 \
                 WHERE elementID=1 AND flavor='ofl' AND deactive=0 AND beginTime{comparison}{time} \
                 ORDER BY beginTime{order} LIMIT 1"
            ));
            let hits = plan.split("shared hit=").nth(1).expect(&plan);
            let pages: String = hits.chars().take_while(char::is_ascii_digit).collect();
            let pages: u32 = pages.parse().expect(&plan);
            assert!(plan.contains("validity_1") && pages < 15, "{plan}");
        }
    }
}
