//! Single rows by their keys: each that is there, and after it one that is not.

use super::{Size, TABLE};
use crate::driver::Kind;
use crate::workload::sqlbench::operation::Operation;

pub(super) fn operations(size: &Size) -> Vec<Operation> {
    vec![
        by_key(size, "select_key_prefix", "*", |id| format!("id={id}")),
        by_key(size, "select_key", "*", whole_key),
        by_key(size, "select_key_return_key", "id,id2", whole_key),
        by_key(size, "select_key2", "*", second_key),
        by_key(size, "select_key2_return_key", "id3", second_key),
        by_key(size, "select_key2_return_prim", "id,id2", second_key),
    ]
}

fn whole_key(id: u64) -> String {
    format!("id={id} AND id2={id}")
}

fn second_key(id: u64) -> String {
    format!("id3={id}")
}

fn by_key(
    size: &Size,
    name: &'static str,
    columns: &'static str,
    condition: fn(u64) -> String,
) -> Operation {
    let turns = 2 * size.part;
    let size = size.clone();
    Operation::new(name, Kind::Read, turns, move |turn, steps| {
        let found = size.any(turn.index / 2);
        let (rows, id) = match turn.index % 2 {
            0 => (1, found),
            _ => (0, found + size.rows),
        };
        let condition = condition(id);
        steps.ask(
            rows,
            format_args!("SELECT {columns} FROM {TABLE} WHERE {condition}"),
        );
    })
}
