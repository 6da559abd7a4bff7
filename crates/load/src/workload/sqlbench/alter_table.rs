//! alter-table: a table grows from 8 columns to 1000 and shrinks again, with 1000 rows in it.

use std::fmt::Write;

use super::operation::Operation;
use super::schema::Table;
use super::{Plan, Test, TestName};
use crate::driver::{Dialect, Kind};

const TABLE: &str = "sqlbench_bench";
/// Columns at the start, all of them indexed for a while.
const FIRST_COLUMNS: u64 = 8;
/// Columns that are added later.
const LATER_COLUMNS: u64 = 992;
const ROWS: u64 = 1000;
/// Columns to one statement: with these, the original's 100 and 91 statements.
const ADDED_AT_ONCE: u64 = 10;
const DROPPED_AT_ONCE: u64 = 11;
const ONE_AFTER_ANOTHER: &str = "each statement changes the same table's definition";

pub(super) fn test(plan: &Plan) -> Test {
    let dialect = plan.maker.dialect;
    let rows = plan.scale.of(ROWS);
    let later = plan.scale.of(LATER_COLUMNS);
    let columns = (1..=FIRST_COLUMNS).map(|number| format!("i{number} INTEGER NOT NULL"));
    let create = Table::new("bench", columns).create(&plan.maker);
    let insert = Operation::new("insert", Kind::Write, rows, |turn, steps| {
        let base = turn.index * FIRST_COLUMNS;
        let mut values = base.to_string();
        for number in 1..FIRST_COLUMNS {
            // Writing to memory cannot fail.
            let _ = write!(values, ",{}", base + number);
        }
        steps.change(1, format_args!("INSERT INTO {TABLE} VALUES ({values})"));
    });
    let add = alterations("alter_table_add", later, ADDED_AT_ONCE, dialect, |column| {
        format!("ADD COLUMN i{column} INTEGER")
    });
    let create_index = Operation::new("create_index", Kind::Other, FIRST_COLUMNS, |turn, steps| {
        let number = turn.index + 1;
        steps.tell(&format!(
            "CREATE INDEX sqlbench_ind{number} ON {TABLE} (i{number})"
        ));
    });
    let drop_index = Operation::new(
        "drop_index",
        Kind::Other,
        FIRST_COLUMNS,
        move |turn, steps| {
            let number = turn.index + 1;
            let owner = if dialect == Dialect::Mysql {
                format!(" ON {TABLE}")
            } else {
                String::new()
            };
            steps.tell(&format!("DROP INDEX sqlbench_ind{number}{owner}"));
        },
    );
    let drop = alterations(
        "alter_table_drop",
        later,
        DROPPED_AT_ONCE,
        dialect,
        |column| format!("DROP COLUMN i{column}"),
    );
    Test {
        name: TestName::AlterTable,
        operations: vec![
            insert.before(create),
            add,
            create_index.alone(ONE_AFTER_ANOTHER),
            drop_index.alone(ONE_AFTER_ANOTHER).needs("create_index"),
            drop.needs("alter_table_add")
                .then_holds(format!("SELECT COUNT(*) FROM {TABLE} WHERE i8 >= i1"), rows),
        ],
    }
}

/// Statements that change so many of the later columns at once. SQLite knows one change to a
/// statement only: there, the same columns are changed by several statements in a turn.
fn alterations(
    name: &'static str,
    columns: u64,
    at_once: u64,
    dialect: Dialect,
    change: fn(u64) -> String,
) -> Operation {
    Operation::new(
        name,
        Kind::Other,
        columns.div_ceil(at_once),
        move |turn, steps| {
            let first = turn.index * at_once;
            let changes: Vec<_> = (first..columns.min(first + at_once))
                .map(|column| change(FIRST_COLUMNS + 1 + column))
                .collect();
            if dialect == Dialect::Sqlite {
                for change in changes {
                    steps.tell(&format!("ALTER TABLE {TABLE} {change}"));
                }
            } else {
                steps.tell(&format!("ALTER TABLE {TABLE} {}", changes.join(", ")));
            }
        },
    )
    .alone(ONE_AFTER_ANOTHER)
}
