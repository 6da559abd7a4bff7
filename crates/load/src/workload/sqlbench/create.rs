//! create: ten thousand tables, and tables made and dropped at once.

use super::operation::Operation;
use super::schema::Table;
use super::{Plan, Test, TestName, sixteen};
use crate::driver::{Dialect, Kind};

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
            create_and_drop("create+drop", plan, |name, _| {
                Table::new(name, COLUMNS).primary_key("i")
            }),
            create_and_drop("create_key+drop", plan, |name, dialect| {
                sixteen::index_from(sixteen::table(name, dialect, &[], 5), 2)
            }),
        ],
    }
}

fn many(number: u64) -> Table {
    Table::new(&format!("many_{number}"), COLUMNS).primary_key("i")
}

/// Each table has a name of its own, and is there for a moment only.
fn create_and_drop(
    name: &'static str,
    plan: &Plan,
    table: fn(&str, Dialect) -> Table,
) -> Operation {
    let maker = plan.maker.clone();
    Operation::new(
        name,
        Kind::Other,
        plan.scale.of(TABLES),
        move |turn, steps| {
            let table = table(&format!("bench_{}", turn.index), maker.dialect);
            for sql in table.create(&maker) {
                steps.tell(&sql);
            }
            steps.tell(&table.drop());
        },
    )
}

#[cfg(test)]
mod tests {
    use super::super::scale::Scale;
    use super::super::tests::plan;
    use super::*;

    #[test]
    fn tables_of_a_moment_have_their_keys_and_each_its_name() {
        let operations = test(&plan(Dialect::Mysql, Scale::FULL)).operations;
        let [.., plain, keys] = &operations[..] else {
            panic!("five operations")
        };
        assert!(plain.texts(0)[0].contains("PRIMARY KEY (i)"));
        assert_eq!(plain.texts(7)[1], "DROP TABLE sqlbench_bench_7");
        let create = &keys.texts(0)[0];
        assert!(create.contains("field16 CHAR(5) NOT NULL"), "{create}");
        assert!(create.contains("field15,field16)"), "{create}");
        assert_eq!(create.matches("INDEX").count(), 15, "{create}");
    }
}
