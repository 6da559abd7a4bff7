//! The five transactions, each as the statements that follow one another. Where a statement awaits
//! its reply, the client's session has it.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::str::FromStr;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::Plan;
use crate::driver::rows::Rows;
use crate::driver::{Args, StatementId};
use crate::workload::tpcc::inputs::{
    Customer, Delivery, Line, NewOrder, OrderStatus, Payment, Place, StockLevel,
};
use crate::workload::tpcc::random::{DISTRICTS, index, push_amount, push_last_name};
use crate::workload::tpcc::statements as s;

/// Length of a customer's miscellaneous data.
const LONGEST_DATA: usize = 500;

/// A stock level is about the items of so many orders of the district, the last ones.
const LAST_ORDERS: u64 = 20;

/// PostgreSQL finds nothing if the oldest order was delivered while we waited for it, though there
/// is a next one. So it is asked again before a district counts as without orders.
const LOOKS: u32 = 3;

/// What a user has entered.
#[derive(Debug, Clone)]
pub(super) enum Input {
    NewOrder(NewOrder),
    Payment(Payment),
    OrderStatus(OrderStatus),
    Delivery(Delivery),
    StockLevel(StockLevel),
}

/// A value that the database did not return although TPC-C's tables have it.
#[derive(Debug)]
pub(super) struct Missing(pub(super) &'static str);

/// The transaction of a client.
pub(super) struct Course {
    desk: Rc<Desk>,
    transaction: Option<Transaction>,
}

type Transaction = Pin<Box<dyn Future<Output = Result<(), Missing>>>>;

/// Where transactions leave statements and find replies.
struct Desk {
    plan: Arc<Plan>,
    statement: Cell<StatementId>,
    args: RefCell<Args>,
    rows: RefCell<Rows>,
    /// Warehouse, district and number of the order that was committed.
    committed: Cell<Option<[u64; 3]>>,
}

/// Pending once: the statement is on its way.
struct Reply {
    is_awaited: bool,
}

impl Future for Reply {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.is_awaited, true) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

impl Course {
    pub(super) fn new(plan: Arc<Plan>) -> Self {
        let desk = Desk {
            plan,
            statement: Cell::new(s::BEGIN),
            args: RefCell::default(),
            rows: RefCell::default(),
            committed: Cell::new(None),
        };
        Self {
            desk: Rc::new(desk),
            transaction: None,
        }
    }

    pub(super) fn begin(&mut self, input: Input) {
        self.desk.committed.set(None);
        self.transaction = Some(Box::pin(run(Rc::clone(&self.desk), input)));
    }

    /// The next statement; `None` after the last.
    pub(super) fn next(&mut self, args: &mut Args) -> Result<Option<StatementId>, Missing> {
        let Some(transaction) = &mut self.transaction else {
            return Ok(None);
        };
        let mut context = Context::from_waker(Waker::noop());
        if let Poll::Ready(outcome) = transaction.as_mut().poll(&mut context) {
            self.transaction = None;
            return outcome.map(|()| None);
        }
        std::mem::swap(&mut *self.desk.args.borrow_mut(), args);
        Ok(Some(self.desk.statement.get()))
    }

    pub(super) fn received(&mut self, rows: &Rows) {
        self.desk.rows.borrow_mut().copy(rows);
    }

    pub(super) fn committed(&self) -> Option<[u64; 3]> {
        self.desk.committed.get()
    }
}

async fn run(desk: Rc<Desk>, input: Input) -> Result<(), Missing> {
    match input {
        Input::NewOrder(input) => new_order(&desk, input).await,
        Input::Payment(input) => payment(&desk, input).await,
        Input::OrderStatus(input) => order_status(&desk, input).await,
        Input::Delivery(input) => delivery(&desk, input).await,
        Input::StockLevel(input) => stock_level(&desk, input).await,
    }
}

/// Clause 2.4.
async fn new_order(desk: &Desk, input: NewOrder) -> Result<(), Missing> {
    let ([warehouse, district], lines) = (input.place.key(), input.lines);
    desk.ask(s::BEGIN, &[]).await;
    // Before anything else is read: if this waits for another order of the district, no snapshot has
    // been taken that would then be too old.
    desk.ask(s::NEXT_ORDER, &[warehouse, district]).await;
    let order: u64 = desk.number("a district")?;
    desk.ask(s::NEXT_ORDER_UPDATE, &[order + 1, warehouse, district])
        .await;
    desk.ask(
        s::CUSTOMER_AND_WAREHOUSE,
        &[warehouse, district, input.customer],
    )
    .await;
    desk.found("a customer or the warehouse")?;
    let is_local = lines.iter().all(|line| line.supply_warehouse == warehouse);
    let [a, b, c] = [order, district, warehouse];
    let count = lines.len() as u64;
    desk.ask(
        s::ORDER_INSERT,
        &[a, b, c, input.customer, count, is_local.into()],
    )
    .await;
    desk.ask(s::NEW_ORDER_INSERT, &[a, b, c]).await;
    let mut texts = [Vec::new(), Vec::new()];
    for line in &lines {
        let Line {
            number,
            item,
            supply_warehouse: from,
            quantity,
        } = *line;
        desk.ask(s::ITEM, &[item]).await;
        let price_cents = desk.cents();
        if input.rolls_back && number == count && price_cents.is_none() {
            desk.ask(s::ROLLBACK, &[]).await;
            return Ok(());
        }
        let price_cents = desk.plan.value(price_cents, "an item")?;
        desk.ask(s::STOCK + index(district - 1), &[item, from])
            .await;
        let left = left_in_stock(desk.number("a stock")?, quantity);
        let [amount, info] = &mut texts;
        desk.take_text(1, info);
        let remote = from != warehouse;
        desk.ask(
            s::STOCK_UPDATE,
            &[left, quantity, remote.into(), item, from],
        )
        .await;
        amount.clear();
        push_amount(price_cents * quantity.cast_signed(), amount);
        let numbers = [a, b, c, number, item, from, quantity];
        desk.send(s::LINE_INSERT, &[], &numbers, &[amount, info])
            .await;
    }
    desk.ask(s::COMMIT, &[]).await;
    let committed = [warehouse, district, order];
    desk.committed
        .set((!desk.plan.without_tables).then_some(committed));
    Ok(())
}

/// A stock that would fall below 10 is filled up (clause 2.4.2.2).
fn left_in_stock(stock: i64, ordered: u64) -> u64 {
    let left = stock - ordered.cast_signed();
    (if left >= 10 { left } else { left + 91 }).cast_unsigned()
}

/// Clause 2.5.
async fn payment(desk: &Desk, input: Payment) -> Result<(), Missing> {
    let [warehouse, district] = input.place.key();
    let paid = amount(input.cents);
    desk.ask(s::BEGIN, &[]).await;
    desk.send(s::WAREHOUSE_UPDATE, &[&paid], &[warehouse], &[])
        .await;
    desk.ask(s::WAREHOUSE, &[warehouse]).await;
    let mut names = desk.text(0);
    desk.send(s::DISTRICT_UPDATE, &[&paid], &[warehouse, district], &[])
        .await;
    desk.ask(s::DISTRICT, &[warehouse, district]).await;
    names.extend_from_slice(b"    ");
    names.append(&mut desk.text(0));
    let customer @ [home_warehouse, home_district, number] =
        desk.customer(input.home, input.customer).await?;
    desk.ask(s::CUSTOMER_LOCKED, &customer).await;
    desk.found("a customer")?;
    if desk.text(0) == b"BC" {
        desk.ask(s::CUSTOMER_DATA, &customer).await;
        // The payment before what was there, as far as it fits (clause 2.5.2.2).
        let payment = format!("{number} {home_district} {home_warehouse} {district} {warehouse} ");
        let mut data = [payment.as_bytes(), &paid, b" ", &desk.text(0)].concat();
        data.truncate(LONGEST_DATA);
        desk.send(
            s::BAD_CUSTOMER_UPDATE,
            &[&paid, &paid, &data],
            &customer,
            &[],
        )
        .await;
    } else {
        desk.send(s::CUSTOMER_UPDATE, &[&paid, &paid], &customer, &[])
            .await;
    }
    let places = [number, home_district, home_warehouse, district, warehouse];
    desk.send(s::HISTORY_INSERT, &[], &places, &[&paid, &names])
        .await;
    desk.ask(s::COMMIT, &[]).await;
    Ok(())
}

/// Clause 2.6.
async fn order_status(desk: &Desk, input: OrderStatus) -> Result<(), Missing> {
    let [warehouse, district] = input.place.key();
    desk.ask(s::BEGIN_SNAPSHOT, &[]).await;
    let customer = desk.customer(input.place, input.customer).await?;
    desk.ask(s::CUSTOMER, &customer).await;
    desk.ask(s::LAST_ORDER, &customer).await;
    let order = desk.number("a customer's order")?;
    desk.ask(s::LINES, &[warehouse, district, order]).await;
    desk.ask(s::COMMIT, &[]).await;
    Ok(())
}

/// The oldest order of each district (clause 2.7). Orders are changed before they are read: a
/// transaction always sees its own changes, however old the snapshot that it reads from.
async fn delivery(desk: &Desk, input: Delivery) -> Result<(), Missing> {
    let Delivery { warehouse, carrier } = input;
    desk.ask(s::BEGIN, &[]).await;
    for district in 1..=DISTRICTS {
        let mut oldest: Option<u64> = None;
        for _ in 0..LOOKS {
            desk.ask(s::OLDEST_NEW_ORDER, &[warehouse, district]).await;
            oldest = desk.number("a new order").ok();
            if oldest.is_some() {
                break;
            }
        }
        // A district without a new order is skipped (clause 2.7.4.2).
        let Some(order) = oldest else { continue };
        let order = [warehouse, district, order];
        desk.ask(s::NEW_ORDER_DELETE, &order).await;
        let [a, b, c] = order;
        desk.ask(s::CARRIER_UPDATE, &[carrier, a, b, c]).await;
        desk.ask(s::ORDER_CUSTOMER, &order).await;
        let customer = desk.number("an order")?;
        desk.ask(s::LINES_UPDATE, &order).await;
        desk.ask(s::LINES_SUM, &order).await;
        let sum = amount(desk.plan.value(desk.cents(), "the lines of an order")?);
        let customer = [warehouse, district, customer];
        desk.send(s::DELIVERED_UPDATE, &[&sum], &customer, &[])
            .await;
    }
    desk.ask(s::COMMIT, &[]).await;
    Ok(())
}

/// Clause 2.8.
async fn stock_level(desk: &Desk, input: StockLevel) -> Result<(), Missing> {
    let [warehouse, district] = input.place.key();
    desk.ask(s::BEGIN_READ, &[]).await;
    desk.ask(s::NEXT_ORDER_READ, &[warehouse, district]).await;
    let next: u64 = desk.number("a district")?;
    let first = next.saturating_sub(LAST_ORDERS);
    let asked = [warehouse, district, first, next, warehouse, input.threshold];
    desk.ask(s::STOCK_COUNT, &asked).await;
    desk.ask(s::COMMIT, &[]).await;
    Ok(())
}

impl Desk {
    /// Sends a statement with numbers alone.
    fn ask(&self, statement: StatementId, numbers: &[u64]) -> Reply {
        self.send(statement, &[], numbers, &[])
    }

    /// Sends a statement with texts before and after numbers.
    fn send(
        &self,
        statement: StatementId,
        before: &[&[u8]],
        numbers: &[u64],
        after: &[&[u8]],
    ) -> Reply {
        self.statement.set(statement);
        let mut args = self.args.borrow_mut();
        args.clear();
        let push = |args: &mut Args, text: &[u8]| args.push_text(|out| out.extend_from_slice(text));
        for text in before {
            push(&mut args, text);
        }
        for number in numbers {
            // Keys of the tables are far below the limit of i64.
            args.push_int(number.cast_signed());
        }
        for text in after {
            push(&mut args, text);
        }
        Reply { is_awaited: false }
    }

    /// The first value of the first row; an error names what must be there.
    fn number<T: From<u8> + FromStr>(&self, what: &'static str) -> Result<T, Missing> {
        self.plan.value(self.rows.borrow().number(0, 0), what)
    }

    /// The first value of the first row, an amount in cents.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "amounts have at most twelve digits"
    )]
    fn cents(&self) -> Option<i64> {
        let amount: f64 = self.rows.borrow().number(0, 0)?;
        Some((amount * 100.0).round() as i64)
    }

    /// A value of the first row.
    fn text(&self, column: usize) -> Vec<u8> {
        let mut text = Vec::new();
        self.take_text(column, &mut text);
        text
    }

    fn take_text(&self, column: usize, into: &mut Vec<u8>) {
        into.clear();
        into.extend_from_slice(self.rows.borrow().text(0, column).unwrap_or_default());
    }

    fn found(&self, what: &'static str) -> Result<(), Missing> {
        let found = (self.rows.borrow().count() > 0).then_some(1_u64);
        self.plan.value(found, what).map(drop)
    }

    /// The customer's key. Of all who have a last name, in the order of first names, it is the one
    /// at n/2 rounded up (clauses 2.5.2.2 and 2.6.2.2).
    async fn customer(&self, home: Place, customer: Customer) -> Result<[u64; 3], Missing> {
        let number = match customer {
            Customer::Number(number) => number,
            Customer::LastName(name) => {
                let mut text = Vec::new();
                push_last_name(name, &mut text);
                self.send(s::BY_LAST_NAME, &[], &home.key(), &[&text]).await;
                let rows = self.rows.borrow();
                let middle = rows.count().saturating_sub(1) / 2;
                self.plan
                    .value(rows.number(middle, 0), "a customer's last name")?
            }
        };
        Ok([home.warehouse, home.district, number])
    }
}

fn amount(cents: i64) -> Vec<u8> {
    let mut text = Vec::new();
    push_amount(cents, &mut text);
    text
}
