//! ATIS: the Air Travel Information System, 29 small tables of which most are keys to others.

mod questions;
mod tables;

use std::ops::Range;

use super::operation::Operation;
use super::{Plan, Test, TestName};
use crate::driver::Kind;
use tables::{Atis, Declaration, TABLES};

const LOOPS: u64 = 100;
/// The original makes and drops 29 tables under counts of 28: here, a last turn does two.
const COUNTED_TABLES: u64 = TABLES.len() as u64 - 1;

pub(super) fn test(plan: &Plan) -> Test {
    let atis = Atis { scale: plan.scale };
    let maker = plan.maker.clone();
    let create = Operation::new(
        "create_table",
        Kind::Other,
        COUNTED_TABLES,
        move |turn, steps| {
            for table in tables_of(turn.index) {
                for sql in table.table().create(&maker) {
                    steps.tell(&sql);
                }
            }
        },
    );
    let drop = Operation::new("drop_table", Kind::Other, COUNTED_TABLES, |turn, steps| {
        for table in tables_of(turn.index) {
            steps.tell(&table.table().drop());
        }
    });
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
        Operation::rounds("select_group", loops, questions::groups(atis)),
        drop,
    ]
    .map(|operation| operation.needs("create_table"));
    Test {
        name: TestName::Atis,
        operations: std::iter::once(create).chain(on_tables).collect(),
    }
}

/// What the tables are called behind the prefix.
pub(super) fn table_names() -> impl Iterator<Item = &'static str> {
    TABLES.iter().map(|table| table.name)
}

/// The tables that are made, or dropped, in one turn.
fn tables_of(turn: u64) -> &'static [Declaration] {
    let first = usize::try_from(turn).unwrap_or(0);
    let turns: Range<usize> = if turn + 1 == COUNTED_TABLES {
        first..TABLES.len()
    } else {
        first..first + 1
    };
    &TABLES[turns]
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
