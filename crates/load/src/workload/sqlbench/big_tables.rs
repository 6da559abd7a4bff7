//! big-tables: rows of 1000 columns, read and written whole.

use super::operation::Operation;
use super::schema::Table;
use super::{Plan, Test, TestName};
use crate::driver::Kind;

const TABLE: &str = "sqlbench_bench1";
const COLUMNS: u64 = 1000;
/// Turns of each of the two loops behind one name.
const LOOPS: u64 = 1000;

pub(super) fn test(plan: &Plan) -> Test {
    let columns = plan.scale.of(COLUMNS);
    let loops = plan.scale.of(LOOPS);
    let definitions = (1..=columns).map(|number| format!("i{number} INTEGER"));
    let create = Table::new("bench1", definitions).create(&plan.maker);
    let names = join(columns, |number| format!("i{number}"));
    let values = join(columns, |number| number.to_string());
    let insert_all = format!("INSERT INTO {TABLE} VALUES ({values})");
    let insert_named = format!("INSERT INTO {TABLE} ({names}) VALUES ({values})");
    let select_named = format!("SELECT {names} FROM {TABLE}");
    let first_row = insert_all.clone();
    let select = Operation::new(
        "select_many_fields",
        Kind::Read,
        2 * loops,
        move |turn, steps| {
            if turn.index < loops {
                steps.ask(1, format_args!("SELECT * FROM {TABLE}"));
            } else {
                steps.ask(1, format_args!("{select_named}"));
            }
        },
    );
    let insert = Operation::new(
        "insert_many_fields",
        Kind::Write,
        2 * loops,
        move |turn, steps| {
            let sql = if turn.index < loops {
                &insert_all
            } else {
                &insert_named
            };
            steps.change(1, format_args!("{sql}"));
        },
    );
    Test {
        name: TestName::BigTables,
        operations: vec![
            select.before(create).before([first_row]),
            insert.then_holds(
                format!("SELECT COUNT(*) FROM {TABLE} WHERE i{columns} = {columns}"),
                2 * loops + 1,
            ),
        ],
    }
}

fn join(count: u64, item: impl Fn(u64) -> String) -> String {
    (1..=count).map(item).collect::<Vec<_>>().join(",")
}
