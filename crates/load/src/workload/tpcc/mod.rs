//! TPC-C, from the standard specification, revision 5.11 (Transaction Processing Performance
//! Council, February 2010). Comments name its clauses.
//!
//! Terminals enter the five transactions of a wholesale supplier. With keying and think times it is
//! the specified load; without them each client begins its next transaction at once, and the result
//! is no tpmC.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

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
mod times;

pub use account::{Account, Deferred};
use account::{Inputs, Run};
use inputs::{Draws, Place};
use random::{Constants, DISTRICTS};
pub use script::TpccScript;
use script::{Plan, Role};

/// Warehouses for which one client executes deferred deliveries: each has about one a minute.
const WAREHOUSES_A_DELIVERER: u64 = 10;

/// The user's options.
#[derive(Debug)]
pub struct TpccOptions {
    pub warehouses: u64,
    /// Clients that enter transactions.
    pub terminals: usize,
    /// Keying and think times, and deliveries that are deferred.
    pub think_times: bool,
    pub seed: u64,
    /// The file for the acknowledged new orders, if any.
    pub acknowledgements: Option<Acknowledgements>,
    /// How many times slower than the machine's the time of the run passes.
    pub dilation: u32,
    /// False if the database keeps nothing, and so returns no values.
    pub has_tables: bool,
}

/// Clients that execute the deliveries which the terminals of so many warehouses queue.
#[must_use]
pub fn deliverers(warehouses: u64) -> usize {
    random::index(warehouses.div_ceil(WAREHOUSES_A_DELIVERER))
}

/// The workload with its catalogue, for one dialect.
#[derive(Debug)]
pub struct Tpcc {
    catalogue: Catalogue,
    plan: Arc<Plan>,
    run: Run,
    seed: u64,
}

impl Tpcc {
    /// The catalogue is that of cli/scripted/tpcc.lua.
    #[must_use]
    pub fn new(options: TpccOptions, mut catalogue: Catalogue) -> Self {
        let mut kinds = vec![
            "new_order",
            "payment",
            "order_status",
            "delivery",
            "stock_level",
        ];
        if options.think_times {
            kinds.push("deferred_delivery");
        }
        catalogue.tell_apart(&kinds);
        let constants = Constants::draw(options.seed);
        let run = Run {
            warehouses: options.warehouses,
            terminals: options.terminals as u64,
            deferred: options.think_times,
            constants,
        };
        Self {
            catalogue,
            run,
            plan: Arc::new(Plan {
                draws: Draws {
                    warehouses: options.warehouses,
                    constants,
                },
                deferred: options.think_times,
                without_tables: !options.has_tables,
                acknowledgements: options.acknowledgements,
                dilation: options.dilation,
                inputs: Inputs::new(run),
                queue: Mutex::new(VecDeque::new()),
            }),
            seed: options.seed,
        }
    }

    /// The terminals go through the warehouses, then through the districts of each.
    fn role(&self, client: usize) -> Role {
        let client = client as u64;
        if client >= self.run.terminals {
            return Role::Deliverer;
        }
        Role::Terminal(Place {
            warehouse: client % self.run.warehouses + 1,
            district: client / self.run.warehouses % DISTRICTS + 1,
        })
    }
}

impl Workload for Tpcc {
    type Script = TpccScript;

    fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn script(&self, client: usize) -> TpccScript {
        let random = client_generator(self.seed, client);
        TpccScript::new(Arc::clone(&self.plan), client, self.role(client), random)
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
