//! The rows that the tables are loaded with (clause 4.3.3.1).
//!
//! Each row has a generator of its own, from the seed and the row's key. So a warehouse is the same
//! in a data set of any size, loaded by any number of threads.

use rand::RngExt;
use rand::seq::SliceRandom;

use super::random::{
    CUSTOMERS, Constants, DISTRICTS, ITEMS, LAST_NAMES, Random, index, percent, push_amount,
    push_digits, push_fraction, push_last_name, push_string,
};
use super::tables::{
    CUSTOMER, DISTRICT, HISTORY, ITEM, NEW_ORDER, ORDER_LINE, ORDERS, STOCK, WAREHOUSE,
};
use crate::driver::{Admin, Args, Fault};
use crate::workload::generator::generator;
use crate::workload::tables::{Progress, load};

/// Orders of a district: as many as customers, one of each.
pub const ORDERS_LOADED: u64 = CUSTOMERS;
/// Orders with higher numbers are not delivered yet.
pub(super) const LAST_DELIVERED: u64 = 2_100;

/// The moment of everything that is loaded. The specification has the time of loading here; a
/// fixed one makes equal seeds give equal rows.
const LOADED_AT: &[u8] = b"2000-01-01 00:00:00";

/// What a generator is for, so that no table's draws depend on another's.
#[derive(Clone, Copy)]
#[repr(u64)]
enum Purpose {
    Item = 1,
    Warehouse,
    District,
    Customer,
    History,
    Order,
    OrderLine,
    Stock,
    Permutation,
}

fn random(seed: u64, purpose: Purpose, warehouse: u64, row: u64) -> Random {
    generator(seed, [(purpose as u64) << 32 | warehouse, row])
}

/// The place of something in a district, such as a customer.
fn in_district(district: u64, number: u64) -> u64 {
    district << 32 | number
}

/// Rows of one warehouse in all tables.
pub(super) fn rows_of_warehouse(seed: u64, warehouse: u64) -> u64 {
    let lines: u64 = orders()
        .map(|(district, order)| lines_of(seed, warehouse, district, order))
        .sum();
    let undelivered = ORDERS_LOADED - LAST_DELIVERED;
    let of_district = 1 + 2 * CUSTOMERS + ORDERS_LOADED + undelivered;
    1 + DISTRICTS * of_district + ITEMS + lines
}

fn lines_of(seed: u64, warehouse: u64, district: u64, order: u64) -> u64 {
    random(
        seed,
        Purpose::Order,
        warehouse,
        in_district(district, order),
    )
    .random_range(5..=15)
}

/// All orders of a warehouse, as district and number.
fn orders() -> impl Iterator<Item = (u64, u64)> {
    (1..=DISTRICTS).flat_map(|district| (1..=ORDERS_LOADED).map(move |order| (district, order)))
}

pub(super) fn load_items(
    admin: &mut dyn Admin,
    seed: u64,
    progress: &Progress,
) -> Result<u64, Fault> {
    let columns = ["i_id", "i_im_id", "i_name", "i_price", "i_data"];
    load(admin, ITEM, &columns, 1..=ITEMS, progress, |item, args| {
        let mut random = random(seed, Purpose::Item, 0, item);
        push_int(item, args);
        push_int(random.random_range(1..=10_000), args);
        args.push_text(|out| push_string(14, 24, &mut random, out));
        let cents = random.random_range(100..=10_000);
        args.push_text(|out| push_amount(cents, out));
        push_data(&mut random, args);
    })
}

/// Loads a warehouse and all that belongs to it.
pub(super) fn load_warehouse(
    admin: &mut dyn Admin,
    seed: u64,
    warehouse: u64,
    progress: &Progress,
) -> Result<u64, Fault> {
    let load = Loading {
        seed,
        warehouse,
        progress,
    };
    Ok(load.warehouse(admin)?
        + load.districts(admin)?
        + load.customers(admin)?
        + load.history(admin)?
        + load.orders(admin, true)?
        + load.orders(admin, false)?
        + load.order_lines(admin, true)?
        + load.order_lines(admin, false)?
        + load.new_orders(admin)?
        + load.stock(admin)?)
}

/// One warehouse being loaded.
struct Loading<'a> {
    seed: u64,
    warehouse: u64,
    progress: &'a Progress,
}

