//! One client: a terminal with its user, or one that executes deferred deliveries.

mod transactions;

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use rand::seq::SliceRandom;

use super::account::Inputs;
use super::inputs::{self, Delivery, Draws, Kind, Place};
use super::random::Random;
use super::times;
use crate::driver::rows::Rows;
use crate::driver::{Args, Reply};
use crate::workload::ledger::Acknowledgements;
use crate::workload::{Next, Script};
use transactions::{Course, Input, Missing};

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

/// Who the client is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Role {
    Terminal(Place),
    /// Executes the deliveries that terminals queue.
    Deliverer,
}

/// A client's transactions.
pub struct TpccScript {
    plan: Arc<Plan>,
    client: usize,
    role: Role,
    random: Random,
    /// The cards that are left of the shuffled deck.
    deck: Vec<Kind>,
    kind: Kind,
    /// What was entered; nothing once a delivery is handed over, or before one is taken over.
    input: Option<Input>,
    course: Course,
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
        let course = Course::new(Arc::clone(&plan));
        Self {
            plan,
            client,
            role,
            random,
            deck: Vec::new(),
            // The think time before the first transaction spreads the terminals.
            kind: Kind::NewOrder,
            input: None,
            course,
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
        let input = match kind {
            Kind::NewOrder => {
                let input = draws.new_order(place.warehouse, random);
                self.plan.inputs.counted().new_order(&input);
                Input::NewOrder(input)
            }
            Kind::Payment => {
                let input = draws.payment(place.warehouse, random);
                self.plan.inputs.counted().payment(&input);
                Input::Payment(input)
            }
            Kind::OrderStatus => {
                let input = draws.order_status(place.warehouse, random);
                self.plan.inputs.counted().order_status(&input);
                Input::OrderStatus(input)
            }
            Kind::Delivery => Input::Delivery(inputs::delivery(place.warehouse, random)),
            Kind::StockLevel => Input::StockLevel(inputs::stock_level(place, random)),
        };
        if self.plan.deferred {
            let think_us = times::think_us(before, random);
            self.wait_us = Some(think_us + times::keying_us(kind));
            self.hands_over = kind == Kind::Delivery;
        }
        self.take_up(input);
    }

    /// Queues the delivery; that is all its terminal waits for.
    fn hand_over(&mut self) {
        self.course.end();
        if let Some(Input::Delivery(delivery)) = self.input.take() {
            self.plan.inputs.counted().delivery_queued();
            self.plan.queue().push_back(Queued {
                delivery,
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
        self.take_up(Input::Delivery(queued.delivery));
        true
    }

    fn take_up(&mut self, input: Input) {
        self.course.begin(input.clone());
        self.input = Some(input);
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
            Role::Deliverer => self.input = None,
        }
        true
    }

    /// With the same inputs, and without keying them in again.
    fn begin_again(&mut self) -> bool {
        self.wait_us = None;
        if let Some(input) = self.input.clone() {
            self.course.begin(input);
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
        if self.input.is_none() && matches!(self.role, Role::Deliverer) && !self.take_over() {
            return Some(Next::Wait { us: LOOK_US });
        }
        match self.course.next(args) {
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
        if let Some(rows) = rows {
            self.course.received(rows);
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
            && let Some(order) = self.course.committed()
        {
            self.orders += 1;
            file.add_order(self.client, self.orders, order)?;
        }
        Ok(())
    }

    fn mistake(&self) -> String {
        self.mistake.clone()
    }
}
