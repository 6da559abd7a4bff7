//! The nine tables (clause 1.3): their names, columns and keys, and how they are loaded.

use super::population;
use crate::driver::{Admin, Dialect, Fault};
use crate::workload::tables::{Progress, TableSet};

pub const WAREHOUSE: &str = "tpcc_warehouse";
pub const DISTRICT: &str = "tpcc_district";
pub const CUSTOMER: &str = "tpcc_customer";
pub const HISTORY: &str = "tpcc_history";
pub const NEW_ORDER: &str = "tpcc_new_order";
pub const ORDERS: &str = "tpcc_orders";
pub const ORDER_LINE: &str = "tpcc_order_line";
pub const ITEM: &str = "tpcc_item";
pub const STOCK: &str = "tpcc_stock";

/// All tables, in the order of the specification.
pub const NAMES: [&str; 9] = [
    WAREHOUSE, DISTRICT, CUSTOMER, HISTORY, NEW_ORDER, ORDERS, ORDER_LINE, ITEM, STOCK,
];

/// The index by which customers are found by last name, and its first columns.
const BY_NAME: &str = "tpcc_customer_by_name";
/// The index by which a customer's last order is found.
const BY_CUSTOMER: &str = "tpcc_orders_by_customer";

/// A column by which a table is known as ours.
#[must_use]
pub fn known_by(table: &str) -> [&'static str; 2] {
    match table {
        WAREHOUSE => ["w_id", "w_ytd"],
        DISTRICT => ["d_w_id", "d_next_o_id"],
        CUSTOMER => ["c_w_id", "c_ytd_payment"],
        HISTORY => ["h_c_w_id", "h_amount"],
        NEW_ORDER => ["no_w_id", "no_o_id"],
        ORDERS => ["o_w_id", "o_carrier_id"],
        ORDER_LINE => ["ol_w_id", "ol_delivery_d"],
        ITEM => ["i_id", "i_price"],
        _ => ["s_w_id", "s_remote_cnt"],
    }
}

/// The options of the tables.
#[derive(Debug, Clone, Copy)]
pub struct TpccTables {
    pub warehouses: u64,
    pub seed: u64,
}

/// The parts are the items, which all warehouses share, and then each warehouse with all that
/// belongs to it. What a row holds depends on the seed and on its own key alone.
impl TableSet for TpccTables {
    fn workload(&self) -> &'static str {
        "tpcc"
    }

    fn count(&self) -> usize {
        1 + usize::try_from(self.warehouses).unwrap_or(usize::MAX - 1)
    }

    fn rows(&self, number: usize) -> u64 {
        match number {
            1 => super::random::ITEMS,
            _ => population::rows_of_warehouse(self.seed, number as u64 - 1),
        }
    }

    fn name(&self, number: usize) -> String {
        match number {
            1 => "items".to_owned(),
            _ => format!("warehouse {}", number - 1),
        }
    }

    fn tables(&self) -> Vec<String> {
        NAMES.map(str::to_owned).to_vec()
    }

    fn begin(&self, admin: &mut dyn Admin, dialect: Dialect) -> Result<(), Fault> {
        for definition in definitions(dialect) {
            admin.execute(&definition)?;
        }
        Ok(())
    }

    fn build(
        &self,
        admin: &mut dyn Admin,
        _: Dialect,
        number: usize,
        progress: &Progress,
    ) -> Result<u64, Fault> {
        match number {
            1 => population::load_items(admin, self.seed, progress),
            _ => population::load_warehouse(admin, self.seed, number as u64 - 1, progress),
        }
    }

    fn finish(&self, admin: &mut dyn Admin, _: Dialect) -> Result<(), Fault> {
        admin.execute(&format!(
            "CREATE INDEX {BY_NAME} ON {CUSTOMER} (c_w_id, c_d_id, c_last, c_first)"
        ))?;
        admin.execute(&format!(
            "CREATE INDEX {BY_CUSTOMER} ON {ORDERS} (o_w_id, o_d_id, o_c_id, o_id)"
        ))?;
        Ok(())
    }
}

