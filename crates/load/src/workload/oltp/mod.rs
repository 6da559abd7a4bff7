//! sysbench's OLTP workload: its tables, its transactions, its draws.

use std::sync::Arc;

use super::distribution::{Distribution, Law};
use super::{Catalogue, Workload};
use crate::driver::{Dialect, Kind, ServerError, StatementId};

mod counts;
mod mix;
mod rows;
mod schema;
mod script;
mod shape;
mod statements;
#[cfg(test)]
mod tests;

pub use counts::{Counts, GROUPS};
pub use mix::Mix;
pub use rows::OltpRows;
pub use schema::Schema;
pub use script::OltpScript;
use script::{Plan, PlannedStep};
pub use shape::Bracket;
use shape::Step;
use statements::{Query, Target};

/// The user's options.
#[derive(Debug, Clone)]
pub struct OltpOptions {
    pub schema: Schema,
    pub mix: Mix,
    pub counts: Counts,
    /// Rows that a range SELECT asks for, at least one; sysbench's `--range_size`.
    pub range_rows: u64,
    pub bracket: Bracket,
    /// At least one table.
    pub tables: usize,
    /// Rows in each table when it was loaded, at least one.
    pub rows: u64,
    pub distribution: Law,
    pub seed: u64,
}

impl OltpOptions {
    /// A mix as sysbench's own script runs it.
    pub fn new(
        mix: Mix,
        tables: usize,
        rows: u64,
        distribution: impl Into<Law>,
        seed: u64,
    ) -> Self {
        Self {
            schema: Schema::Numbered,
            mix,
            counts: mix.counts(),
            range_rows: 100,
            bracket: Bracket::Transaction,
            tables,
            rows,
            distribution: distribution.into(),
            seed,
        }
    }
}

/// The workload with its catalogue, for one dialect.
#[derive(Debug)]
pub struct Oltp {
    seed: u64,
    catalogue: Catalogue,
    plan: Arc<Plan>,
}

impl Oltp {
    /// # Panics
    /// If the transaction would have no statement.
    pub fn new(options: &OltpOptions, dialect: Dialect) -> Self {
        let steps = options.mix.steps(options);
        assert!(
            steps.iter().any(|step| step.query.is_on_table()),
            "{options:?}"
        );
        let target = Target {
            dialect,
            schema: options.schema,
            tables: options.tables,
            writes: steps.iter().any(|step| step.query.kind() == Kind::Write),
        };
        let mut catalogue = Catalogue::default();
        let steps = planned(&steps, target, &mut catalogue);
        Self {
            seed: options.seed,
            catalogue,
            plan: Arc::new(Plan {
                steps,
                distribution: Distribution::new(options.distribution, options.rows),
                options: options.clone(),
            }),
        }
    }
}

/// Puts each query into the catalogue once, and with it the way to give a transaction up.
fn planned(steps: &[Step], target: Target, catalogue: &mut Catalogue) -> Vec<PlannedStep> {
    let mut first_of: Vec<(Query, StatementId)> = Vec::new();
    let mut planned = Vec::with_capacity(steps.len());
    for step in steps {
        let query = step.query;
        let known = first_of.iter().find(|(known, _)| *known == query);
        let first_statement = if let Some((_, first)) = known {
            *first
        } else {
            let first = catalogue.add(query.name(), query.kind(), query.statements(target));
            first_of.push((query, first));
            first
        };
        planned.push(PlannedStep {
            step: *step,
            first_statement,
        });
    }
    match steps.first().map(|step| step.query) {
        Some(Query::Begin) => catalogue.roll_back_with("ROLLBACK"),
        Some(Query::Lock) => catalogue.roll_back_with("UNLOCK TABLES"),
        _ => {}
    }
    planned
}

impl Workload for Oltp {
    type Script = OltpScript;

    fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn script(&self, client: usize) -> OltpScript {
        OltpScript::new(Arc::clone(&self.plan), self.seed, client)
    }

    /// `PostgreSQL` at READ COMMITTED lets two clients delete the same row and refuses the second
    /// one's INSERT of it (`unique_violation`); sysbench runs such a transaction again, too.
    fn collides(&self, error: &ServerError) -> bool {
        error.code == "23505"
    }
}
