//! The statements of the five transactions, and their ids in the catalogue.

use super::random::DISTRICTS;
use super::tables::{
    CUSTOMER, DISTRICT, HISTORY, ITEM, NEW_ORDER, ORDER_LINE, ORDERS, STOCK, WAREHOUSE,
};
use crate::driver::{Dialect, Kind, Statement, StatementId};
use crate::workload::Catalogue;

/// Where each statement is in the catalogue.
#[derive(Debug)]
pub(super) struct Statements {
    /// Before a transaction that writes.
    pub(super) begin: StatementId,
    /// Before an order status, which must see one state of the database.
    pub(super) begin_snapshot: StatementId,
    /// Before a stock level, for which committed rows are enough (clause 3.4.2.2).
    pub(super) begin_read: StatementId,
    pub(super) commit: StatementId,
    pub(super) rollback: StatementId,
    pub(super) customer_and_warehouse: StatementId,
    pub(super) next_order: StatementId,
    pub(super) next_order_update: StatementId,
    pub(super) order_insert: StatementId,
    pub(super) new_order_insert: StatementId,
    pub(super) item: StatementId,
    /// For district 1; those for the others follow.
    pub(super) stock: StatementId,
    pub(super) stock_update: StatementId,
    pub(super) line_insert: StatementId,
    pub(super) warehouse_update: StatementId,
    pub(super) warehouse: StatementId,
    pub(super) district_update: StatementId,
    pub(super) district: StatementId,
    pub(super) by_last_name: StatementId,
    pub(super) customer_locked: StatementId,
    pub(super) customer_data: StatementId,
    pub(super) customer_update: StatementId,
    pub(super) bad_customer_update: StatementId,
    pub(super) history_insert: StatementId,
    pub(super) customer: StatementId,
    pub(super) last_order: StatementId,
    pub(super) lines: StatementId,
    pub(super) oldest_new_order: StatementId,
    pub(super) new_order_delete: StatementId,
    pub(super) carrier_update: StatementId,
    pub(super) order_customer: StatementId,
    pub(super) lines_update: StatementId,
    pub(super) lines_sum: StatementId,
    pub(super) delivered_update: StatementId,
    pub(super) stock_count: StatementId,
    pub(super) next_order_read: StatementId,
}

