//! alter-table: a table grows from 8 columns to 1000 and shrinks again, with 1000 rows in it.

use super::operation::{Operation, which};
use super::schema::Table;
use super::{Plan, Test, TestName};
use crate::driver::{Dialect, Kind};

const TABLE: &str = "sqlbench_bench";
/// Columns at the start.
const FIRST_COLUMNS: u64 = 8;
/// Those of them that are indexed for a while: the original prints one more than it makes.
const INDEXES: u64 = 7;
/// Columns that are added later.
const LATER_COLUMNS: u64 = 992;
const ROWS: u64 = 1000;
/// Columns to one statement.
const AT_ONCE: u64 = 10;
const ONE_AFTER_ANOTHER: &str = "each statement changes the same table's definition";

pub(super) fn test(plan: &Plan) -> Test {
    let dialect = plan.maker.dialect;
    let rows = plan.scale.of(ROWS);
    let later = plan.scale.of(LATER_COLUMNS);
    let columns = (1..=FIRST_COLUMNS).map(|number| format!("i{number} INTEGER NOT NULL"));
    let create = Table::new("bench", columns).create(&plan.maker);
    let insert = Operation::new("insert", Kind::Write, rows, |turn, steps| {
        let values = vec![turn.index.to_string(); usize::try_from(FIRST_COLUMNS).unwrap_or(0)];
        let values = values.join(",");
        steps.change(1, format_args!("INSERT INTO {TABLE} VALUES ({values})"));
    });
    let add = alterations("alter_table_add", dialect, additions(later));
    let create_index = Operation::new("create_index", Kind::Other, INDEXES, |turn, steps| {
        let number = turn.index + 1;
        steps.tell(&format!(
            "CREATE INDEX sqlbench_ind{number} ON {TABLE} (i{number})"
        ));
    });
    let drop_index = Operation::new("drop_index", Kind::Other, INDEXES, move |turn, steps| {
        let number = turn.index + 1;
        let owner = if dialect == Dialect::Mysql {
            format!(" ON {TABLE}")
        } else {
            String::new()
        };
        steps.tell(&format!("DROP INDEX sqlbench_ind{number}{owner}"));
    });
    let drop = alterations("alter_table_drop", dialect, drops(later));
    Test {
        name: TestName::AlterTable,
        operations: vec![
            insert.before(create),
            add,
            create_index
                .alone(ONE_AFTER_ANOTHER)
                .printed_as(INDEXES + 1),
            drop_index
                .alone(ONE_AFTER_ANOTHER)
                .printed_as(INDEXES + 1)
                .needs("create_index"),
            drop.needs("alter_table_add")
                .then_holds(format!("SELECT COUNT(*) FROM {TABLE} WHERE i7=i1"), rows),
        ],
    }
}

/// The columns that each statement adds.
fn additions(later: u64) -> Vec<Vec<String>> {
    let columns: Vec<_> = (1..=later)
        .map(|column| format!("ADD COLUMN i{} INTEGER", FIRST_COLUMNS + column))
        .collect();
    let at_once = usize::try_from(AT_ONCE).unwrap_or(1);
    columns.chunks(at_once).map(<[_]>::to_vec).collect()
}

/// The columns that each statement drops, from the last backwards. As the original counts, one
/// stays behind before each statement's, and the last of the first columns goes with the rest.
fn drops(later: u64) -> Vec<Vec<String>> {
    let mut statements = Vec::new();
    let mut above = FIRST_COLUMNS + later;
    while above > FIRST_COLUMNS {
        let end = above.saturating_sub(AT_ONCE).max(FIRST_COLUMNS);
        let columns = (end..above).rev();
        statements.push(
            columns
                .map(|column| format!("DROP COLUMN i{column}"))
                .collect(),
        );
        above = end - 1;
    }
    statements
}

/// One statement for each list of changes. SQLite knows one change to a statement only: there, a
/// turn has several.
fn alterations(name: &'static str, dialect: Dialect, changes: Vec<Vec<String>>) -> Operation {
    Operation::new(
        name,
        Kind::Other,
        changes.len() as u64,
        move |turn, steps| {
            let changes = &changes[which(turn.index, changes.len())];
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_dropped_from_the_last_one_backwards() {
        let statements = drops(LATER_COLUMNS);
        assert_eq!(statements.len(), 91);
        assert_eq!(statements[0][0], "DROP COLUMN i999");
        assert_eq!(statements[0][9], "DROP COLUMN i990");
        assert_eq!(statements[1][0], "DROP COLUMN i988");
        assert_eq!(statements[90], ["DROP COLUMN i9", "DROP COLUMN i8"]);
    }

    #[test]
    fn columns_are_added_ten_at_a_time() {
        let statements = additions(LATER_COLUMNS);
        assert_eq!(statements.len(), 100);
        assert_eq!(statements[99].last().unwrap(), "ADD COLUMN i1000 INTEGER");
        assert_eq!(statements[99].len(), 2);
    }
}
