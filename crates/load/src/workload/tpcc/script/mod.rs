//! One client: a terminal with its user.

mod transactions;

use std::io;
use std::sync::Arc;

use rand::seq::SliceRandom;

use super::account::{Inputs, Run};
use super::inputs::{self, Kind, Place};
use super::random::Random;
use crate::driver::rows::Rows;
use crate::driver::{Args, Reply};
use crate::workload::ledger::Acknowledgements;
use crate::workload::{Next, Script};
use transactions::{Course, Input, Missing};

/// Shared by all clients.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) draws: Run,
    /// There are no tables, and so no values: a missing one counts as 1.
    pub(super) without_tables: bool,
    pub(super) acknowledgements: Option<Acknowledgements>,
    pub(super) inputs: Inputs,
}

/// A client's transactions.
pub struct TpccScript {
    plan: Arc<Plan>,
    client: usize,
    place: Place,
    random: Random,
    /// The cards that are left of the shuffled deck.
    deck: Vec<Kind>,
    kind: Kind,
    /// What was entered.
    input: Option<Input>,
    course: Course,
    /// New orders that were committed.
    orders: u64,
    mistake: String,
}

impl TpccScript {
    pub(super) fn new(plan: Arc<Plan>, client: usize, place: Place, random: Random) -> Self {
        let course = Course::new(Arc::clone(&plan));
        Self {
            plan,
            client,
            place,
            random,
            deck: Vec::new(),
            kind: Kind::NewOrder,
            input: None,
            course,
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

    fn enter(&mut self) {
        let (place, kind) = (self.place, self.deal());
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
        self.course.begin(input.clone());
        self.input = Some(input);
    }
}

impl Plan {
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
        self.enter();
        true
    }

    /// With the same inputs.
    fn begin_again(&mut self) -> bool {
        if let Some(input) = self.input.clone() {
            self.course.begin(input);
        }
        true
    }

    fn next(&mut self, args: &mut Args) -> Option<Next> {
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
        Some(self.kind as usize)
    }

    fn acknowledged(&mut self) -> io::Result<()> {
        if let Some(file) = &self.plan.acknowledgements
            && let Some(order) = self.course.committed()
        {
            self.orders += 1;
            file.add(self.client, self.orders, &order)?;
        }
        Ok(())
    }

    fn mistake(&self) -> String {
        self.mistake.clone()
    }
}
