//! One client: a terminal with its user, or one that executes deferred deliveries.

mod delivery;
mod new_order;
mod payment;
mod reading;

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use rand::seq::SliceRandom;

use super::account::Inputs;
use super::inputs::{self, Customer, Delivery, Draws, Kind, Place};
use super::random::{Random, push_last_name};
use super::times;
use crate::driver::rows::Rows;
use crate::driver::{Args, Reply, StatementId};
use crate::workload::ledger::Acknowledgements;
use crate::workload::{Next, Script};

/// How often a client that executes deliveries looks for one.
const LOOK_US: u64 = 20_000;

/// The kind of a deferred delivery among those that the summary tells apart: after the five.
pub(super) const DEFERRED: usize = Kind::ALL.len();

/// Shared by all clients.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) draws: Draws,
    /// With keying and think times, and deliveries that are deferred.
    pub(super) deferred: bool,
    /// There are no tables, and so no values: a missing one counts as 1.
    pub(super) without_tables: bool,
    pub(super) acknowledgements: Option<Acknowledgements>,
    pub(super) dilation: u32,
    pub(super) inputs: Inputs,
    pub(super) queue: Mutex<VecDeque<Queued>>,
}

/// A delivery to be executed later (clause 2.7.2).
#[derive(Debug, Clone, Copy)]
pub(super) struct Queued {
    delivery: Delivery,
    at: Instant,
}

/// A value that the database did not return although TPC-C's tables have it.
#[derive(Debug)]
struct Missing(&'static str);

/// What a transaction does next: `None` after its last statement.
type Step = Result<Option<StatementId>, Missing>;

/// A transaction in progress.
#[derive(Debug)]
enum Current {
    NewOrder(new_order::State),
    Payment(payment::State),
    OrderStatus(reading::OrderStatusState),
    Delivery(delivery::State),
    StockLevel(reading::StockLevelState),
    /// A delivery that is handed over, or none yet for a client that executes them.
    None,
}

/// Who the client is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Role {
    Terminal(Place),
    /// Executes the deliveries that terminals queue.
    Deliverer,
}

/// A client's transactions.
#[derive(Debug)]
pub struct TpccScript {
    plan: Arc<Plan>,
    client: usize,
    role: Role,
    random: Random,
    /// The cards that are left of the shuffled deck.
    deck: Vec<Kind>,
    kind: Kind,
    current: Current,
    /// The pause before the first statement.
    wait_us: Option<u64>,
    /// A delivery is to be handed over.
    hands_over: bool,
    queued_at: Option<Instant>,
    /// New orders that were committed.
    orders: u64,
    mistake: String,
}

impl TpccScript {
    pub(super) fn new(plan: Arc<Plan>, client: usize, role: Role, random: Random) -> Self {
        Self {
            plan,
            client,
            role,
            random,
            deck: Vec::new(),
            // The think time before the first transaction spreads the terminals.
            kind: Kind::NewOrder,
            current: Current::None,
            wait_us: None,
            hands_over: false,
            queued_at: None,
            orders: 0,
            mistake: String::new(),
        }
    }

    fn deal(&mut self) -> Kind {
        if self.deck.is_empty() {
            self.deck = Kind::deck();
            self.deck.shuffle(&mut self.random);
        }
        self.deck.pop().unwrap_or(Kind::NewOrder)
    }

    fn enter(&mut self, place: Place) {
        let (before, kind) = (self.kind, self.deal());
        self.kind = kind;
        self.plan.inputs.counted().begun(kind);
        let (draws, random) = (self.plan.draws, &mut self.random);
        self.current = match kind {
            Kind::NewOrder => {
                let input = draws.new_order(place.warehouse, random);
                self.plan.inputs.counted().new_order(&input);
                Current::NewOrder(new_order::State::new(input))
            }
            Kind::Payment => {
                let input = draws.payment(place.warehouse, random);
                self.plan.inputs.counted().payment(&input);
                Current::Payment(payment::State::new(input))
            }
            Kind::OrderStatus => {
                let input = draws.order_status(place.warehouse, random);
                self.plan.inputs.counted().order_status(&input);
                Current::OrderStatus(reading::OrderStatusState::new(input))
            }
            Kind::Delivery => {
                let input = inputs::delivery(place.warehouse, random);
                Current::Delivery(delivery::State::new(input))
            }
            Kind::StockLevel => {
                let input = inputs::stock_level(place, random);
                Current::StockLevel(reading::StockLevelState::new(input))
            }
        };
        if self.plan.deferred {
            let think_us = times::think_us(before, random);
            self.wait_us = Some(think_us + times::keying_us(kind));
            self.hands_over = kind == Kind::Delivery;
        }
    }

    /// Queues the delivery; that is all its terminal waits for.
    fn hand_over(&mut self) {
        if let Current::Delivery(state) = std::mem::replace(&mut self.current, Current::None) {
            self.plan.inputs.counted().delivery_queued();
            self.plan.queue().push_back(Queued {
                delivery: state.input,
                at: Instant::now(),
            });
        }
    }

    /// Takes the next delivery, if there is one.
    fn take_over(&mut self) -> bool {
        let Some(queued) = self.plan.queue().pop_front() else {
            return false;
        };
        self.queued_at = Some(queued.at);
        self.current = Current::Delivery(delivery::State::new(queued.delivery));
        true
    }

    fn step(&mut self, args: &mut Args) -> Step {
        let plan = &*self.plan;
        match &mut self.current {
            Current::NewOrder(state) => state.next(plan, args),
            Current::Payment(state) => state.next(plan, args),
            Current::OrderStatus(state) => state.next(plan, args),
            Current::Delivery(state) => state.next(plan, args),
            Current::StockLevel(state) => state.next(plan, args),
            Current::None => Ok(None),
        }
    }
}

