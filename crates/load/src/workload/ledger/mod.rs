//! Transfers between accounts, each with a numbered entry: a load with commits that can all be
//! looked up afterwards.
//!
//! These hold in the database at any moment, whatever is in progress. The balances of all accounts
//! add up to their initial sum. Each account holds the balance that its entries make. A client's
//! entries are numbered from 1 without a gap. A transaction that the server rolls back runs again
//! under its number. So each acknowledged commit can be looked up by client and number, and a
//! partial one shows.

use std::sync::Arc;

use super::{Catalogue, Workload};
use crate::driver::{Dialect, Kind, Statement};

mod acknowledgements;
mod script;
#[cfg(test)]
mod tests;

pub use acknowledgements::Acknowledgements;
pub use script::LedgerScript;
use script::Plan;

// The tables, which cli/scripted/ledger.lua makes.
const ACCOUNTS: &str = "ledger_accounts";
const ENTRIES: &str = "ledger_entries";

/// The most that one transfer moves; the least is 1.
const MOST_MOVED: u64 = 1_000;

/// The user's options.
#[derive(Debug)]
pub struct LedgerOptions {
    /// Their ids run from 1; at least two.
    pub accounts: u64,
    /// Length of an entry's filler.
    pub filler_bytes: usize,
    pub seed: u64,
    /// The file for each client's acknowledgements, if any.
    pub acknowledgements: Option<Acknowledgements>,
    /// Whether clients write down what failed, and continue.
    pub bears_errors: bool,
}

/// The workload with its catalogue, for one dialect.
#[derive(Debug)]
pub struct Ledger {
    catalogue: Catalogue,
    plan: Arc<Plan>,
}

impl Ledger {
    /// # Panics
    /// If there are not two accounts to move something between.
    pub fn new(options: LedgerOptions, dialect: Dialect) -> Self {
        assert!(options.accounts >= 2, "{options:?}");
        let mut catalogue = Catalogue::default();
        let mut add =
            |name, kind, sql: String| catalogue.add(name, kind, [Statement::prepared(sql)]);
        let begin = add("begin", Kind::Other, begin(dialect).into());
        let account_update = add(
            "account_update",
            Kind::Write,
            format!("UPDATE {ACCOUNTS} SET balance=balance+?, transfers=transfers+1 WHERE id=?"),
        );
        let entry_insert = add(
            "entry_insert",
            Kind::Write,
            format!(
                "INSERT INTO {ENTRIES} (client, number, source, target, amount, filler) VALUES (?, ?, ?, ?, ?, ?)"
            ),
        );
        let commit = add("commit", Kind::Other, "COMMIT".into());
        catalogue.roll_back_with("ROLLBACK");
        Self {
            catalogue,
            plan: Arc::new(Plan {
                options,
                statements: [begin, account_update, account_update, entry_insert, commit],
            }),
        }
    }
}

/// A plain BEGIN of SQLite's could not wait for another writer.
fn begin(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Mysql | Dialect::Postgres => "BEGIN",
        Dialect::Sqlite => "BEGIN IMMEDIATE",
    }
}

impl Workload for Ledger {
    type Script = LedgerScript;

    fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn script(&self, client: usize) -> LedgerScript {
        LedgerScript::new(Arc::clone(&self.plan), client)
    }

    /// The check against the acknowledgements must know which number may be there without one: a
    /// client's next, and no other, unless the clients write down what failed.
    fn ends_in_doubt(&self) -> bool {
        let options = &self.plan.options;
        options.acknowledgements.is_some() && !options.bears_errors
    }
}
