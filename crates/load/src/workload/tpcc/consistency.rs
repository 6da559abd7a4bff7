//! The twelve consistency conditions (clause 3.3.2), each as one question: how many places break it?
//!
//! Both sides of an equation are added up with opposite signs and grouped. So a row that has no
//! counterpart breaks a condition as well, and no join needs an index.

use super::random::{CUSTOMERS, DISTRICTS, ITEMS};
use super::tables::{
    CUSTOMER, DISTRICT, HISTORY, ITEM, NEW_ORDER, ORDER_LINE, ORDERS, STOCK, WAREHOUSE,
};

/// One condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// Of the specification: 3.3.2.1 to 3.3.2.12.
    pub number: u32,
    pub says: &'static str,
    /// What is counted: a warehouse, a district, an order, a customer.
    pub places: &'static str,
    /// A query of the places that break it; its first column is the warehouse.
    broken: String,
}

impl Condition {
    /// Counts the places that break it.
    #[must_use]
    pub fn count(&self) -> String {
        format!("SELECT COUNT(*) FROM ({}) broken", self.broken)
    }

    /// The first warehouse with such a place.
    #[must_use]
    pub fn first_warehouse(&self) -> String {
        format!("SELECT MIN(w) FROM ({}) broken", self.broken)
    }
}

/// Decimals are exact; SQLite adds up doubles, whose error is far below half a cent.
const HALF_A_CENT: &str = "0.005";

/// Places of `by` where the parts do not add up to zero.
fn unequal(by: &str, parts: &[String]) -> String {
    format!(
        "SELECT {by} FROM ({}) parts GROUP BY {by} HAVING ABS(SUM(x))>{HALF_A_CENT}",
        parts.join(" UNION ALL ")
    )
}

/// Rows of a table added up by its first keys, which are called w, d and so on.
fn sums(keys: &[&str], what: &str, from: &str) -> String {
    let names = ["w", "d", "n"];
    let columns: Vec<_> = keys
        .iter()
        .zip(names)
        .map(|(key, name)| format!("{key} AS {name}"))
        .collect();
    format!(
        "SELECT {}, {what} AS x FROM {from} GROUP BY {}",
        columns.join(", "),
        keys.join(", ")
    )
}

