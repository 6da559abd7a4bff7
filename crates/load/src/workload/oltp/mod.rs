//! sysbench's OLTP workload: its tables, its transactions, its draws.

use std::sync::Arc;

use super::distribution::{Choice, Distribution};
use super::{Catalogue, Workload};
use crate::driver::{Dialect, Kind, ServerError, StatementId};

mod mix;
mod script;
mod statements;
pub mod tables;

pub use mix::Mix;
use mix::Step;
pub use script::OltpScript;
use script::PlannedStep;
use statements::Query;

/// What a user chooses.
#[derive(Debug, Clone)]
pub struct OltpOptions {
    pub mix: Mix,
    /// Tables `sbtest1` to `sbtestN`, at least one.
    pub tables: usize,
    /// Rows in each table when it was loaded, at least one.
    pub rows: u64,
    pub distribution: Choice,
    /// Send no BEGIN and no COMMIT: every statement commits itself.
    pub skip_trx: bool,
    pub seed: u64,
}

/// The workload with its catalogue, for one dialect.
#[derive(Debug)]
pub struct Oltp {
    options: OltpOptions,
    catalogue: Catalogue,
    plan: Arc<[PlannedStep]>,
    rows: Distribution,
}

impl Oltp {
    #[must_use]
    pub fn new(options: OltpOptions, dialect: Dialect) -> Self {
        let steps = options.mix.steps(options.skip_trx);
        let writes = steps.iter().any(|step| step.query.kind() == Kind::Write);
        let mut catalogue = Catalogue::default();
        let mut first_of: Vec<(Query, StatementId)> = Vec::new();
        for step in &steps {
            let query = step.query;
            if !first_of.iter().any(|(known, _)| *known == query) {
                let statements = query.statements(dialect, options.tables, writes);
                first_of.push((query, catalogue.add(query.name(), query.kind(), statements)));
            }
        }
        if first_of.iter().any(|(query, _)| *query == Query::Begin) {
            catalogue.roll_back_with("ROLLBACK");
        }
        let first_statement = |step: &Step| {
            let found = first_of.iter().find(|(query, _)| *query == step.query);
            found.expect("every step's query was added above").1
        };
        let plan = steps
            .into_iter()
            .map(|step| PlannedStep {
                first_statement: first_statement(&step),
                step,
            })
            .collect();
        let rows = Distribution::new(options.distribution, options.rows);
        Self {
            options,
            catalogue,
            plan,
            rows,
        }
    }
}

impl Workload for Oltp {
    type Script = OltpScript;

    fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn script(&self, client: usize) -> OltpScript {
        let OltpOptions { tables, seed, .. } = self.options;
        OltpScript::new(Arc::clone(&self.plan), tables, self.rows, seed, client)
    }

    /// `PostgreSQL` at READ COMMITTED lets two clients delete the same row and refuses the second
    /// one's INSERT of it (`unique_violation`); sysbench runs such a transaction again, too.
    fn collides(&self, error: &ServerError) -> bool {
        error.code == "23505"
    }
}
