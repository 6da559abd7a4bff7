//! connect: new connections, and the shortest questions on one and on an old one.

use super::operation::Operation;
use super::schema::Table;
use super::{Plan, Test, TestName};
use crate::driver::Kind;

const TABLE: &str = "sqlbench_bench1";
const BIG: &str = "sqlbench_bench2";
const QUESTIONS: u64 = 100_000;
/// Connections, and strings of this length.
const LONG_LOOPS: u64 = 10_000;
const STRING_BYTES: usize = 65_000;

pub(super) fn test(plan: &Plan) -> Test {
    let questions = plan.scale.of(QUESTIONS);
    let connections = plan.scale.of(LONG_LOOPS);
    let table =
        Table::new("bench1", ["a INTEGER NOT NULL", "i INTEGER", "s CHAR(10)"]).primary_key("a");
    let big = Table::new("bench2", ["s TEXT NOT NULL"]);
    let row = |number: u32| format!("INSERT INTO {TABLE} VALUES ({number},100,'AAA')");
    let connect = |name, question: Option<&'static str>| {
        let kind = if question.is_some() {
            Kind::Read
        } else {
            Kind::Other
        };
        Operation::new(name, kind, connections, move |_, steps| {
            steps.reconnect();
            if let Some(question) = question {
                steps.ask(1, format_args!("{question}"));
            }
        })
    };
    // A figure that is never the same: no cache has the answer.
    let select_simple = Operation::new("select_simple", Kind::Read, questions, |turn, steps| {
        steps.ask(1, format_args!("SELECT 1+{}", turn.index));
    });
    let select_1_row = Operation::new("select_1_row", Kind::Read, questions, |turn, steps| {
        steps.ask(1, format_args!("SELECT a,i,s,{} FROM {TABLE}", turn.index));
    });
    let cached = |name, rows, sql: &str| Operation::query(name, questions, rows, sql);
    let all = format!("SELECT * FROM {TABLE}");
    let big_string = format!("INSERT INTO {BIG} VALUES ('{}')", "A".repeat(STRING_BYTES));
    Test {
        name: TestName::Connect,
        operations: vec![
            connect("connect", None),
            connect("connect+select_simple", Some("SELECT 1+1")),
            select_simple,
            cached("select_simple_cache", 1, "SELECT 1000"),
            connect(
                "connect+select_1_row",
                Some("SELECT a,i,s FROM sqlbench_bench1"),
            )
            .before(table.create(&plan.maker))
            .before([row(1)]),
            select_1_row,
            cached(
                "select_1_row_cache",
                1,
                &format!("SELECT a,i,s FROM {TABLE}"),
            ),
            cached("select_2_rows", 2, &all).before([row(2)]),
            cached(
                "select_column+column",
                2,
                &format!("SELECT a+i FROM {TABLE}"),
            ),
            Operation::query(
                "select_big_str",
                connections,
                1,
                &format!("SELECT s FROM {BIG}"),
            )
            .before(big.create(&plan.maker))
            .before([big_string])
            .then_holds(format!("SELECT LENGTH(s) FROM {BIG}"), STRING_BYTES as u64),
        ],
    }
}