impl Plan {
    fn queue(&self) -> std::sync::MutexGuard<'_, VecDeque<Queued>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A value of a reply, which every database of TPC-C's has.
    fn value<T: From<u8>>(&self, found: Option<T>, what: &'static str) -> Result<T, Missing> {
        match found {
            Some(value) => Ok(value),
            None if self.without_tables => Ok(T::from(1)),
            None => Err(Missing(what)),
        }
    }
}

impl Script for TpccScript {
    fn begin(&mut self) -> bool {
        match self.role {
            Role::Terminal(place) => self.enter(place),
            Role::Deliverer => self.current = Current::None,
        }
        true
    }

    /// With the same inputs, and without keying them in again.
    fn begin_again(&mut self) -> bool {
        self.wait_us = None;
        match &mut self.current {
            Current::NewOrder(state) => *state = new_order::State::new(state.input.clone()),
            Current::Payment(state) => *state = payment::State::new(state.input),
            Current::OrderStatus(state) => *state = reading::OrderStatusState::new(state.input),
            Current::Delivery(state) => *state = delivery::State::new(state.input),
            Current::StockLevel(state) => *state = reading::StockLevelState::new(state.input),
            Current::None => {}
        }
        true
    }

    fn next(&mut self, args: &mut Args) -> Option<Next> {
        if let Some(us) = self.wait_us.take() {
            return Some(Next::Wait { us });
        }
        if std::mem::take(&mut self.hands_over) {
            self.hand_over();
            return Some(Next::Sleep { us: 0 });
        }
        if matches!((self.role, &self.current), (Role::Deliverer, Current::None))
            && !self.take_over()
        {
            return Some(Next::Wait { us: LOOK_US });
        }
        args.clear();
        match self.step(args) {
            Ok(statement) => statement.map(Next::Statement),
            Err(Missing(what)) => {
                self.mistake = format!(
                    "{what} is missing, so the tables are not those of TPC-C; check them with \
                     `diskproof-load check tpcc`"
                );
                Some(Next::Fail)
            }
        }
    }

    fn take_reply(&mut self, _reply: Reply, rows: Option<&Rows>, type_index: usize) -> usize {
        match (&mut self.current, rows) {
            (Current::NewOrder(state), Some(rows)) => state.received(rows),
            (Current::Payment(state), Some(rows)) => state.received(rows),
            (Current::OrderStatus(state), Some(rows)) => state.received(rows),
            (Current::Delivery(state), Some(rows)) => state.received(rows),
            (Current::StockLevel(state), Some(rows)) => state.received(rows),
            (Current::None, _) | (_, None) => {}
        }
        type_index
    }

    fn transaction(&self) -> Option<usize> {
        Some(match self.role {
            Role::Terminal(_) => self.kind.place(),
            Role::Deliverer => DEFERRED,
        })
    }

    fn counts(&self) -> bool {
        matches!(self.role, Role::Terminal(_))
    }

    fn acknowledged(&mut self) -> io::Result<()> {
        if let Some(queued_at) = self.queued_at.take() {
            self.plan
                .inputs
                .counted()
                .delivery_done(queued_at.elapsed() / self.plan.dilation);
        }
        if let Some(file) = &self.plan.acknowledgements
            && let Current::NewOrder(state) = &self.current
            && let Some([warehouse, district, order]) = state.committed()
        {
            self.orders += 1;
            file.add_order(self.client, self.orders, [warehouse, district, order])?;
        }
        Ok(())
    }

    fn mistake(&self) -> String {
        self.mistake.clone()
    }
}

fn push_ints(values: &[u64], args: &mut Args) {
    for value in values {
        // Keys of the tables are far below the limit of i64.
        args.push_int(value.cast_signed());
    }
}

/// The customer of a transaction, who may have to be found by last name.
#[derive(Debug)]
struct Sought {
    home: Place,
    customer: Customer,
    found: Option<u64>,
}

impl Sought {
    fn new(home: Place, customer: Customer) -> Self {
        let found = match customer {
            Customer::Number(number) => Some(number),
            Customer::LastName(_) => None,
        };
        Self {
            home,
            customer,
            found,
        }
    }

    /// Pushes the last name to look for; false if the number is known.
    fn push_name(&self, args: &mut Args) -> bool {
        let Customer::LastName(name) = self.customer else {
            return false;
        };
        push_ints(&[self.home.warehouse, self.home.district], args);
        args.push_text(|out| push_last_name(name, out));
        true
    }

    /// Of all who have the name, in the order of first names, the one at n/2 rounded up
    /// (clauses 2.5.2.2 and 2.6.2.2).
    fn choose(&mut self, rows: &Rows) {
        if let Some(last) = rows.count().checked_sub(1) {
            self.found = rows.number(last / 2, 0);
        }
    }

    fn number(&self, plan: &Plan) -> Result<u64, Missing> {
        plan.value(self.found, "a customer's last name")
    }

    /// Pushes the customer's key.
    fn push_key(&self, plan: &Plan, args: &mut Args) -> Result<(), Missing> {
        let number = self.number(plan)?;
        push_ints(&[self.home.warehouse, self.home.district, number], args);
        Ok(())
    }
}

/// An amount in cents.
#[expect(
    clippy::cast_possible_truncation,
    reason = "amounts have at most twelve digits"
)]
fn cents(rows: &Rows, row: usize, column: usize) -> Option<i64> {
    let amount: f64 = rows.number(row, column)?;
    Some((amount * 100.0).round() as i64)
}