impl Statements {
    /// Adds all of them.
    #[expect(clippy::too_many_lines, reason = "one statement after another")]
    pub(super) fn new(dialect: Dialect, catalogue: &mut Catalogue) -> Self {
        use Kind::{Other, Read, Write};
        // SQLite locks the whole database when a transaction begins that writes.
        let locked = if dialect == Dialect::Sqlite {
            ""
        } else {
            " FOR UPDATE"
        };
        let begins = begins(dialect);
        let begin = catalogue.add("begin", Other, begins.map(prepared));
        let [begin_snapshot, begin_read] = [begin + 1, begin + 2];
        let mut add =
            |name: &'static str, kind, sql: &str| catalogue.add(name, kind, [prepared(sql)]);
        Self {
            begin,
            begin_snapshot,
            begin_read,
            commit: add("commit", Other, "COMMIT"),
            rollback: add("rollback", Other, "ROLLBACK"),
            customer_and_warehouse: add(
                "customer_and_warehouse_select",
                Read,
                &format!(
                    "SELECT c_discount, c_last, c_credit, w_tax FROM {CUSTOMER}, {WAREHOUSE} \
                     WHERE w_id=? AND c_w_id=w_id AND c_d_id=? AND c_id=?"
                ),
            ),
            next_order: add(
                "next_order_select",
                Read,
                &format!(
                    "SELECT d_next_o_id, d_tax FROM {DISTRICT} WHERE d_w_id=? AND d_id=?{locked}"
                ),
            ),
            next_order_update: add(
                "next_order_update",
                Write,
                &format!("UPDATE {DISTRICT} SET d_next_o_id=? WHERE d_w_id=? AND d_id=?"),
            ),
            order_insert: add(
                "order_insert",
                Write,
                &format!(
                    "INSERT INTO {ORDERS} (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, \
                     o_all_local) VALUES (?, ?, ?, ?, CURRENT_TIMESTAMP, ?, ?)"
                ),
            ),
            new_order_insert: add(
                "new_order_insert",
                Write,
                &format!("INSERT INTO {NEW_ORDER} (no_o_id, no_d_id, no_w_id) VALUES (?, ?, ?)"),
            ),
            item: add(
                "item_select",
                Read,
                &format!("SELECT i_price, i_name, i_data FROM {ITEM} WHERE i_id=?"),
            ),
            line_insert: add(
                "line_insert",
                Write,
                &format!(
                    "INSERT INTO {ORDER_LINE} (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, \
                     ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info) \
                     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
                ),
            ),
            stock_update: add(
                "stock_update",
                Write,
                &format!(
                    "UPDATE {STOCK} SET s_quantity=?, s_ytd=s_ytd+?, s_order_cnt=s_order_cnt+1, \
                     s_remote_cnt=s_remote_cnt+? WHERE s_i_id=? AND s_w_id=?"
                ),
            ),
            warehouse_update: add(
                "warehouse_update",
                Write,
                &format!("UPDATE {WAREHOUSE} SET w_ytd=w_ytd+? WHERE w_id=?"),
            ),
            warehouse: add(
                "warehouse_select",
                Read,
                &format!(
                    "SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip \
                     FROM {WAREHOUSE} WHERE w_id=?"
                ),
            ),
            district_update: add(
                "district_update",
                Write,
                &format!("UPDATE {DISTRICT} SET d_ytd=d_ytd+? WHERE d_w_id=? AND d_id=?"),
            ),
            district: add(
                "district_select",
                Read,
                &format!(
                    "SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip \
                     FROM {DISTRICT} WHERE d_w_id=? AND d_id=?"
                ),
            ),
            by_last_name: add(
                "customer_by_last_name_select",
                Read,
                &format!(
                    "SELECT c_id FROM {CUSTOMER} WHERE c_w_id=? AND c_d_id=? AND c_last=? \
                     ORDER BY c_first"
                ),
            ),
            customer_locked: add(
                "customer_for_update_select",
                Read,
                &format!(
                    "SELECT c_credit, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, \
                     c_state, c_zip, c_phone, c_credit_lim, c_discount, c_balance, c_since \
                     FROM {CUSTOMER} WHERE c_w_id=? AND c_d_id=? AND c_id=?{locked}"
                ),
            ),
            customer_data: add(
                "customer_data_select",
                Read,
                &format!("SELECT c_data FROM {CUSTOMER} WHERE c_w_id=? AND c_d_id=? AND c_id=?"),
            ),
            customer_update: add(
                "customer_update",
                Write,
                &format!(
                    "UPDATE {CUSTOMER} SET c_balance=c_balance-?, c_ytd_payment=c_ytd_payment+?, \
                     c_payment_cnt=c_payment_cnt+1 WHERE c_w_id=? AND c_d_id=? AND c_id=?"
                ),
            ),
            bad_customer_update: add(
                "bad_credit_customer_update",
                Write,
                &format!(
                    "UPDATE {CUSTOMER} SET c_balance=c_balance-?, c_ytd_payment=c_ytd_payment+?, \
                     c_payment_cnt=c_payment_cnt+1, c_data=? WHERE c_w_id=? AND c_d_id=? AND c_id=?"
                ),
            ),
            history_insert: add(
                "history_insert",
                Write,
                &format!(
                    "INSERT INTO {HISTORY} (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, \
                     h_amount, h_data) VALUES (?, ?, ?, ?, ?, CURRENT_TIMESTAMP, ?, ?)"
                ),
            ),
            customer: add(
                "customer_select",
                Read,
                &format!(
                    "SELECT c_balance, c_first, c_middle, c_last FROM {CUSTOMER} \
                     WHERE c_w_id=? AND c_d_id=? AND c_id=?"
                ),
            ),
            last_order: add(
                "last_order_select",
                Read,
                &format!(
                    "SELECT o_id, o_carrier_id, o_entry_d FROM {ORDERS} \
                     WHERE o_w_id=? AND o_d_id=? AND o_c_id=? ORDER BY o_id DESC LIMIT 1"
                ),
            ),
            lines: add(
                "lines_select",
                Read,
                &format!(
                    "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d \
                     FROM {ORDER_LINE} WHERE ol_w_id=? AND ol_d_id=? AND ol_o_id=?"
                ),
            ),
            oldest_new_order: add(
                "oldest_new_order_select",
                Read,
                &format!(
                    "SELECT no_o_id FROM {NEW_ORDER} WHERE no_w_id=? AND no_d_id=? \
                     ORDER BY no_o_id LIMIT 1{locked}"
                ),
            ),
            new_order_delete: add(
                "new_order_delete",
                Write,
                &format!("DELETE FROM {NEW_ORDER} WHERE no_w_id=? AND no_d_id=? AND no_o_id=?"),
            ),
            carrier_update: add(
                "carrier_update",
                Write,
                &format!(
                    "UPDATE {ORDERS} SET o_carrier_id=? WHERE o_w_id=? AND o_d_id=? AND o_id=?"
                ),
            ),
            order_customer: add(
                "order_customer_select",
                Read,
                &format!("SELECT o_c_id FROM {ORDERS} WHERE o_w_id=? AND o_d_id=? AND o_id=?"),
            ),
            lines_update: add(
                "lines_update",
                Write,
                &format!(
                    "UPDATE {ORDER_LINE} SET ol_delivery_d=CURRENT_TIMESTAMP \
                     WHERE ol_w_id=? AND ol_d_id=? AND ol_o_id=?"
                ),
            ),
            lines_sum: add(
                "lines_sum_select",
                Read,
                &format!(
                    "SELECT SUM(ol_amount) FROM {ORDER_LINE} \
                     WHERE ol_w_id=? AND ol_d_id=? AND ol_o_id=?"
                ),
            ),
            delivered_update: add(
                "delivered_customer_update",
                Write,
                &format!(
                    "UPDATE {CUSTOMER} SET c_balance=c_balance+?, c_delivery_cnt=c_delivery_cnt+1 \
                     WHERE c_w_id=? AND c_d_id=? AND c_id=?"
                ),
            ),
            next_order_read: add(
                "next_order_read_select",
                Read,
                &format!("SELECT d_next_o_id FROM {DISTRICT} WHERE d_w_id=? AND d_id=?"),
            ),
            stock_count: add(
                "stock_count_select",
                Read,
                &format!(
                    "SELECT COUNT(DISTINCT s_i_id) FROM {ORDER_LINE}, {STOCK} \
                     WHERE ol_w_id=? AND ol_d_id=? AND ol_o_id>=? AND ol_o_id<? \
                     AND s_w_id=? AND s_i_id=ol_i_id AND s_quantity<?"
                ),
            ),
            stock: catalogue.add(
                "stock_select",
                Read,
                (1..=DISTRICTS).map(|district| {
                    prepared(&format!(
                        "SELECT s_quantity, s_dist_{district:02}, s_data FROM {STOCK} \
                         WHERE s_i_id=? AND s_w_id=?{locked}"
                    ))
                }),
            ),
        }
    }
}

/// How transactions begin: those that write, those that must see one state, and those for which
/// committed rows are enough. All rows that a transaction writes after reading them are locked when
/// they are read, so that READ COMMITTED is enough for those that write. A plain BEGIN of SQLite's
/// could not wait for another writer.
fn begins(dialect: Dialect) -> [&'static str; 3] {
    match dialect {
        // REPEATABLE READ is the default.
        Dialect::Mysql => ["BEGIN"; 3],
        Dialect::Postgres => [
            "BEGIN ISOLATION LEVEL READ COMMITTED",
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY",
        ],
        Dialect::Sqlite => ["BEGIN IMMEDIATE", "BEGIN", "BEGIN"],
    }
}

fn prepared(sql: &str) -> Statement {
    Statement {
        sql: sql.to_owned(),
        prepare: true,
    }
}
