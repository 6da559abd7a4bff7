//! transactions: rows written in transactions that end with COMMIT, with ROLLBACK, or by
//! themselves. The rates of the commits are the direct probe of what a durable commit costs.

use super::operation::Operation;
use super::schema::Table;
use super::steps::Steps;
use super::{Plan, Test, TestName};
use crate::driver::{Dialect, Kind};

const TABLE: &str = "sqlbench_bench1";
const ROWS: u64 = 10_000;
/// Transactions that are rolled back, each of this many statements.
const ROLLBACKS: u64 = 100;
const ROWS_PER_ROLLBACK: u64 = 100;

/// How a statement becomes durable, or does not.
#[derive(Debug, Clone, Copy)]
enum End {
    Commit,
    Autocommit,
    Rollback,
}

pub(super) fn test(plan: &Plan) -> Test {
    let rows = plan.scale.of(ROWS);
    let table = Table::new(
        "bench1",
        [
            "idn INTEGER NOT NULL",
            "rev_idn INTEGER NOT NULL",
            "region CHAR(1) NOT NULL",
            "grp INTEGER NOT NULL",
            "updated INTEGER NOT NULL",
        ],
    )
    .primary_key("idn")
    .unique("rev_idn")
    .unique("region,grp,idn");
    // The table holds `rows` rows after the first operation, and twice as many after the second.
    let insert = move |offset: u64| move |steps: &mut Steps, row: u64| insert(steps, offset + row);
    let update = move |offset: u64| {
        move |steps: &mut Steps, row: u64| {
            let idn = offset + row;
            steps.change(
                1,
                format_args!("UPDATE {TABLE} SET updated=1 WHERE idn={idn}"),
            );
        }
    };
    let delete = move |offset: u64| {
        move |steps: &mut Steps, row: u64| {
            let idn = offset + row;
            steps.change(1, format_args!("DELETE FROM {TABLE} WHERE idn={idn}"));
        }
    };
    let count = format!("SELECT COUNT(*) FROM {TABLE}");
    let updated = format!("{count} WHERE updated=1");
    let operations = [
        operation(plan, "insert_commit", End::Commit, insert(0))
            .before(table.create(&plan.maker))
            .then_holds(&count, rows),
        operation(plan, "insert_autocommit", End::Autocommit, insert(rows))
            .then_holds(&count, 2 * rows),
        operation(plan, "insert_rollback", End::Rollback, insert(2 * rows))
            .then_holds(&count, 2 * rows),
        operation(plan, "update_rollback", End::Rollback, update(0)).then_holds(&updated, 0),
        operation(plan, "delete_rollback", End::Rollback, delete(0)).then_holds(&count, 2 * rows),
        operation(plan, "update_commit", End::Commit, update(0)).then_holds(&updated, rows),
        operation(plan, "update_autocommit", End::Autocommit, update(rows))
            .then_holds(&updated, 2 * rows),
        operation(plan, "delete_commit", End::Commit, delete(0)).then_holds(&count, rows),
        operation(plan, "delete_autocommit", End::Autocommit, delete(rows)).then_holds(&count, 0),
    ];
    Test {
        name: TestName::Transactions,
        operations: operations
            .map(|operation| operation.skipped_because(plan.no_transactions()))
            .into(),
    }
}

fn insert(steps: &mut Steps, idn: u64) {
    let region = char::from(b'A' + u8::try_from(idn % 6).unwrap_or(0));
    let (rev_idn, grp) = (10 * ROWS - idn, idn % 100);
    steps.change(
        1,
        format_args!("INSERT INTO {TABLE} VALUES ({idn},{rev_idn},'{region}',{grp},0)"),
    );
}

/// `statement` writes one row of those from 0.
fn operation(
    plan: &Plan,
    name: &'static str,
    end: End,
    statement: impl Fn(&mut Steps, u64) + Send + Sync + 'static,
) -> Operation {
    let dialect = plan.maker.dialect;
    match end {
        End::Autocommit => Operation::new(name, Kind::Write, plan.scale.of(ROWS), {
            move |turn, steps| statement(steps, turn.index)
        }),
        End::Commit => Operation::new(name, Kind::Write, plan.scale.of(ROWS), {
            move |turn, steps| {
                begin(dialect, steps);
                statement(steps, turn.index);
                steps.aside("COMMIT");
            }
        })
        .in_transactions(set_up(dialect)),
        End::Rollback => {
            let rollbacks = plan.scale.of(ROLLBACKS);
            let rows = ROWS_PER_ROLLBACK.min(plan.scale.of(ROWS) / rollbacks);
            Operation::new(name, Kind::Write, rollbacks, move |turn, steps| {
                begin(dialect, steps);
                for row in 0..rows {
                    statement(steps, turn.index * rows + row);
                }
                steps.aside("ROLLBACK");
            })
            .in_transactions(set_up(dialect))
        }
    }
}

/// What a session begins with: in the MySQL family autocommit is switched off, as the original
/// does, and COMMIT alone lies between two transactions.
fn set_up(dialect: Dialect) -> Option<&'static str> {
    (dialect == Dialect::Mysql).then_some("SET autocommit=0")
}

/// How a transaction begins where it has to be begun.
fn begin(dialect: Dialect, steps: &mut Steps) {
    match dialect {
        Dialect::Mysql => {}
        Dialect::Postgres => steps.aside("BEGIN"),
        // A writer that has to wait for the lock can do so only here.
        Dialect::Sqlite => steps.aside("BEGIN IMMEDIATE"),
    }
}
