//! The whole table, in every order.

use super::{ROWS, Size, TABLE, WHOLE_TABLE_LOOPS};
use crate::workload::sqlbench::operation::Operation;

pub(super) fn operations(size: &Size) -> Vec<Operation> {
    let whole = |name, order: &str| {
        let sql = format!("SELECT {ROWS} FROM {TABLE}{order}");
        Operation::query(name, size.of(WHOLE_TABLE_LOOPS), size.rows, &sql)
    };
    vec![
        whole("select_big", ""),
        whole("order_by_big_key", " ORDER BY id,id2"),
        whole("order_by_big_key_desc", " ORDER BY id DESC,id2 DESC"),
        whole("order_by_big_key_prefix", " ORDER BY id"),
        whole("order_by_big_key2", " ORDER BY id3"),
        // Begins like a key, and is none.
        whole("order_by_big_key_diff", " ORDER BY id,id3"),
        whole("order_by_big", " ORDER BY id2"),
    ]
}
