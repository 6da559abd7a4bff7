//! create: ten thousand tables, and tables made and dropped at once.

use super::operation::Operation;
use super::schema::Table;
use super::{Plan, Test, TestName};
use crate::driver::Kind;

const TABLES: u64 = 10_000;
const COLUMNS: [&str; 5] = [
    "i INTEGER NOT NULL",
    "d DOUBLE PRECISION",
    "f FLOAT",
    "s CHAR(10)",
    "v VARCHAR(100)",
];

pub(super) fn test(plan: &Plan) -> Test {
    let tables = plan.scale.of(TABLES);
    let maker = plan.maker.clone();
    let create = Operation::new(
        "create_MANY_tables",
        Kind::Other,
        tables,
        move |turn, steps| {
            for sql in many(turn.index).create(&maker) {
                steps.tell(&sql);
            }
        },
    );
    let select = Operation::new(
        "select_group_when_MANY_tables",
        Kind::Read,
        tables,
        |turn, steps| {
            let table = many(turn.index);
            steps.ask(1, format_args!("SELECT COUNT(*) FROM {}", table.name()));
        },
    );
    let drop = Operation::new(
        "drop_table_when_MANY_tables",
        Kind::Other,
        tables,
        |turn, steps| steps.tell(&many(turn.index).drop()),
    );
    Test {
        name: TestName::Create,
        operations: vec![
            create,
            select.needs("create_MANY_tables"),
            drop.needs("create_MANY_tables"),
            // One name for each client: the table is there for a moment only.
            create_and_drop("create+drop", plan, |client| {
                Table::new(&format!("bench_{client}"), COLUMNS)
            }),
            create_and_drop("create_key+drop", plan, |client| {
                Table::new(&format!("bench_{client}"), COLUMNS)
                    .primary_key("i")
                    .index("i,s")
            }),
        ],
    }
}

fn many(number: u64) -> Table {
    Table::new(&format!("many_{number}"), COLUMNS).primary_key("i")
}

fn create_and_drop(name: &'static str, plan: &Plan, table: fn(usize) -> Table) -> Operation {
    let maker = plan.maker.clone();
    Operation::new(
        name,
        Kind::Other,
        plan.scale.of(TABLES),
        move |turn, steps| {
            let table = table(turn.client);
            for sql in table.create(&maker) {
                steps.tell(&sql);
            }
            steps.tell(&table.drop());
        },
    )
}
