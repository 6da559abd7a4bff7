//! The Delivery transaction (clause 2.7): the oldest order of each district.

use super::{Plan, Step, cents, push_ints};
use crate::driver::Args;
use crate::driver::rows::Rows;
use crate::workload::tpcc::inputs::Delivery;
use crate::workload::tpcc::random::{DISTRICTS, push_amount};
use crate::workload::tpcc::statements;

/// PostgreSQL finds nothing if the oldest order was delivered while we waited for it, though there
/// is a next one. So it is asked again before a district counts as without orders.
const LOOKS: u32 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Begin,
    Oldest,
    Delete,
    Carrier,
    Customer,
    Lines,
    Sum,
    CustomerUpdate,
    Commit,
    Done,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) input: Delivery,
    at: At,
    district: u64,
    looks: u32,
    order: Option<u64>,
    customer: Option<u64>,
    sum_cents: Option<i64>,
}

impl State {
    pub(super) fn new(input: Delivery) -> Self {
        Self {
            input,
            at: At::Begin,
            district: 1,
            looks: 0,
            order: None,
            customer: None,
            sum_cents: None,
        }
    }

    /// Orders are changed before they are read: a transaction always sees its own changes, however
    /// old the snapshot that it reads from.
    pub(super) fn next(&mut self, plan: &Plan, args: &mut Args) -> Step {
        if self.at == At::Delete && self.order.is_none() && !plan.without_tables {
            self.look_again();
        }
        let warehouse = self.input.warehouse;
        let order = [warehouse, self.district, self.order.unwrap_or(1)];
        let (statement, then) = match self.at {
            At::Begin => (statements::BEGIN, At::Oldest),
            At::Oldest => {
                push_ints(&[warehouse, self.district], args);
                (statements::OLDEST_NEW_ORDER, At::Delete)
            }
            At::Delete => {
                push_ints(&order, args);
                (statements::NEW_ORDER_DELETE, At::Carrier)
            }
            At::Carrier => {
                push_ints(&[self.input.carrier], args);
                push_ints(&order, args);
                (statements::CARRIER_UPDATE, At::Customer)
            }
            At::Customer => {
                push_ints(&order, args);
                (statements::ORDER_CUSTOMER, At::Lines)
            }
            At::Lines => {
                push_ints(&order, args);
                (statements::LINES_UPDATE, At::Sum)
            }
            At::Sum => {
                push_ints(&order, args);
                (statements::LINES_SUM, At::CustomerUpdate)
            }
            At::CustomerUpdate => {
                let sum_cents = plan.value(self.sum_cents, "the lines of an order")?;
                let customer = plan.value(self.customer, "an order")?;
                args.push_text(|out| push_amount(sum_cents, out));
                push_ints(&[warehouse, self.district, customer], args);
                self.go_on();
                let then = if self.district > DISTRICTS {
                    At::Commit
                } else {
                    At::Oldest
                };
                (statements::DELIVERED_UPDATE, then)
            }
            At::Commit => (statements::COMMIT, At::Done),
            At::Done => return Ok(None),
        };
        self.at = then;
        Ok(Some(statement))
    }

    pub(super) fn received(&mut self, rows: &Rows) {
        match self.at {
            At::Delete => self.order = rows.number(0, 0),
            At::Lines => self.customer = rows.number(0, 0),
            At::CustomerUpdate => self.sum_cents = cents(rows, 0, 0),
            _ => {}
        }
    }

    /// A district without a new order is skipped (clause 2.7.4.2).
    fn look_again(&mut self) {
        self.looks += 1;
        if self.looks == LOOKS {
            self.go_on();
        }
        self.at = if self.district > DISTRICTS {
            At::Commit
        } else {
            At::Oldest
        };
    }

    fn go_on(&mut self) {
        self.district += 1;
        self.looks = 0;
        (self.order, self.customer, self.sum_cents) = (None, None, None);
    }
}