impl Loading<'_> {
    fn random(&self, purpose: Purpose, row: u64) -> Random {
        random(self.seed, purpose, self.warehouse, row)
    }

    fn warehouse(&self, admin: &mut dyn Admin) -> Result<u64, Fault> {
        let columns = [
            "w_id",
            "w_name",
            "w_street_1",
            "w_street_2",
            "w_city",
            "w_state",
            "w_zip",
            "w_tax",
            "w_ytd",
        ];
        load(
            admin,
            WAREHOUSE,
            &columns,
            [self.warehouse],
            self.progress,
            |warehouse, args| {
                let mut random = self.random(Purpose::Warehouse, 0);
                push_int(warehouse, args);
                args.push_text(|out| push_string(6, 10, &mut random, out));
                push_address(&mut random, args);
                push_share(2_000, &mut random, args);
                args.push_text(|out| out.extend_from_slice(b"300000.00"));
            },
        )
    }

    fn districts(&self, admin: &mut dyn Admin) -> Result<u64, Fault> {
        let columns = [
            "d_id",
            "d_w_id",
            "d_name",
            "d_street_1",
            "d_street_2",
            "d_city",
            "d_state",
            "d_zip",
            "d_tax",
            "d_ytd",
            "d_next_o_id",
        ];
        load(
            admin,
            DISTRICT,
            &columns,
            1..=DISTRICTS,
            self.progress,
            |district, args| {
                let mut random = self.random(Purpose::District, district);
                push_int(district, args);
                push_int(self.warehouse, args);
                args.push_text(|out| push_string(6, 10, &mut random, out));
                push_address(&mut random, args);
                push_share(2_000, &mut random, args);
                args.push_text(|out| out.extend_from_slice(b"30000.00"));
                push_int(ORDERS_LOADED + 1, args);
            },
        )
    }

    fn customers(&self, admin: &mut dyn Admin) -> Result<u64, Fault> {
        let columns = [
            "c_id",
            "c_d_id",
            "c_w_id",
            "c_first",
            "c_middle",
            "c_last",
            "c_street_1",
            "c_street_2",
            "c_city",
            "c_state",
            "c_zip",
            "c_phone",
            "c_since",
            "c_credit",
            "c_credit_lim",
            "c_discount",
            "c_balance",
            "c_ytd_payment",
            "c_payment_cnt",
            "c_delivery_cnt",
            "c_data",
        ];
        // One order for each customer: the same numbers.
        load(
            admin,
            CUSTOMER,
            &columns,
            orders(),
            self.progress,
            |(district, customer), args| {
                let mut random = self.random(Purpose::Customer, in_district(district, customer));
                push_int(customer, args);
                push_int(district, args);
                push_int(self.warehouse, args);
                args.push_text(|out| push_string(8, 16, &mut random, out));
                args.push_text(|out| out.extend_from_slice(b"OE"));
                // The first thousand have every last name once.
                let name = match customer {
                    1..=LAST_NAMES => customer - 1,
                    _ => Constants::LOAD.last_name(&mut random),
                };
                args.push_text(|out| push_last_name(name, out));
                push_address(&mut random, args);
                args.push_text(|out| push_digits(16, &mut random, out));
                args.push_text(|out| out.extend_from_slice(LOADED_AT));
                let credit = if percent(10, &mut random) { "BC" } else { "GC" };
                args.push_text(|out| out.extend_from_slice(credit.as_bytes()));
                args.push_text(|out| out.extend_from_slice(b"50000.00"));
                push_share(5_000, &mut random, args);
                args.push_text(|out| out.extend_from_slice(b"-10.00"));
                args.push_text(|out| out.extend_from_slice(b"10.00"));
                push_int(1, args);
                push_int(0, args);
                args.push_text(|out| push_string(300, 500, &mut random, out));
            },
        )
    }

    fn history(&self, admin: &mut dyn Admin) -> Result<u64, Fault> {
        let columns = [
            "h_c_id", "h_c_d_id", "h_c_w_id", "h_d_id", "h_w_id", "h_date", "h_amount", "h_data",
        ];
        load(
            admin,
            HISTORY,
            &columns,
            orders(),
            self.progress,
            |(district, customer), args| {
                let mut random = self.random(Purpose::History, in_district(district, customer));
                for value in [customer, district, self.warehouse, district, self.warehouse] {
                    push_int(value, args);
                }
                args.push_text(|out| out.extend_from_slice(LOADED_AT));
                args.push_text(|out| out.extend_from_slice(b"10.00"));
                args.push_text(|out| push_string(12, 24, &mut random, out));
            },
        )
    }

    /// Orders that are delivered, or those that are not, which have no carrier.
    fn orders(&self, admin: &mut dyn Admin, delivered: bool) -> Result<u64, Fault> {
        let all = [
            "o_id",
            "o_d_id",
            "o_w_id",
            "o_c_id",
            "o_entry_d",
            "o_ol_cnt",
            "o_all_local",
            "o_carrier_id",
        ];
        let columns = if delivered { &all[..] } else { &all[..7] };
        let customers: Vec<_> = (1..=DISTRICTS)
            .map(|district| {
                let mut customers: Vec<u64> = (1..=CUSTOMERS).collect();
                customers.shuffle(&mut self.random(Purpose::Permutation, district));
                customers
            })
            .collect();
        let orders = orders().filter(|&(_, order)| (order <= LAST_DELIVERED) == delivered);
        load(
            admin,
            ORDERS,
            columns,
            orders,
            self.progress,
            |(district, order), args| {
                let mut random = self.random(Purpose::Order, in_district(district, order));
                // The first draw, as in `lines_of`.
                let lines = random.random_range(5..=15);
                push_int(order, args);
                push_int(district, args);
                push_int(self.warehouse, args);
                push_int(customers[index(district - 1)][index(order - 1)], args);
                args.push_text(|out| out.extend_from_slice(LOADED_AT));
                push_int(lines, args);
                push_int(1, args);
                if delivered {
                    push_int(random.random_range(1..=10), args);
                }
            },
        )
    }

    fn order_lines(&self, admin: &mut dyn Admin, delivered: bool) -> Result<u64, Fault> {
        let all = [
            "ol_o_id",
            "ol_d_id",
            "ol_w_id",
            "ol_number",
            "ol_i_id",
            "ol_supply_w_id",
            "ol_quantity",
            "ol_amount",
            "ol_dist_info",
            "ol_delivery_d",
        ];
        let columns = if delivered { &all[..] } else { &all[..9] };
        let lines = orders()
            .filter(|&(_, order)| (order <= LAST_DELIVERED) == delivered)
            .flat_map(|(district, order)| {
                let lines = lines_of(self.seed, self.warehouse, district, order);
                (1..=lines).map(move |line| (district, order, line))
            });
        load(
            admin,
            ORDER_LINE,
            columns,
            lines,
            self.progress,
            |(district, order, line), args| {
                let row = in_district(district, order << 8 | line);
                let mut random = self.random(Purpose::OrderLine, row);
                for value in [order, district, self.warehouse, line] {
                    push_int(value, args);
                }
                push_int(random.random_range(1..=ITEMS), args);
                push_int(self.warehouse, args);
                push_int(5, args);
                let cents = if delivered {
                    0
                } else {
                    random.random_range(1..=999_999)
                };
                args.push_text(|out| push_amount(cents, out));
                args.push_text(|out| push_string(24, 24, &mut random, out));
                if delivered {
                    args.push_text(|out| out.extend_from_slice(LOADED_AT));
                }
            },
        )
    }

    fn new_orders(&self, admin: &mut dyn Admin) -> Result<u64, Fault> {
        let columns = ["no_o_id", "no_d_id", "no_w_id"];
        let orders = orders().filter(|&(_, order)| order > LAST_DELIVERED);
        load(
            admin,
            NEW_ORDER,
            &columns,
            orders,
            self.progress,
            |(district, order), args| {
                for value in [order, district, self.warehouse] {
                    push_int(value, args);
                }
            },
        )
    }

    fn stock(&self, admin: &mut dyn Admin) -> Result<u64, Fault> {
        let columns = [
            "s_i_id",
            "s_w_id",
            "s_quantity",
            "s_dist_01",
            "s_dist_02",
            "s_dist_03",
            "s_dist_04",
            "s_dist_05",
            "s_dist_06",
            "s_dist_07",
            "s_dist_08",
            "s_dist_09",
            "s_dist_10",
            "s_ytd",
            "s_order_cnt",
            "s_remote_cnt",
            "s_data",
        ];
        load(
            admin,
            STOCK,
            &columns,
            1..=ITEMS,
            self.progress,
            |item, args| {
                let mut random = self.random(Purpose::Stock, item);
                push_int(item, args);
                push_int(self.warehouse, args);
                push_int(random.random_range(10..=100), args);
                for _ in 0..DISTRICTS {
                    args.push_text(|out| push_string(24, 24, &mut random, out));
                }
                for _ in 0..3 {
                    push_int(0, args);
                }
                push_data(&mut random, args);
            },
        )
    }
}