/// The statements that make the tables. History has no key: none is unique in it (clause 1.3.1).
fn definitions(dialect: Dialect) -> [String; 9] {
    let (moment, suffix) = match dialect {
        // One byte a character, as in the other databases: the texts are plain letters.
        Dialect::Mysql => ("DATETIME", " ENGINE=InnoDB DEFAULT CHARSET=latin1"),
        Dialect::Postgres | Dialect::Sqlite => ("TIMESTAMP", ""),
    };
    let address = |prefix: &str| {
        format!(
            "{prefix}_street_1 VARCHAR(20) NOT NULL, {prefix}_street_2 VARCHAR(20) NOT NULL, \
             {prefix}_city VARCHAR(20) NOT NULL, {prefix}_state CHAR(2) NOT NULL, \
             {prefix}_zip CHAR(9) NOT NULL"
        )
    };
    let of_districts: Vec<_> = (1..=super::random::DISTRICTS)
        .map(|district| format!("s_dist_{district:02} CHAR(24) NOT NULL"))
        .collect();
    let tables = [
        (
            WAREHOUSE,
            format!(
                "w_id INTEGER NOT NULL, w_name VARCHAR(10) NOT NULL, {}, \
                 w_tax DECIMAL(4,4) NOT NULL, w_ytd DECIMAL(12,2) NOT NULL, PRIMARY KEY (w_id)",
                address("w")
            ),
        ),
        (
            DISTRICT,
            format!(
                "d_id INTEGER NOT NULL, d_w_id INTEGER NOT NULL, d_name VARCHAR(10) NOT NULL, {}, \
                 d_tax DECIMAL(4,4) NOT NULL, d_ytd DECIMAL(12,2) NOT NULL, \
                 d_next_o_id INTEGER NOT NULL, PRIMARY KEY (d_w_id, d_id)",
                address("d")
            ),
        ),
        (
            CUSTOMER,
            format!(
                "c_id INTEGER NOT NULL, c_d_id INTEGER NOT NULL, c_w_id INTEGER NOT NULL, \
                 c_first VARCHAR(16) NOT NULL, c_middle CHAR(2) NOT NULL, \
                 c_last VARCHAR(16) NOT NULL, {}, c_phone CHAR(16) NOT NULL, \
                 c_since {moment} NOT NULL, c_credit CHAR(2) NOT NULL, \
                 c_credit_lim DECIMAL(12,2) NOT NULL, c_discount DECIMAL(4,4) NOT NULL, \
                 c_balance DECIMAL(12,2) NOT NULL, c_ytd_payment DECIMAL(12,2) NOT NULL, \
                 c_payment_cnt INTEGER NOT NULL, c_delivery_cnt INTEGER NOT NULL, \
                 c_data VARCHAR(500) NOT NULL, PRIMARY KEY (c_w_id, c_d_id, c_id)",
                address("c")
            ),
        ),
        (
            HISTORY,
            format!(
                "h_c_id INTEGER NOT NULL, h_c_d_id INTEGER NOT NULL, h_c_w_id INTEGER NOT NULL, \
                 h_d_id INTEGER NOT NULL, h_w_id INTEGER NOT NULL, h_date {moment} NOT NULL, \
                 h_amount DECIMAL(6,2) NOT NULL, h_data VARCHAR(24) NOT NULL"
            ),
        ),
        (
            NEW_ORDER,
            "no_o_id INTEGER NOT NULL, no_d_id INTEGER NOT NULL, no_w_id INTEGER NOT NULL, \
             PRIMARY KEY (no_w_id, no_d_id, no_o_id)"
                .to_owned(),
        ),
        (
            ORDERS,
            format!(
                "o_id INTEGER NOT NULL, o_d_id INTEGER NOT NULL, o_w_id INTEGER NOT NULL, \
                 o_c_id INTEGER NOT NULL, o_entry_d {moment} NOT NULL, o_carrier_id INTEGER, \
                 o_ol_cnt INTEGER NOT NULL, o_all_local INTEGER NOT NULL, \
                 PRIMARY KEY (o_w_id, o_d_id, o_id)"
            ),
        ),
        (
            ORDER_LINE,
            format!(
                "ol_o_id INTEGER NOT NULL, ol_d_id INTEGER NOT NULL, ol_w_id INTEGER NOT NULL, \
                 ol_number INTEGER NOT NULL, ol_i_id INTEGER NOT NULL, \
                 ol_supply_w_id INTEGER NOT NULL, ol_delivery_d {moment}, \
                 ol_quantity INTEGER NOT NULL, ol_amount DECIMAL(6,2) NOT NULL, \
                 ol_dist_info CHAR(24) NOT NULL, \
                 PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number)"
            ),
        ),
        (
            ITEM,
            "i_id INTEGER NOT NULL, i_im_id INTEGER NOT NULL, i_name VARCHAR(24) NOT NULL, \
             i_price DECIMAL(5,2) NOT NULL, i_data VARCHAR(50) NOT NULL, PRIMARY KEY (i_id)"
                .to_owned(),
        ),
        (
            STOCK,
            format!(
                "s_i_id INTEGER NOT NULL, s_w_id INTEGER NOT NULL, s_quantity INTEGER NOT NULL, \
                 {}, s_ytd INTEGER NOT NULL, s_order_cnt INTEGER NOT NULL, \
                 s_remote_cnt INTEGER NOT NULL, s_data VARCHAR(50) NOT NULL, \
                 PRIMARY KEY (s_w_id, s_i_id)",
                of_districts.join(", ")
            ),
        ),
    ];
    // A NULL in DATETIME needs no default; in MySQL's TIMESTAMP it would.
    tables.map(|(name, columns)| format!("CREATE TABLE {name} ({columns}){suffix}"))
}
