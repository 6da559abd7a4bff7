//! One client of the conditions database: visit after visit.

use std::sync::Arc;

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::ConditionsOptions;
use crate::driver::{Args, StatementId};
use crate::workload::digits::push_letters;
use crate::workload::generator::client_generator;
use crate::workload::{Next, Script};

/// Shared by all clients.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) options: ConditionsOptions,
    /// The type of connecting, where clients leave.
    pub(super) connect: Option<usize>,
    /// The statements on the first table; those on the others follow them.
    pub(super) validity_end: StatementId,
    pub(super) entry: StatementId,
    pub(super) append: Option<StatementId>,
}

/// A client's draws.
#[derive(Debug)]
pub struct ConditionsScript {
    plan: Arc<Plan>,
    rng: Xoshiro256PlusPlus,
    step: Step,
    /// The time that the visit is about, in seconds since 1970.
    time_s: u32,
    /// The table that the visit began with; the others follow it, the first the last.
    first_table: usize,
    element: u64,
}

/// A client's position in its visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Connect,
    /// The first question to the table that has this place in the visit.
    ValidityEnd(usize),
    /// The second one.
    Entry(usize),
}

impl ConditionsScript {
    pub(super) fn new(plan: Arc<Plan>, seed: u64, client: usize) -> Self {
        Self {
            rng: client_generator(seed, client),
            step: Step::ValidityEnd(plan.options.tables_per_visit),
            plan,
            time_s: 0,
            first_table: 0,
            element: 0,
        }
    }

    fn draw_time(&mut self) -> u32 {
        let ConditionsOptions {
            history,
            hot_percent,
            ..
        } = self.plan.options;
        if self.rng.random_range(0.0..100.0) < hot_percent {
            self.draw_recent_time()
        } else {
            self.rng
                .random_range(history.complete_s()..=history.present_s())
        }
    }

    fn draw_recent_time(&mut self) -> u32 {
        let ConditionsOptions { history, hot_s, .. } = self.plan.options;
        let present_s = history.present_s();
        let earliest_s = (present_s.saturating_sub(hot_s) + 1).max(history.complete_s());
        self.rng.random_range(earliest_s.min(present_s)..=present_s)
    }

    fn table(&self, place: usize) -> usize {
        (self.first_table + place) % self.plan.options.tables
    }

    fn ask_validity_end(&mut self, place: usize, args: &mut Args) -> Option<Next> {
        if place == self.plan.options.tables_per_visit {
            return None;
        }
        self.element = self
            .rng
            .random_range(0..self.plan.options.history.elements());
        if let Some(append) = self.plan.append
            && self.rng.random_bool(self.plan.options.appends)
        {
            self.step = Step::ValidityEnd(place + 1);
            return Some(self.append(append + self.table(place), args));
        }
        self.step = Step::Entry(place);
        Some(self.ask(self.plan.validity_end + self.table(place), args))
    }

    fn ask(&self, statement: StatementId, args: &mut Args) -> Next {
        args.clear();
        args.push_int(self.element.cast_signed());
        args.push_int(self.time_s.into());
        Next::Statement(statement)
    }

    /// A new entry begins within the last hours, and is made now.
    fn append(&mut self, statement: StatementId, args: &mut Args) -> Next {
        let begin_s = self.draw_recent_time();
        args.clear();
        args.push_int(self.plan.options.history.present_s().into());
        args.push_int(self.element.cast_signed());
        args.push_int(begin_s.into());
        let bytes = self.plan.options.payload_bytes;
        args.push_text(|out| push_letters(bytes, &mut self.rng, out));
        Next::Statement(statement)
    }
}

impl Script for ConditionsScript {
    fn begin(&mut self) -> bool {
        self.time_s = self.draw_time();
        self.first_table = self.rng.random_range(0..self.plan.options.tables);
        self.step = match self.plan.connect {
            Some(_) => Step::Connect,
            None => Step::ValidityEnd(0),
        };
        true
    }

    fn next(&mut self, args: &mut Args) -> Option<Next> {
        match self.step {
            Step::Connect => {
                self.step = Step::ValidityEnd(0);
                let type_index = self.plan.connect?;
                Some(Next::Reconnect { type_index })
            }
            Step::ValidityEnd(place) => self.ask_validity_end(place, args),
            Step::Entry(place) => {
                self.step = Step::ValidityEnd(place + 1);
                Some(self.ask(self.plan.entry + self.table(place), args))
            }
        }
    }
}
