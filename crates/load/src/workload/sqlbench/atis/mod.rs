//! ATIS: the Air Travel Information System, 28 small tables; most of them are keys to others.
//!
//! Differences from the original: rows and the constants of queries are our own; codes are whole
//! numbers, so `NOT LIKE` between two codes is `<>`; minutes are computed without FLOOR and MOD;
//! SQLite has no STD, so it computes the variance.

mod groups;
mod questions;
mod tables;

use super::operation::{Operation, which};
use super::{Plan, Test, TestName};
use crate::driver::Kind;
use tables::{Atis, TABLES};

const LOOPS: u64 = 100;

pub(super) fn test(plan: &Plan) -> Test {
    let atis = Atis { scale: plan.scale };
    let maker = plan.maker.clone();
    let create = Operation::new(
        "create_table",
        Kind::Other,
        TABLES.len() as u64,
        move |turn, steps| {
            let table = &TABLES[which(turn.index, TABLES.len())];
            for sql in table.table().create(&maker) {
                steps.tell(&sql);
            }
        },
    );
    let drop = Operation::new(
        "drop_table",
        Kind::Other,
        TABLES.len() as u64,
        |turn, steps| {
            let table = &TABLES[which(turn.index, TABLES.len())];
            steps.tell(&table.table().drop());
        },
    );
    let loops = plan.scale.of(LOOPS);
    let on_tables = [
        insert(atis),
        Operation::rounds("select_simple_join", loops, questions::simple_joins(atis)),
        Operation::rounds("select_join", loops, questions::joins(atis)),
        Operation::rounds(
            "select_key_prefix_join",
            loops,
            questions::key_prefix_joins(atis),
        ),
        Operation::rounds("select_distinct", loops, questions::distinct(atis)),
        Operation::rounds(
            "select_group",
            loops,
            groups::groups(atis, plan.maker.dialect),
        ),
        drop,
    ]
    .map(|operation| operation.needs("create_table"));
    Test {
        name: TestName::Atis,
        operations: std::iter::once(create).chain(on_tables).collect(),
    }
}

/// The tables' names after the prefix.
pub(super) fn table_names() -> impl Iterator<Item = &'static str> {
    TABLES.iter().map(|table| table.name)
}

fn insert(atis: Atis) -> Operation {
    // The first turn of each table.
    let mut firsts = Vec::with_capacity(TABLES.len());
    let mut rows = 0;
    for table in &TABLES {
        firsts.push(rows);
        rows += atis.rows_of(table);
    }
    Operation::new("insert", Kind::Write, rows, move |turn, steps| {
        let number = firsts.partition_point(|first| *first <= turn.index) - 1;
        let sql = atis.insert(&TABLES[number], turn.index - firsts[number]);
        steps.change(1, format_args!("{sql}"));
    })
}