/// All conditions, in their order.
#[must_use]
#[expect(clippy::too_many_lines, reason = "one condition after another")]
pub fn conditions() -> Vec<Condition> {
    let delivered_lines = format!(
        "{ORDERS} JOIN {ORDER_LINE} ON ol_w_id=o_w_id AND ol_d_id=o_d_id AND ol_o_id=o_id \
         WHERE ol_delivery_d IS NOT NULL"
    );
    let by_order_customer = ["o_w_id", "o_d_id", "o_c_id"];
    let by_customer = ["c_w_id", "c_d_id", "c_id"];
    let of_order = ["o_w_id", "o_d_id", "o_id"];
    let of_line = ["ol_w_id", "ol_d_id", "ol_o_id"];
    let of_new_order = ["no_w_id", "no_d_id", "no_o_id"];
    let condition = |number, says, places, broken| Condition {
        number,
        says,
        places,
        broken,
    };
    vec![
        condition(
            1,
            "W_YTD = sum(D_YTD)",
            "warehouses",
            unequal(
                "w",
                &[
                    sums(&["w_id"], "SUM(w_ytd)", WAREHOUSE),
                    sums(&["d_w_id"], "-SUM(d_ytd)", DISTRICT),
                ],
            ),
        ),
        // A district whose orders are all delivered has no row of NEW-ORDER.
        condition(
            2,
            "D_NEXT_O_ID - 1 = max(O_ID) = max(NO_O_ID)",
            "districts",
            format!(
                "SELECT w, d FROM (\
                   SELECT d_w_id AS w, d_id AS d, d_next_o_id-1 AS a, 0 AS b, 0 AS c FROM {DISTRICT} \
                   UNION ALL SELECT o_w_id, o_d_id, 0, MAX(o_id), 0 FROM {ORDERS} GROUP BY o_w_id, o_d_id \
                   UNION ALL SELECT no_w_id, no_d_id, 0, 0, MAX(no_o_id) FROM {NEW_ORDER} \
                     GROUP BY no_w_id, no_d_id\
                 ) parts GROUP BY w, d \
                 HAVING MAX(a)<>MAX(b) OR (MAX(c)>0 AND MAX(c)<>MAX(a))"
            ),
        ),
        condition(
            3,
            "max(NO_O_ID) - min(NO_O_ID) + 1 = rows of NEW-ORDER",
            "districts",
            format!(
                "SELECT no_w_id AS w, no_d_id AS d FROM {NEW_ORDER} GROUP BY no_w_id, no_d_id \
                 HAVING MAX(no_o_id)-MIN(no_o_id)+1<>COUNT(*)"
            ),
        ),
        condition(
            4,
            "sum(O_OL_CNT) = rows of ORDER-LINE",
            "districts",
            unequal(
                "w, d",
                &[
                    sums(&of_order[..2], "SUM(o_ol_cnt)", ORDERS),
                    sums(&of_line[..2], "-COUNT(*)", ORDER_LINE),
                ],
            ),
        ),
        condition(
            5,
            "O_CARRIER_ID is null if and only if NEW-ORDER has a row",
            "orders",
            unequal(
                "w, d, n",
                &[
                    sums(
                        &of_order,
                        "COUNT(*)",
                        &format!("{ORDERS} WHERE o_carrier_id IS NULL"),
                    ),
                    sums(&of_new_order, "-COUNT(*)", NEW_ORDER),
                ],
            ),
        ),
        condition(
            6,
            "O_OL_CNT = rows of ORDER-LINE",
            "orders",
            unequal(
                "w, d, n",
                &[
                    sums(&of_order, "SUM(o_ol_cnt)", ORDERS),
                    sums(&of_line, "-COUNT(*)", ORDER_LINE),
                ],
            ),
        ),
        condition(
            7,
            "OL_DELIVERY_D is null if and only if O_CARRIER_ID is",
            "order lines",
            format!(
                "SELECT o_w_id AS w FROM {ORDERS} JOIN {ORDER_LINE} \
                 ON ol_w_id=o_w_id AND ol_d_id=o_d_id AND ol_o_id=o_id \
                 WHERE (ol_delivery_d IS NULL)<>(o_carrier_id IS NULL)"
            ),
        ),
        condition(
            8,
            "W_YTD = sum(H_AMOUNT)",
            "warehouses",
            unequal(
                "w",
                &[
                    sums(&["w_id"], "SUM(w_ytd)", WAREHOUSE),
                    sums(&["h_w_id"], "-SUM(h_amount)", HISTORY),
                ],
            ),
        ),
        condition(
            9,
            "D_YTD = sum(H_AMOUNT)",
            "districts",
            unequal(
                "w, d",
                &[
                    sums(&["d_w_id", "d_id"], "SUM(d_ytd)", DISTRICT),
                    sums(&["h_w_id", "h_d_id"], "-SUM(h_amount)", HISTORY),
                ],
            ),
        ),
        condition(
            10,
            "C_BALANCE = sum(OL_AMOUNT of what is delivered) - sum(H_AMOUNT)",
            "customers",
            unequal(
                "w, d, n",
                &[
                    sums(&by_customer, "SUM(c_balance)", CUSTOMER),
                    sums(&by_order_customer, "-SUM(ol_amount)", &delivered_lines),
                    sums(
                        &["h_c_w_id", "h_c_d_id", "h_c_id"],
                        "SUM(h_amount)",
                        HISTORY,
                    ),
                ],
            ),
        ),
        // The specification asks for 2,100 after loading; each delivery since then adds one.
        condition(
            11,
            "rows of ORDER - rows of NEW-ORDER = 2100 + sum(C_DELIVERY_CNT)",
            "districts",
            unequal(
                "w, d",
                &[
                    sums(&of_order[..2], "COUNT(*)", ORDERS),
                    sums(&of_new_order[..2], "-COUNT(*)", NEW_ORDER),
                    sums(
                        &by_customer[..2],
                        &format!("-{}-SUM(c_delivery_cnt)", super::population::LAST_DELIVERED),
                        CUSTOMER,
                    ),
                ],
            ),
        ),
        condition(
            12,
            "C_BALANCE + C_YTD_PAYMENT = sum(OL_AMOUNT of what is delivered)",
            "customers",
            unequal(
                "w, d, n",
                &[
                    sums(&by_customer, "SUM(c_balance+c_ytd_payment)", CUSTOMER),
                    sums(&by_order_customer, "-SUM(ol_amount)", &delivered_lines),
                ],
            ),
        ),
    ]
}

/// Tables whose number of rows never changes, and that number (clause 1.2.1).
#[must_use]
pub fn cardinalities(warehouses: u64) -> [(&'static str, u64); 5] {
    [
        (WAREHOUSE, warehouses),
        (DISTRICT, warehouses * DISTRICTS),
        (CUSTOMER, warehouses * DISTRICTS * CUSTOMERS),
        (ITEM, ITEMS),
        (STOCK, warehouses * ITEMS),
    ]
}
