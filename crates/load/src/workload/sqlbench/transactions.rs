//! transactions: rows written in transactions that end with COMMIT, with ROLLBACK, or by
//! themselves.
//!
//! Each commit operation is one transaction over its whole loop with one COMMIT at the end, which
//! the clock covers: it is the price of rows without that of durability. The autocommit operations
//! are the direct probe of what a durable commit costs.

use super::operation::Operation;
use super::schema::Table;
use super::steps::Steps;
use super::{Plan, Test, TestName};
use crate::driver::{Dialect, Kind};

/// The table of the commits and of what is rolled back.
const COMMITTED: &str = "sqlbench_bench1";
/// The table of the statements that each commit by themselves.
const AUTOCOMMITTED: &str = "sqlbench_bench2";
const ROWS: u64 = 10_000;
/// Regions, each with a row of every group.
const REGIONS: u64 = 27;
/// Transactions that are rolled back, each of this many statements.
const ROLLBACKS: u64 = 100;
const ROWS_PER_ROLLBACK: u64 = 100;

/// Writes the row of this number.
type Statement = fn(&mut Steps, &'static str, u64);

pub(super) fn test(plan: &Plan) -> Test {
    let rows = plan.scale.of(ROWS);
    let count = |table| format!("SELECT COUNT(*) FROM {table}");
    let updated = |table| format!("SELECT COUNT(*) FROM {table} WHERE updated<>0");
    let operations = [
        commit(plan, "insert_commit", insert)
            .before(table("bench1").create(&plan.maker))
            .before(table("bench2").create(&plan.maker))
            .then_holds(count(COMMITTED), rows),
        autocommit(plan, "insert_autocommit", insert).then_holds(count(AUTOCOMMITTED), rows),
        // Rows that come after those which are there.
        rollback(plan, "insert_rollback", rows, insert).then_holds(count(COMMITTED), rows),
        rollback(plan, "update_rollback", 0, update_to_2).then_holds(updated(COMMITTED), 0),
        rollback(plan, "delete_rollback", 0, delete).then_holds(count(COMMITTED), rows),
        commit(plan, "update_commit", update_to_1).then_holds(updated(COMMITTED), rows),
        autocommit(plan, "update_autocommit", update_to_1).then_holds(updated(AUTOCOMMITTED), rows),
        commit(plan, "delete_commit", delete).then_holds(count(COMMITTED), 0),
        autocommit(plan, "delete_autocommit", delete).then_holds(count(AUTOCOMMITTED), 0),
    ];
    Test {
        name: TestName::Transactions,
        operations: operations
            .map(|operation| operation.skipped_because(plan.no_transactions()))
            .into(),
    }
}

fn table(name: &str) -> Table {
    Table::new(
        name,
        [
            "idn INTEGER NOT NULL",
            "rev_idn INTEGER NOT NULL",
            "region CHAR(1) NOT NULL",
            "grp INTEGER NOT NULL",
            "updated SMALLINT NOT NULL",
        ],
    )
    .primary_key("idn")
    .unique("region,grp")
}

fn insert(steps: &mut Steps, table: &'static str, idn: u64) {
    let region = char::from(b'A' + u8::try_from(idn % REGIONS).unwrap_or(0));
    let (rev_idn, grp) = (2 * ROWS - idn, idn / REGIONS);
    steps.change(
        1,
        format_args!("INSERT INTO {table} VALUES ({idn},{rev_idn},'{region}',{grp},0)"),
    );
}

fn update_to_1(steps: &mut Steps, table: &'static str, idn: u64) {
    steps.change(
        1,
        format_args!("UPDATE {table} SET updated=1 WHERE idn={idn}"),
    );
}

fn update_to_2(steps: &mut Steps, table: &'static str, idn: u64) {
    steps.change(
        1,
        format_args!("UPDATE {table} SET updated=2 WHERE idn={idn}"),
    );
}

fn delete(steps: &mut Steps, table: &'static str, idn: u64) {
    steps.change(1, format_args!("DELETE FROM {table} WHERE idn={idn}"));
}

/// Every row in one transaction.
fn commit(plan: &Plan, name: &'static str, statement: Statement) -> Operation {
    let dialect = plan.maker.dialect;
    let rows = plan.scale.of(ROWS);
    Operation::new(name, Kind::Write, rows, move |turn, steps| {
        if turn.index == 0 {
            begin(dialect, steps);
        }
        statement(steps, COMMITTED, turn.index);
        if turn.index + 1 == rows {
            steps.aside("COMMIT");
        }
    })
    .alone("all its statements are one transaction")
    .in_transactions(set_up(dialect))
}

/// Every row by itself.
fn autocommit(plan: &Plan, name: &'static str, statement: Statement) -> Operation {
    Operation::new(
        name,
        Kind::Write,
        plan.scale.of(ROWS),
        move |turn, steps| statement(steps, AUTOCOMMITTED, turn.index),
    )
}

/// All rows from `first` on, a number of them in each transaction, all of which are rolled back.
fn rollback(plan: &Plan, name: &'static str, first: u64, statement: Statement) -> Operation {
    let dialect = plan.maker.dialect;
    let rollbacks = plan.scale.of(ROLLBACKS);
    let rows = ROWS_PER_ROLLBACK.min(plan.scale.of(ROWS) / rollbacks);
    Operation::new(name, Kind::Write, rollbacks, move |turn, steps| {
        begin(dialect, steps);
        for row in 0..rows {
            statement(steps, COMMITTED, first + turn.index * rows + row);
        }
        steps.aside("ROLLBACK");
    })
    .in_transactions(set_up(dialect))
}

/// The start of a session: in the MySQL family autocommit is switched off, as in the original, and
/// only COMMIT or ROLLBACK stands between two transactions.
fn set_up(dialect: Dialect) -> Option<&'static str> {
    (dialect == Dialect::Mysql).then_some("SET autocommit=0")
}

/// The start of a transaction, if it needs one.
fn begin(dialect: Dialect, steps: &mut Steps) {
    match dialect {
        Dialect::Mysql => {}
        Dialect::Postgres => steps.aside("BEGIN"),
        // A writer that has to wait for the lock can do so only here.
        Dialect::Sqlite => steps.aside("BEGIN IMMEDIATE"),
    }
}
