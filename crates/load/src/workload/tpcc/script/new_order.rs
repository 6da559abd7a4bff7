//! The New-Order transaction (clause 2.4).

use super::{Missing, Plan, Step, cents, push_ints};
use crate::driver::Args;
use crate::driver::rows::Rows;
use crate::workload::tpcc::inputs::NewOrder;
use crate::workload::tpcc::random::{index, push_amount};
use crate::workload::tpcc::statements;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Begin,
    NextOrder,
    NextOrderUpdate,
    Customer,
    Order,
    NewOrder,
    Item,
    Stock,
    StockUpdate,
    Line,
    Commit,
    Done,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) input: NewOrder,
    at: At,
    /// The line that is worked on.
    line: usize,
    order: Option<u64>,
    customer_found: Option<u64>,
    /// Of the line's item.
    price_cents: Option<i64>,
    stock: Option<i64>,
    district_info: Vec<u8>,
    rolled_back: bool,
}

impl State {
    pub(super) fn new(input: NewOrder) -> Self {
        Self {
            input,
            at: At::Begin,
            line: 0,
            order: None,
            customer_found: None,
            price_cents: None,
            stock: None,
            district_info: Vec::new(),
            rolled_back: false,
        }
    }

    /// Warehouse, district and number of the order, if it was committed.
    pub(super) fn committed(&self) -> Option<[u64; 3]> {
        let place = self.input.place;
        let order = self
            .order
            .filter(|_| self.at == At::Done && !self.rolled_back)?;
        Some([place.warehouse, place.district, order])
    }

    pub(super) fn next(&mut self, plan: &Plan, args: &mut Args) -> Step {
        let place = self.input.place;
        let of_district = [place.warehouse, place.district];
        let (statement, then) = match self.at {
            At::Begin => (statements::BEGIN, At::NextOrder),
            // Before anything else is read: if this waits for another order of the district, no
            // snapshot has been taken that would then be too old.
            At::NextOrder => {
                push_ints(&of_district, args);
                (statements::NEXT_ORDER, At::NextOrderUpdate)
            }
            At::NextOrderUpdate => {
                push_ints(&[self.order(plan)? + 1], args);
                push_ints(&of_district, args);
                (statements::NEXT_ORDER_UPDATE, At::Customer)
            }
            At::Customer => {
                push_ints(&of_district, args);
                push_ints(&[self.input.customer], args);
                (statements::CUSTOMER_AND_WAREHOUSE, At::Order)
            }
            At::Order => {
                plan.value(self.customer_found, "a customer or the warehouse")?;
                let lines = &self.input.lines;
                let is_local = lines
                    .iter()
                    .all(|line| line.supply_warehouse == place.warehouse);
                push_ints(&[self.order(plan)?, place.district, place.warehouse], args);
                push_ints(
                    &[self.input.customer, lines.len() as u64, is_local.into()],
                    args,
                );
                (statements::ORDER_INSERT, At::NewOrder)
            }
            At::NewOrder => {
                push_ints(&[self.order(plan)?, place.district, place.warehouse], args);
                (statements::NEW_ORDER_INSERT, At::Item)
            }
            At::Item => {
                self.price_cents = None;
                push_ints(&[self.input.lines[self.line].item], args);
                (statements::ITEM, At::Stock)
            }
            At::Stock if self.is_unused() => {
                self.rolled_back = true;
                (statements::ROLLBACK, At::Done)
            }
            At::Stock => {
                plan.value(self.price_cents, "an item")?;
                self.stock = None;
                let line = self.input.lines[self.line];
                push_ints(&[line.item, line.supply_warehouse], args);
                let first = statements::STOCK;
                (first + index(place.district - 1), At::StockUpdate)
            }
            At::StockUpdate => {
                let line = self.input.lines[self.line];
                let stock = plan.value(self.stock, "a stock")?;
                args.push_int(left_in_stock(stock, line.quantity.cast_signed()));
                let remote = line.supply_warehouse != place.warehouse;
                push_ints(
                    &[
                        line.quantity,
                        remote.into(),
                        line.item,
                        line.supply_warehouse,
                    ],
                    args,
                );
                (statements::STOCK_UPDATE, At::Line)
            }
            At::Line => {
                self.push_line(plan, args)?;
                self.line += 1;
                let is_last = self.line == self.input.lines.len();
                (
                    statements::LINE_INSERT,
                    if is_last { At::Commit } else { At::Item },
                )
            }
            At::Commit => (statements::COMMIT, At::Done),
            At::Done => return Ok(None),
        };
        self.at = then;
        Ok(Some(statement))
    }

    pub(super) fn received(&mut self, rows: &Rows) {
        match self.at {
            At::NextOrderUpdate => self.order = rows.number(0, 0),
            At::Order => self.customer_found = (rows.count() > 0).then_some(1),
            At::Stock => self.price_cents = cents(rows, 0, 0),
            At::StockUpdate => {
                self.stock = rows.number(0, 0);
                self.district_info.clear();
                self.district_info
                    .extend_from_slice(rows.text(0, 1).unwrap_or_default());
            }
            _ => {}
        }
    }

    fn order(&self, plan: &Plan) -> Result<u64, Missing> {
        plan.value(self.order, "a district")
    }

    /// Whether the item that was asked for last is the one that does not exist.
    fn is_unused(&self) -> bool {
        let is_last = self.line + 1 == self.input.lines.len();
        self.input.rolls_back && is_last && self.price_cents.is_none()
    }

    fn push_line(&self, plan: &Plan, args: &mut Args) -> Result<(), Missing> {
        let (line, place) = (self.input.lines[self.line], self.input.place);
        let price_cents = plan.value(self.price_cents, "an item")?;
        push_ints(&[self.order(plan)?, place.district, place.warehouse], args);
        push_ints(
            &[line.number, line.item, line.supply_warehouse, line.quantity],
            args,
        );
        let amount_cents = price_cents * line.quantity.cast_signed();
        args.push_text(|out| push_amount(amount_cents, out));
        args.push_text(|out| out.extend_from_slice(&self.district_info));
        Ok(())
    }
}

/// A stock that would fall below 10 is filled up (clause 2.4.2.2).
fn left_in_stock(stock: i64, ordered: i64) -> i64 {
    let left = stock - ordered;
    if left >= 10 { left } else { left + 91 }
}
