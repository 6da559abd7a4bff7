//! TPC-C, from the standard specification, revision 5.11 (Transaction Processing Performance
//! Council, February 2010). Comments name its clauses.
//!
//! Terminals enter the five transactions of a wholesale supplier, without keying and think times: each
//! client begins its next transaction at once, so the result is no tpmC.

use std::sync::Arc;

use super::generator::client_generator;
use super::ledger::Acknowledgements;
use super::{Catalogue, Workload};
use crate::driver::rows::Keep;

mod account;
mod inputs;
pub mod random;
mod script;
mod statements;
#[cfg(test)]
mod tests;

pub use account::Account;
use account::{Inputs, Run};
use inputs::Place;
use random::{Constants, DISTRICTS};
use script::Plan;
pub use script::TpccScript;

/// The user's options.
#[derive(Debug)]
pub struct TpccOptions {
    pub warehouses: u64,
    /// Clients that enter transactions.
    pub terminals: usize,
    pub seed: u64,
    /// The file for the acknowledged new orders, if any.
    pub acknowledgements: Option<Acknowledgements>,
    /// False if the database keeps nothing, and so returns no values.
    pub has_tables: bool,
}

/// The workload with its catalogue, for one dialect.
#[derive(Debug)]
pub struct Tpcc {
    catalogue: Catalogue,
    plan: Arc<Plan>,
    seed: u64,
}

impl Tpcc {
    /// The catalogue is that of cli/scripted/tpcc.lua.
    pub fn new(options: TpccOptions, mut catalogue: Catalogue) -> Self {
        catalogue.transactions = vec![
            "new_order",
            "payment",
            "order_status",
            "delivery",
            "stock_level",
        ];
        let run = Run {
            warehouses: options.warehouses,
            terminals: options.terminals as u64,
            constants: Constants::draw(options.seed),
        };
        Self {
            catalogue,
            plan: Arc::new(Plan {
                draws: run,
                without_tables: !options.has_tables,
                acknowledgements: options.acknowledgements,
                inputs: Inputs::new(run),
            }),
            seed: options.seed,
        }
    }

    /// The terminals go through the warehouses, then through the districts of each.
    fn place(&self, client: usize) -> Place {
        let (client, warehouses) = (client as u64, self.plan.draws.warehouses);
        Place {
            warehouse: client % warehouses + 1,
            district: client / warehouses % DISTRICTS + 1,
        }
    }
}

impl Workload for Tpcc {
    type Script = TpccScript;

    fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn script(&self, client: usize) -> TpccScript {
        let random = client_generator(self.seed, client);
        TpccScript::new(Arc::clone(&self.plan), client, self.place(client), random)
    }

    fn keeps(&self) -> Option<Keep> {
        Some(Keep::ALL)
    }

    fn account(&self) -> Option<super::Account> {
        let account = self.plan.inputs.counted().clone();
        Some(super::Account::Tpcc(Box::new(account)))
    }

    /// The check against the acknowledgements must know which order may be there without one.
    fn ends_in_doubt(&self) -> bool {
        self.plan.acknowledgements.is_some()
    }
}
