//! The whole table, in every order: from a key alone, through a key, and sorted.

use super::{Size, TABLE, WHOLE_TABLE_LOOPS};
use crate::workload::sqlbench::operation::Operation;

pub(super) fn operations(size: &Size) -> Vec<Operation> {
    let whole = |name, columns: &str, order: &str| {
        let sql = format!("SELECT {columns} FROM {TABLE}{order}");
        Operation::query(name, size.of(WHOLE_TABLE_LOOPS), size.rows, &sql)
    };
    vec![
        whole("select_big", "id", ""),
        whole("order_by_big_key", "id,id2", " ORDER BY id,id2"),
        whole(
            "order_by_big_key_desc",
            "id,id2",
            " ORDER BY id DESC,id2 DESC",
        ),
        whole("order_by_big_key_prefix", "id", " ORDER BY id DESC"),
        whole("order_by_big_key2", "id3", " ORDER BY id3"),
        // The order is a key's, the column is not in it.
        whole("order_by_big_key_diff", "id2", " ORDER BY id3"),
        // No key has this order.
        whole("order_by_big", "id", " ORDER BY id2,id3"),
    ]
}
