//! What the terminals entered, counted: the run's own proof of its shares and distributions.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

use super::inputs::{Customer, Kind, NewOrder, OrderStatus, Payment};
use super::random::{Constants, index};

/// Numbers of items, customers and last names that are counted together.
pub(super) const ITEMS_A_BIN: u64 = 1_000;
pub(super) const CUSTOMERS_A_BIN: u64 = 100;
pub(super) const LAST_NAMES_A_BIN: u64 = 10;

const ITEM_BINS: usize = 100;
const CUSTOMER_BINS: usize = 30;
const LAST_NAME_BINS: usize = 100;
/// An order has 5 to 15 lines.
const LINE_COUNTS: usize = 11;
const FEWEST_LINES: usize = 5;

/// The longest time from the moment at which a delivery is queued to its end, for nine of ten
/// (clause 2.7.2.2).
const DEFERRED_LIMIT_S: u64 = 80;

#[derive(Debug, Default)]
struct Count(AtomicU64);

impl Count {
    fn add(&self, number: u64) {
        self.0.fetch_add(number, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Counts, shared by all clients.
#[derive(Debug)]
pub(super) struct Inputs {
    transactions: [Count; 5],
    rolled_back: Count,
    lines: Count,
    remote_lines: Count,
    line_counts: [Count; LINE_COUNTS],
    items: [Count; ITEM_BINS],
    remote_payments: Count,
    by_last_name: Count,
    customers: [Count; CUSTOMER_BINS],
    last_names: [Count; LAST_NAME_BINS],
    districts: [Count; 10],
    /// Deliveries that were queued, and those that are done.
    queued: Count,
    done: Count,
    done_in_time: Count,
    longest_us: AtomicU64,
}

impl Default for Inputs {
    fn default() -> Self {
        fn counts<const N: usize>() -> [Count; N] {
            std::array::from_fn(|_| Count::default())
        }
        Self {
            transactions: counts(),
            rolled_back: Count::default(),
            lines: Count::default(),
            remote_lines: Count::default(),
            line_counts: counts(),
            items: counts(),
            remote_payments: Count::default(),
            by_last_name: Count::default(),
            customers: counts(),
            last_names: counts(),
            districts: counts(),
            queued: Count::default(),
            done: Count::default(),
            done_in_time: Count::default(),
            longest_us: AtomicU64::new(0),
        }
    }
}

impl Inputs {
    pub(super) fn begun(&self, kind: Kind) {
        self.transactions[kind.place()].add(1);
    }

    pub(super) fn new_order(&self, order: &NewOrder) {
        self.district(order.place.district);
        self.customer(order.customer);
        self.line_counts[order.lines.len() - FEWEST_LINES].add(1);
        self.rolled_back.add(order.rolls_back.into());
        for line in &order.lines {
            self.lines.add(1);
            let remote = line.supply_warehouse != order.place.warehouse;
            self.remote_lines.add(remote.into());
            // The unused item is none of those that are drawn.
            if let Some(bin) = self.items.get(bin(line.item, ITEMS_A_BIN)) {
                bin.add(1);
            }
        }
    }

    pub(super) fn payment(&self, payment: &Payment) {
        self.district(payment.place.district);
        let remote = payment.home.warehouse != payment.place.warehouse;
        self.remote_payments.add(remote.into());
        self.named(payment.customer);
    }

    pub(super) fn order_status(&self, status: &OrderStatus) {
        self.district(status.place.district);
        self.named(status.customer);
    }

    pub(super) fn delivery_queued(&self) {
        self.queued.add(1);
    }

    pub(super) fn delivery_done(&self, since_queued: std::time::Duration) {
        self.done.add(1);
        let in_time = since_queued.as_secs() < DEFERRED_LIMIT_S;
        self.done_in_time.add(in_time.into());
        let us = u64::try_from(since_queued.as_micros()).unwrap_or(u64::MAX);
        self.longest_us.fetch_max(us, Ordering::Relaxed);
    }

    fn named(&self, customer: Customer) {
        match customer {
            Customer::Number(number) => self.customer(number),
            Customer::LastName(number) => {
                self.by_last_name.add(1);
                self.last_names[index(number / LAST_NAMES_A_BIN)].add(1);
            }
        }
    }

    fn customer(&self, number: u64) {
        self.customers[bin(number, CUSTOMERS_A_BIN)].add(1);
    }

    fn district(&self, number: u64) {
        self.districts[index(number - 1)].add(1);
    }

    pub(super) fn account(&self, run: Run) -> Account {
        fn all(counts: &[Count]) -> Vec<u64> {
            counts.iter().map(Count::get).collect()
        }
        Account {
            warehouses: run.warehouses,
            terminals: run.terminals,
            think_times: run.deferred,
            constants: run.constants,
            load_constant: super::random::C_LOAD,
            begun: all(&self.transactions),
            rolled_back: self.rolled_back.get(),
            lines: self.lines.get(),
            remote_lines: self.remote_lines.get(),
            line_counts: all(&self.line_counts),
            items: all(&self.items),
            remote_payments: self.remote_payments.get(),
            by_last_name: self.by_last_name.get(),
            customers: all(&self.customers),
            last_names: all(&self.last_names),
            districts: all(&self.districts),
            deferred: run.deferred.then(|| Deferred {
                queued: self.queued.get(),
                done: self.done.get(),
                done_in_time: self.done_in_time.get(),
                longest_s: self.longest_us.load(Ordering::Relaxed) as f64 / 1e6,
            }),
        }
    }
}

/// The bin of a number that is counted from 1.
fn bin(number: u64, size: u64) -> usize {
    index((number - 1) / size)
}

/// What a run is, beside its counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub(super) warehouses: u64,
    pub(super) terminals: u64,
    /// With keying and think times, and so with deferred deliveries.
    pub(super) deferred: bool,
    pub(super) constants: Constants,
}

/// The counts since the clients began, the warm-up included: draws do not depend on the phase. A
/// transaction that is run again is counted once.
#[derive(Debug, Clone, Serialize)]
pub struct Account {
    pub warehouses: u64,
    pub terminals: u64,
    pub think_times: bool,
    pub constants: Constants,
    /// The constant C for last names while the tables were loaded.
    pub load_constant: u64,
    /// Transactions begun: new order, payment, order status, delivery, stock level.
    pub begun: Vec<u64>,
    /// New orders with an unused item, which roll back.
    pub rolled_back: u64,
    pub lines: u64,
    /// Lines that another warehouse supplies.
    pub remote_lines: u64,
    /// Orders with 5, 6, … 15 lines.
    pub line_counts: Vec<u64>,
    /// Lines with items 1 to 1,000, 1,001 to 2,000 and so on.
    pub items: Vec<u64>,
    /// Payments of customers of another warehouse.
    pub remote_payments: u64,
    /// Payments and order statuses with a last name.
    pub by_last_name: u64,
    /// Customers 1 to 100, 101 to 200 and so on, if a number was drawn.
    pub customers: Vec<u64>,
    /// Last names 0 to 9, 10 to 19 and so on.
    pub last_names: Vec<u64>,
    /// Districts of new orders, payments and order statuses.
    pub districts: Vec<u64>,
    /// Deliveries that were queued for execution apart; `None` if terminals execute them.
    pub deferred: Option<Deferred>,
}

/// Deferred deliveries.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Deferred {
    pub queued: u64,
    pub done: u64,
    /// Within 80 s of being queued.
    pub done_in_time: u64,
    pub longest_s: f64,
}
