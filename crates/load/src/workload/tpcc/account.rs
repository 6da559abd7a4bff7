//! What the terminals entered, counted: the run's own proof of its shares and distributions.

use std::sync::{Mutex, MutexGuard, PoisonError};

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

/// What a run is, beside its counts: inputs are drawn of it.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Run {
    pub warehouses: u64,
    pub terminals: u64,
    pub constants: Constants,
}

/// Counts, shared by all clients: a transaction locks them once, for less than any statement takes.
#[derive(Debug)]
pub(super) struct Inputs(Mutex<Account>);

impl Inputs {
    pub(super) fn new(run: Run) -> Self {
        Self(Mutex::new(Account {
            run,
            load_constant: super::random::C_LOAD,
            begun: vec![0; Kind::ALL.len()],
            rolled_back: 0,
            lines: 0,
            remote_lines: 0,
            line_counts: vec![0; LINE_COUNTS],
            items: vec![0; ITEM_BINS],
            remote_payments: 0,
            by_last_name: 0,
            customers: vec![0; CUSTOMER_BINS],
            last_names: vec![0; LAST_NAME_BINS],
            districts: vec![0; 10],
        }))
    }

    pub(super) fn counted(&self) -> MutexGuard<'_, Account> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The bin of a number that is counted from 1.
fn bin(number: u64, size: u64) -> usize {
    index((number - 1) / size)
}

/// The counts since the clients began, the warm-up included: draws do not depend on the phase. A
/// transaction that is run again is counted once.
#[derive(Debug, Clone, Serialize)]
pub struct Account {
    #[serde(flatten)]
    pub run: Run,
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
}

impl Account {
    pub(super) fn begun(&mut self, kind: Kind) {
        self.begun[kind as usize] += 1;
    }

    pub(super) fn new_order(&mut self, order: &NewOrder) {
        self.district(order.place.district);
        self.customer(order.customer);
        self.line_counts[order.lines.len() - FEWEST_LINES] += 1;
        self.rolled_back += u64::from(order.rolls_back);
        for line in &order.lines {
            self.lines += 1;
            self.remote_lines += u64::from(line.supply_warehouse != order.place.warehouse);
            // The unused item is none of those that are drawn.
            if let Some(bin) = self.items.get_mut(bin(line.item, ITEMS_A_BIN)) {
                *bin += 1;
            }
        }
    }

    pub(super) fn payment(&mut self, payment: &Payment) {
        self.district(payment.place.district);
        self.remote_payments += u64::from(payment.home.warehouse != payment.place.warehouse);
        self.named(payment.customer);
    }

    pub(super) fn order_status(&mut self, status: &OrderStatus) {
        self.district(status.place.district);
        self.named(status.customer);
    }

    fn named(&mut self, customer: Customer) {
        match customer {
            Customer::Number(number) => self.customer(number),
            Customer::LastName(number) => {
                self.by_last_name += 1;
                self.last_names[index(number / LAST_NAMES_A_BIN)] += 1;
            }
        }
    }

    fn customer(&mut self, number: u64) {
        self.customers[bin(number, CUSTOMERS_A_BIN)] += 1;
    }

    fn district(&mut self, number: u64) {
        self.districts[index(number - 1)] += 1;
    }
}
