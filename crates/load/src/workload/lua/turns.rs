//! A stage of a script's job: turns that are dealt out among its clients. A load that runs for a time has turns
//! without end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mlua::{Lua, Table};

use super::Setup;
use super::client::LuaClient;
use crate::driver::ServerError;
use crate::workload::{Catalogue, Expected, Workload};

/// The turns of a stage, shared by its clients.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// The script finds by it what a turn is.
    pub(super) key: String,
    /// The stage's number, from 1: its draws are others than those of the stages before.
    pub(super) stage: u64,
    pub(super) count: u64,
    pub(super) clients: u64,
    /// Texts that its clients may read, such as the keys of a table.
    pub(super) texts: Vec<String>,
    /// Statements of the first type must be refused, as rows that are there already.
    pub(super) refused: bool,
    /// Whether the numbers of rows that turns say are checked: those sent, and those changed.
    pub(super) checks: (bool, bool),
    pub(super) begun: AtomicU64,
    pub(super) rows: AtomicU64,
    pub(super) affected: AtomicU64,
}

impl Turns {
    pub(super) fn begin(&self) {
        self.begun.fetch_add(1, Ordering::Relaxed);
    }

    /// Another statement must send and change so many rows.
    pub(super) fn expect(&self, rows: u64, affected: u64) {
        for (sum, more) in [(&self.rows, rows), (&self.affected, affected)] {
            // The clients share it.
            if more > 0 {
                sum.fetch_add(more, Ordering::Relaxed);
            }
        }
    }

    /// Puts what a client needs into the table that the prelude reads.
    pub(super) fn install(self: &Arc<Self>, lua: &Lua, host: &Table) -> mlua::Result<()> {
        host.set("key", self.key.as_str())?;
        host.set("texts", self.texts.len())?;
        let own = Arc::clone(self);
        let text = move |lua: &Lua, place: usize| lua.create_string(&own.texts[place - 1]);
        host.set("text_at", lua.create_function(text)?)
    }
}

/// A stage as a workload.
#[derive(Debug)]
pub struct LuaTurns {
    pub(super) setup: Arc<Setup>,
    pub(super) catalogue: Arc<Catalogue>,
    pub(super) turns: Arc<Turns>,
}

impl Workload for LuaTurns {
    type Script = LuaClient;

    fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn script(&self, client: usize) -> LuaClient {
        LuaClient::for_turns(&self.setup, client, Arc::clone(&self.turns))
    }

    fn expects(&self, type_index: usize, error: &ServerError) -> bool {
        self.turns.refused && type_index == 0 && is_duplicate(error)
    }

    fn expected(&self) -> Expected {
        let (rows, affected) = self.turns.checks;
        let sum = |sum: &AtomicU64| sum.load(Ordering::Relaxed);
        Expected {
            rows: rows.then(|| sum(&self.turns.rows)),
            affected: affected.then(|| sum(&self.turns.affected)),
        }
    }
}

/// Whether a row was refused because its key exists: MySQL's `ER_DUP_ENTRY` (in 5.0 also
/// `ER_DUP_KEY`), PostgreSQL's `unique_violation`, SQLite's constraint.
fn is_duplicate(error: &ServerError) -> bool {
    ["1062", "1022", "23505", "SQLITE_CONSTRAINT"].contains(&error.code.as_str())
}
