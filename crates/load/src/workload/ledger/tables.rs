//! The tables `ledger_accounts` and `ledger_entries`.

use crate::driver::{Admin, Args, Dialect, Fault};
use crate::workload::digits::push_letters;
use crate::workload::generator::generator;
use crate::workload::tables::{Progress, TableSet, load};

pub const ACCOUNTS: &str = "ledger_accounts";
pub const ENTRIES: &str = "ledger_entries";

/// Both, in the order of their numbers.
pub const NAMES: [&str; 2] = [ACCOUNTS, ENTRIES];

/// Initial balance of every account.
pub const FIRST_BALANCE: i64 = 1_000_000;

const ACCOUNT_COLUMNS: [&str; 4] = ["id", "balance", "transfers", "filler"];
const ENTRY_COLUMNS: [&str; 6] = ["client", "number", "source", "target", "amount", "filler"];

/// The first column of the entries' index.
pub const INDEXED_COLUMN: &str = ENTRY_COLUMNS[0];

/// The options of the tables.
#[derive(Debug, Clone)]
pub struct LedgerTables {
    pub accounts: u64,
    pub filler_bytes: usize,
    /// Seed of the fillers.
    pub seed: u64,
}

/// The columns of a table of ours, by which it is known as one.
#[must_use]
pub fn columns(name: &str) -> &'static [&'static str] {
    if name == ACCOUNTS {
        &ACCOUNT_COLUMNS
    } else {
        &ENTRY_COLUMNS
    }
}

impl TableSet for LedgerTables {
    fn workload(&self) -> &'static str {
        "ledger"
    }

    fn count(&self) -> usize {
        NAMES.len()
    }

    fn rows(&self, number: usize) -> u64 {
        if self.name(number) == ACCOUNTS {
            self.accounts
        } else {
            0
        }
    }

    fn name(&self, number: usize) -> String {
        NAMES[number - 1].to_owned()
    }

    fn build(
        &self,
        admin: &mut dyn Admin,
        dialect: Dialect,
        number: usize,
        progress: &Progress,
    ) -> Result<u64, Fault> {
        if self.name(number) == ACCOUNTS {
            admin.execute(&self.accounts_definition(dialect))?;
            return self.load_accounts(admin, progress);
        }
        admin.execute(&self.entries_definition(dialect))?;
        // Not unique: an entry that a recovery brings twice is to be seen, not refused.
        admin.execute(&format!(
            "CREATE INDEX {ENTRIES}_numbers ON {ENTRIES} (client, number)"
        ))?;
        Ok(0)
    }
}

impl LedgerTables {
    fn load_accounts(&self, admin: &mut dyn Admin, progress: &Progress) -> Result<u64, Fault> {
        let fill = |id: u64, args: &mut Args| {
            args.push_int(id.cast_signed());
            args.push_int(FIRST_BALANCE);
            args.push_int(0);
            let mut rng = generator(self.seed, [0, id]);
            args.push_text(|out| push_letters(self.filler_bytes, &mut rng, out));
        };
        let ids = 1..=self.accounts;
        load(admin, ACCOUNTS, &ACCOUNT_COLUMNS, ids, progress, fill)
    }

    fn accounts_definition(&self, dialect: Dialect) -> String {
        let (filler, suffix) = (self.filler(dialect), suffix(dialect));
        format!(
            "CREATE TABLE {ACCOUNTS} (\
               id INTEGER NOT NULL, \
               balance BIGINT NOT NULL, \
               transfers BIGINT NOT NULL, \
               filler {filler}, \
               PRIMARY KEY (id)\
             ){suffix}"
        )
    }

    fn entries_definition(&self, dialect: Dialect) -> String {
        let (filler, suffix) = (self.filler(dialect), suffix(dialect));
        format!(
            "CREATE TABLE {ENTRIES} (\
               client INTEGER NOT NULL, \
               number BIGINT NOT NULL, \
               source INTEGER NOT NULL, \
               target INTEGER NOT NULL, \
               amount INTEGER NOT NULL, \
               filler {filler}\
             ){suffix}"
        )
    }

    /// PostgreSQL knows no text of no length.
    fn filler(&self, dialect: Dialect) -> String {
        let letters = match dialect {
            Dialect::Mysql => " CHARACTER SET latin1",
            Dialect::Postgres | Dialect::Sqlite => "",
        };
        format!("VARCHAR({}){letters} NOT NULL", self.filler_bytes.max(1))
    }
}

/// A ledger without transactions would be none.
fn suffix(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Mysql => " ENGINE=InnoDB",
        Dialect::Postgres | Dialect::Sqlite => "",
    }
}
