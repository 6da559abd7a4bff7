//! The two transactions that only read: Order-Status (clause 2.6) and Stock-Level (clause 2.8).

use super::{Plan, Sought, Step, push_ints};
use crate::driver::Args;
use crate::driver::rows::Rows;
use crate::workload::tpcc::inputs::{OrderStatus, StockLevel};
use crate::workload::tpcc::statements;

/// A stock level is about the items of so many orders of the district, the last ones.
const LAST_ORDERS: u64 = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Begin,
    ByLastName,
    Customer,
    LastOrder,
    Lines,
    Commit,
    Done,
}

#[derive(Debug)]
pub(super) struct OrderStatusState {
    pub(super) input: OrderStatus,
    at: At,
    sought: Sought,
    order: Option<u64>,
}

impl OrderStatusState {
    pub(super) fn new(input: OrderStatus) -> Self {
        Self {
            input,
            at: At::Begin,
            sought: Sought::new(input.place, input.customer),
            order: None,
        }
    }

    pub(super) fn next(&mut self, plan: &Plan, args: &mut Args) -> Step {
        let (statement, then) = match self.at {
            At::Begin => (statements::BEGIN_SNAPSHOT, At::ByLastName),
            At::ByLastName if self.sought.push_name(args) => {
                (statements::BY_LAST_NAME, At::Customer)
            }
            At::ByLastName | At::Customer => {
                self.sought.push_key(plan, args)?;
                (statements::CUSTOMER, At::LastOrder)
            }
            At::LastOrder => {
                self.sought.push_key(plan, args)?;
                (statements::LAST_ORDER, At::Lines)
            }
            At::Lines => {
                let place = self.input.place;
                let order = plan.value(self.order, "a customer's order")?;
                push_ints(&[place.warehouse, place.district, order], args);
                (statements::LINES, At::Commit)
            }
            At::Commit => (statements::COMMIT, At::Done),
            At::Done => return Ok(None),
        };
        self.at = then;
        Ok(Some(statement))
    }

    pub(super) fn received(&mut self, rows: &Rows) {
        match self.at {
            At::Customer => self.sought.choose(rows),
            At::Lines => self.order = rows.number(0, 0),
            _ => {}
        }
    }
}

#[derive(Debug)]
pub(super) struct StockLevelState {
    pub(super) input: StockLevel,
    /// Statements sent.
    sent: usize,
    next_order: Option<u64>,
}

impl StockLevelState {
    pub(super) fn new(input: StockLevel) -> Self {
        Self {
            input,
            sent: 0,
            next_order: None,
        }
    }

    pub(super) fn next(&mut self, plan: &Plan, args: &mut Args) -> Step {
        let StockLevel { place, threshold } = self.input;
        let statement = match self.sent {
            0 => statements::BEGIN_READ,
            1 => {
                push_ints(&[place.warehouse, place.district], args);
                statements::NEXT_ORDER_READ
            }
            2 => {
                let next = plan.value(self.next_order, "a district")?;
                let first = next.saturating_sub(LAST_ORDERS);
                push_ints(&[place.warehouse, place.district, first, next], args);
                push_ints(&[place.warehouse, threshold], args);
                statements::STOCK_COUNT
            }
            3 => statements::COMMIT,
            _ => return Ok(None),
        };
        self.sent += 1;
        Ok(Some(statement))
    }

    pub(super) fn received(&mut self, rows: &Rows) {
        if self.sent == 2 {
            self.next_order = rows.number(0, 0);
        }
    }
}