fn push_int(value: u64, args: &mut Args) {
    // Far below the limit of i64.
    args.push_int(value.cast_signed());
}

/// Two streets, the city, the state and the zip code (clause 4.3.2.7).
fn push_address(random: &mut Random, args: &mut Args) {
    for (least, most) in [(10, 20), (10, 20), (10, 20), (2, 2)] {
        args.push_text(|out| push_string(least, most, random, out));
    }
    args.push_text(|out| {
        push_digits(4, random, out);
        out.extend_from_slice(b"11111");
    });
}

/// A random share from 0 to so many ten-thousandths: a tax or a discount.
fn push_share(most: i64, random: &mut Random, args: &mut Args) {
    let share = random.random_range(0..=most);
    args.push_text(|out| push_fraction(share, 4, out));
}

/// 26 to 50 characters, with the word ORIGINAL somewhere in a tenth of them (clause 4.3.3.1).
fn push_data(random: &mut Random, args: &mut Args) {
    const WORD: &[u8] = b"ORIGINAL";
    args.push_text(|out| {
        let start = out.len();
        push_string(26, 50, random, out);
        if percent(10, random) {
            let at = random.random_range(start..=out.len() - WORD.len());
            out[at..at + WORD.len()].copy_from_slice(WORD);
        }
    });
}
