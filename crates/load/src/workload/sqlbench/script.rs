//! A client's share of an operation's loop.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::operation::{Operation, Turn};
use super::steps::{Step, Steps};
use crate::driver::{Args, Kind, ServerError, Statement, StatementId};
use crate::workload::{Catalogue, Next, Script, Workload};

/// The operation's own statements' place in the catalogue.
const OWN: usize = 0;

/// One operation as a workload, its turns dealt out among the clients.
#[derive(Debug)]
pub struct OperationLoad {
    operation: Arc<Operation>,
    clients: u64,
    catalogue: Catalogue,
    types: Types,
    begun: Arc<AtomicU64>,
}

/// Places in the catalogue.
#[derive(Debug, Clone, Copy, Default)]
struct Types {
    aside: usize,
    connect: usize,
    prepared: StatementId,
}

impl OperationLoad {
    #[must_use]
    pub fn new(operation: Arc<Operation>, clients: usize) -> Self {
        let mut catalogue = Catalogue::default();
        let prepared = operation.prepared.iter().map(|sql| Statement {
            sql: sql.clone(),
            prepare: true,
        });
        let mut types = Types {
            prepared: catalogue.add(operation.name, operation.kind, prepared),
            ..Types::default()
        };
        // Statements that begin or end a transaction over the whole loop are in one of these two.
        let ends = [operation.first_turn(), operation.last_turn()];
        let has = |kind: fn(&Step) -> bool| ends.iter().any(|steps| steps.iter().any(kind));
        if has(|step| matches!(step, Step::Aside(_))) {
            types.aside = catalogue.types().len();
            catalogue.add("begin/commit/prepare", Kind::Other, []);
        }
        if has(|step| matches!(step, Step::Reconnect)) {
            types.connect = catalogue.types().len();
            catalogue.add("reconnect", Kind::Other, []);
        }
        if let Some(sql) = operation.set_up {
            catalogue.set_up_with(sql);
        }
        if operation.rolls_back {
            catalogue.roll_back_with("ROLLBACK");
        }
        Self {
            operation,
            clients: clients as u64,
            catalogue,
            types,
            begun: Arc::default(),
        }
    }

    /// Number of turns begun, also after the load itself is gone.
    #[must_use]
    pub fn begun(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.begun)
    }
}

impl Workload for OperationLoad {
    type Script = OperationScript;

    fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn script(&self, client: usize) -> OperationScript {
        OperationScript {
            operation: Arc::clone(&self.operation),
            begun: Arc::clone(&self.begun),
            types: self.types,
            clients: self.clients,
            client,
            next_turn: client as u64,
            steps: Steps::default(),
            position: 0,
        }
    }

    fn expects(&self, type_index: usize, error: &ServerError) -> bool {
        self.operation.refused && type_index == OWN && is_duplicate(error)
    }
}

/// Whether a row was refused because its key exists: MySQL's `ER_DUP_ENTRY` (in 5.0 also
/// `ER_DUP_KEY`), PostgreSQL's `unique_violation`, SQLite's constraint.
fn is_duplicate(error: &ServerError) -> bool {
    ["1062", "1022", "23505", "SQLITE_CONSTRAINT"].contains(&error.code.as_str())
}

/// One client's turns.
pub struct OperationScript {
    operation: Arc<Operation>,
    begun: Arc<AtomicU64>,
    types: Types,
    clients: u64,
    client: usize,
    next_turn: u64,
    steps: Steps,
    position: usize,
}

impl Script for OperationScript {
    fn begin(&mut self) -> bool {
        if self.next_turn >= self.operation.turns {
            return false;
        }
        let turn = Turn {
            index: self.next_turn,
            client: self.client,
        };
        self.next_turn += self.clients;
        self.begun.fetch_add(1, Ordering::Relaxed);
        self.operation.take(turn, &mut self.steps);
        self.position = 0;
        true
    }

    /// The server has undone the turn: it is taken again.
    fn begin_again(&mut self) -> bool {
        self.position = 0;
        true
    }

    fn next(&mut self, args: &mut Args) -> Option<Next> {
        let step = self.steps.get(self.position)?;
        self.position += 1;
        let text = |args: &mut Args, range| {
            args.begin_sql().extend_from_slice(self.steps.text(range));
        };
        Some(match step {
            Step::Sql(range) => {
                text(args, range);
                Next::Sql { type_index: OWN }
            }
            Step::Aside(range) => {
                text(args, range);
                Next::Sql {
                    type_index: self.types.aside,
                }
            }
            Step::Prepared(argument) => {
                args.clear();
                args.push_int(*argument);
                Next::Statement(self.types.prepared)
            }
            Step::Reconnect => Next::Reconnect {
                type_index: self.types.connect,
            },
        })
    }
}

impl fmt::Debug for OperationScript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} at turn {}", self.operation, self.next_turn)
    }
}
