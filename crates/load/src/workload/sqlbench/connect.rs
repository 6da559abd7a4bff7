//! connect: new connections, and the shortest questions on one and on an old one.

use super::operation::Operation;
use super::schema::Table;
use super::steps::Steps;
use super::{Plan, Test, TestName};
use crate::driver::{Dialect, Kind};

const TABLE: &str = "sqlbench_bench1";
const BIG: &str = "sqlbench_bench2";
const QUESTIONS: u64 = 100_000;
/// Connections, and strings of this length.
const LONG_LOOPS: u64 = 10_000;
const STRING_BYTES: usize = 65_000;

/// Asks with a figure that is another each time: no cache has the answer.
type Ask = fn(u64, &mut Steps);

pub(super) fn test(plan: &Plan) -> Test {
    let questions = plan.scale.of(QUESTIONS);
    let connections = plan.scale.of(LONG_LOOPS);
    let table =
        Table::new("bench1", ["a INTEGER NOT NULL", "i INTEGER", "s CHAR(10)"]).primary_key("a");
    let big = match plan.dialect() {
        Dialect::Mysql | Dialect::Sqlite => Table::new("bench2", ["b BLOB"]),
        Dialect::Postgres => Table::new("bench2", ["b TEXT"]),
    };
    let big_string = format!("INSERT INTO {BIG} VALUES ('{}')", "A".repeat(STRING_BYTES));
    let row = |values: &str| format!("INSERT INTO {TABLE} VALUES ({values})");
    let ask = |name, turns, ask: Ask| {
        Operation::new(name, Kind::Read, turns, move |turn, steps| {
            ask(turn.index, steps);
        })
    };
    let connect_and_ask = |name, ask: Ask| {
        Operation::new(name, Kind::Read, connections, move |turn, steps| {
            steps.reconnect();
            ask(turn.index, steps);
        })
    };
    let cached = |name, sql: &str| Operation::query(name, questions, 1, sql);
    Test {
        name: TestName::Connect,
        operations: vec![
            Operation::new("connect", Kind::Other, connections, |_, steps| {
                steps.reconnect();
            }),
            connect_and_ask("connect+select_simple", number),
            ask("select_simple", questions, number),
            cached("select_simple_cache", "SELECT 10000"),
            connect_and_ask("connect+select_1_row", rows::<1>)
                .before(table.create(&plan.maker))
                .before([row("1,100,'AAA'")]),
            ask("select_1_row", questions, rows::<1>),
            cached("select_1_row_cache", &format!("SELECT a,i,s FROM {TABLE}")),
            ask("select_2_rows", questions, rows::<2>).before([row("2,200,'BBB'")]),
            ask("select_column+column", questions, sums),
            ask("select_big_str", connections, big_strings)
                .before(big.create(&plan.maker))
                .before([big_string])
                .then_holds(format!("SELECT LENGTH(b) FROM {BIG}"), STRING_BYTES as u64),
        ],
    }
}

fn number(figure: u64, steps: &mut Steps) {
    steps.ask(1, format_args!("SELECT {figure}"));
}

/// The table, with that many rows.
fn rows<const ROWS: u64>(figure: u64, steps: &mut Steps) {
    steps.ask(ROWS, format_args!("SELECT a,i,s,{figure} FROM {TABLE}"));
}

fn sums(figure: u64, steps: &mut Steps) {
    steps.ask(
        2,
        format_args!("SELECT a+a+a+a+a+a+a+a+a+{figure} FROM {TABLE}"),
    );
}

fn big_strings(figure: u64, steps: &mut Steps) {
    steps.ask(1, format_args!("SELECT b,{figure} FROM {BIG}"));
}

#[cfg(test)]
mod tests {
    use super::super::scale::Scale;
    use super::super::tests::plan;
    use super::*;

    #[test]
    fn only_what_is_named_so_can_come_from_a_cache() {
        for operation in test(&plan(Dialect::Mysql, Scale::FULL)).operations {
            let is_same = operation.texts(0) == operation.texts(1);
            let cacheable = operation.name.ends_with("_cache") || operation.name == "connect";
            assert_eq!(is_same, cacheable, "{operation:?}");
        }
    }
}
