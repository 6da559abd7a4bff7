//! A detector's conditions database, as the STAR experiment's clients ask it.
//!
//! Calibrations, gains, voltages: each table holds one such quantity, and each entry is valid from
//! its begin until the next entry begins. A client that works on a run of the detector connects,
//! asks many tables for the entry that was valid at one time, and leaves. It sends two queries per
//! table: when the next entry begins, and what the latest entry not after that time is. Most
//! clients work on recent data, some on old runs. Entries are appended seldom, and none is ever
//! changed.

use std::sync::Arc;

use super::{Catalogue, Workload};
use crate::driver::Kind;

mod history;
mod script;
mod statements;
pub mod tables;
#[cfg(test)]
mod tests;

pub use history::{Entry, History};
pub use script::ConditionsScript;
use script::Plan;
use statements::Query;

/// The user's options.
#[derive(Debug, Clone)]
pub struct ConditionsOptions {
    /// Tables `conditions1` to `conditionsN`, at least one.
    pub tables: usize,
    pub history: History,
    /// Length of an entry's payload.
    pub payload_bytes: usize,
    /// The share of visits that ask for the last hours, 0 to 100; the others ask for any time.
    pub hot_percent: f64,
    /// How long ago the last hours begin.
    pub hot_s: u32,
    /// Tables that a visit asks, at most all of them.
    pub tables_per_visit: usize,
    /// The share of queries that a new entry replaces, 0 to 1.
    pub appends: f64,
    /// Clients stay connected from visit to visit.
    pub stay: bool,
    pub seed: u64,
}

/// The workload with its catalogue; its SQL is the same in every dialect.
#[derive(Debug)]
pub struct Conditions {
    seed: u64,
    catalogue: Catalogue,
    plan: Arc<Plan>,
}

impl Conditions {
    /// # Panics
    /// If there is no table to ask.
    #[must_use]
    pub fn new(options: &ConditionsOptions) -> Self {
        assert!(options.tables > 0 && options.tables_per_visit > 0);
        let mut catalogue = Catalogue::default();
        let connect = (!options.stay).then(|| {
            catalogue.add("connect", Kind::Other, []);
            catalogue.types().len() - 1
        });
        let mut add = |query: Query| {
            let statements = (1..=options.tables).map(|number| query.statement(number));
            catalogue.add(query.name(), query.kind(), statements)
        };
        let validity_end = add(Query::ValidityEnd);
        let entry = add(Query::Entry);
        let append = (options.appends > 0.0).then(|| add(Query::Append));
        Self {
            seed: options.seed,
            plan: Arc::new(Plan {
                options: options.clone(),
                connect,
                validity_end,
                entry,
                append,
            }),
            catalogue,
        }
    }
}

impl Workload for Conditions {
    type Script = ConditionsScript;

    fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn script(&self, client: usize) -> ConditionsScript {
        ConditionsScript::new(Arc::clone(&self.plan), self.seed, client)
    }
}
