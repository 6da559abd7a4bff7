//! One client of the OLTP workload: draws tables, rows and strings, step by step.

use std::sync::Arc;

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::shape::Step;
use super::statements::Query;
use super::{OltpOptions, Schema};
use crate::driver::{Args, StatementId};
use crate::workload::digits::{push_c, push_numbers, push_pad};
use crate::workload::distribution::Distribution;
use crate::workload::generator::client_generator;
use crate::workload::{Next, Script};

/// A step with the catalogue's id of its statement on the first table.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlannedStep {
    pub(super) step: Step,
    pub(super) first_statement: StatementId,
}

/// Shared by all clients.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) steps: Vec<PlannedStep>,
    pub(super) distribution: Distribution,
    pub(super) options: OltpOptions,
}

/// A client's draws.
#[derive(Debug)]
pub struct OltpScript {
    plan: Arc<Plan>,
    position: usize,
    rng: Xoshiro256PlusPlus,
    table: usize,
    id: u64,
}

impl OltpScript {
    pub(super) fn new(plan: Arc<Plan>, seed: u64, client: usize) -> Self {
        Self {
            position: plan.steps.len(),
            plan,
            rng: client_generator(seed, client),
            table: 0,
            id: 0,
        }
    }

    fn push_args(&mut self, query: Query, args: &mut Args) {
        let rng = &mut self.rng;
        let options = &self.plan.options;
        match query {
            Query::Begin | Query::Commit | Query::Lock | Query::Unlock => {}
            Query::PointSelect | Query::IndexUpdate | Query::Delete | Query::FixedInsert => {
                push_row(self.id, args);
            }
            Query::SimpleRange | Query::SumRange | Query::OrderRange | Query::DistinctRange => {
                let (first, last) = options.range(query, self.id);
                push_row(first, args);
                push_row(last, args);
            }
            Query::NonIndexUpdate => {
                args.push_text(|out| match options.schema {
                    Schema::Numbered => push_c(rng, out),
                    Schema::Single => push_numbers(rng, out),
                });
                push_row(self.id, args);
            }
            Query::Insert | Query::AppendedInsert => {
                if query == Query::Insert {
                    push_row(self.id, args);
                }
                push_row(self.plan.distribution.draw(rng), args);
                args.push_text(|out| push_c(rng, out));
                args.push_text(|out| push_pad(rng, out));
            }
        }
    }
}

impl OltpOptions {
    /// The first and the last id of a range. sysbench 0.4 keeps ranges inside the table (and off
    /// its last row, as it happens), and its DISTINCT takes one row more.
    fn range(&self, query: Query, id: u64) -> (u64, u64) {
        match self.schema {
            Schema::Numbered => (id, id + self.range_rows - 1),
            Schema::Single => {
                let highest = self.rows.saturating_sub(self.range_rows).max(1);
                let first = id.min(highest);
                let rows = match query {
                    Query::DistinctRange => self.range_rows + 1,
                    _ => self.range_rows,
                };
                (first, first + rows - 1)
            }
        }
    }
}

impl Script for OltpScript {
    fn begin(&mut self) -> bool {
        self.position = 0;
        true
    }

    fn next(&mut self, args: &mut Args) -> Option<Next> {
        let PlannedStep {
            step,
            first_statement,
        } = *self.plan.steps.get(self.position)?;
        self.position += 1;
        if step.new_table {
            self.table = self.rng.random_range(0..self.plan.options.tables);
        }
        if step.new_id {
            self.id = self.plan.distribution.draw(&mut self.rng);
        }
        args.clear();
        self.push_args(step.query, args);
        let table = if step.query.is_on_table() {
            self.table
        } else {
            0
        };
        Some(Next::Statement(first_statement + table))
    }
}

fn push_row(row: u64, args: &mut Args) {
    // Rows are counted by an integer column of the tables, far below the limit of i64.
    args.push_int(row.cast_signed());
}
