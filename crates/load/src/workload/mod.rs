//! Workloads: a catalogue of statements, and clients that draw transactions.

use std::borrow::Cow;
use std::io;

use crate::driver::rows::{Keep, Rows};
use crate::driver::{Args, Driver, Kind, Reply, ServerError, Statement, StatementId};

pub mod digits;
pub mod distribution;
pub mod generator;
mod job;
pub mod ledger;
pub mod lua;
pub mod oltp;
pub mod replay;
pub mod script;
pub mod sql;
pub mod tables;
pub mod tpcc;

pub use job::{Closing, Job, Run, Stage, Work};

/// A named kind of statement, as it is accounted for; one type may stand for many statements,
/// such as the same SELECT on each of ten tables.
#[derive(Debug, Clone)]
pub struct StatementType {
    pub name: Cow<'static, str>,
    pub kind: Kind,
}

/// All statements that a workload will ever send, fixed before any client connects.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    types: Vec<StatementType>,
    statements: Vec<Statement>,
    type_of: Vec<usize>,
    set_up: Vec<StatementId>,
    rollback: Option<StatementId>,
    /// The kinds of transactions that are accounted for apart, if not all are alike; scripts say by their places which
    /// one is under way.
    pub transactions: Vec<&'static str>,
    /// Whether reports leave out the types that no statement had: the workload has not been able to say beforehand
    /// which of them it needs.
    pub shows_used_types_only: bool,
}

/// The type of statements that belong to none: they are not counted, and their errors are.
pub const NO_TYPE: usize = usize::MAX;

impl Catalogue {
    /// Adds a type with its statements; their ids follow one another from the one returned.
    pub fn add(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        kind: Kind,
        statements: impl IntoIterator<Item = Statement>,
    ) -> StatementId {
        let first = self.statements.len();
        self.statements.extend(statements);
        self.type_of.resize(self.statements.len(), self.types.len());
        self.types.push(StatementType {
            name: name.into(),
            kind,
        });
        first
    }

    /// Says how an explicit transaction is given up after an error. It is no type of the
    /// workload and is never counted as one of its statements.
    pub fn roll_back_with(&mut self, sql: &str) {
        debug_assert!(self.rollback.is_none());
        self.rollback = Some(self.add_untyped(sql));
    }

    /// Says what every session begins with, after each log-in: the first, one after a loss and one
    /// that the workload asks for. It is part of connecting, in what it takes as well, and is never
    /// counted as one of the workload's statements.
    pub fn set_up_with(&mut self, sql: &str) {
        let statement = self.add_untyped(sql);
        self.set_up.push(statement);
    }

    fn add_untyped(&mut self, sql: &str) -> StatementId {
        let statement = self.statements.len();
        self.statements.push(Statement::as_text(sql));
        self.type_of.push(NO_TYPE);
        statement
    }

    pub fn types(&self) -> &[StatementType] {
        &self.types
    }

    pub fn statements(&self) -> &[Statement] {
        &self.statements
    }

    /// The type of a workload's statement (not of the rollback or of a session's set-up, which
    /// have none).
    pub fn type_of(&self, statement: StatementId) -> usize {
        self.type_of[statement]
    }

    /// The statements that every session begins with, in this order.
    pub fn set_up(&self) -> &[StatementId] {
        &self.set_up
    }

    /// `None`: every statement commits itself and there is nothing to roll back.
    pub fn rollback(&self) -> Option<StatementId> {
        self.rollback
    }

    /// One statement of a type, to show what the type means.
    pub fn example(&self, type_index: usize) -> &str {
        let first = self.type_of.iter().position(|&index| index == type_index);
        first.map_or("", |id| self.statements[id].sql.as_str())
    }
}

/// Rows that statements must have sent and changed; `None`: it is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Expected {
    pub rows: Option<u64>,
    pub affected: Option<u64>,
}

/// What a workload has counted itself.
#[derive(Debug, Clone)]
pub enum Account {
    Tpcc(Box<tpcc::Account>),
    Replay(Box<replay::Certificate>),
}

/// A workload: shared by all workers, it makes the clients' scripts.
pub trait Workload: Send + Sync + 'static {
    type Script: Script;

    fn catalogue(&self) -> &Catalogue;

    /// The script of one client; a pure function of the workload's seed and the client's number.
    fn script(&self, client: usize) -> Self::Script;

    /// The values that scripts read; `None`: rows are only counted.
    fn keeps(&self) -> Option<Keep> {
        None
    }

    /// The rows that its statements must have sent and changed by now, as far as it knows.
    fn expected(&self) -> Expected {
        Expected::default()
    }

    /// What the workload itself has counted, for the summary.
    fn account(&self) -> Option<Account> {
        None
    }

    /// Asks the server, for seconds, how it runs what was sent; tells statements and their plans.
    fn explain(&self, _driver: &impl Driver, _tell: impl FnMut((String, String))) {}

    /// Whether an error is what a statement of this type is sent for, such as a duplicate key that
    /// is inserted to measure its cost. It then counts as a reply without rows.
    fn expects(&self, _type_index: usize, _error: &ServerError) -> bool {
        false
    }

    /// Whether an error that servers call permanent comes from a collision of two clients' draws,
    /// so that new draws may succeed. The transaction is then run again, as after a deadlock.
    fn collides(&self, _error: &ServerError) -> bool {
        false
    }

    /// Whether a client ends for good if the fate of its transaction is not known: the connection
    /// was lost, or an error came after which it is not run again. Otherwise it continues with its
    /// next one.
    fn ends_in_doubt(&self) -> bool {
        false
    }
}

/// A client's next step in its transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// A statement of the catalogue, its parameters in the arguments.
    Statement(StatementId),
    /// A statement of no fixed shape, whole in [`Args::sql`]; accounted for under this type, or
    /// under [`NO_TYPE`].
    Sql { type_index: usize },
    /// The statement in [`Args::sql`] is to be prepared on this connection, as the next of the
    /// script's own or in the place of an earlier one; not counted.
    Prepare { replaces: Option<usize> },
    /// A statement of the script's own, by its number on this connection; its parameters in the
    /// arguments.
    Own { number: usize, type_index: usize },
    /// The transaction is begun again, because of an error that the script has taken.
    Again,
    /// Leave the server and come again, logged in and prepared; accounted for under this type.
    Reconnect { type_index: usize },
    /// Pause for this time, which counts as part of the transaction but not as a statement. The
    /// event loop wakes in whole milliseconds; without one (SQLite, null) it is more exact.
    Sleep { us: u64 },
    /// Pause for this time before the transaction's first statement. The transaction's latency
    /// counts from the pause's end; if the run ends during it, the transaction is not begun.
    Wait { us: u64 },
    /// There is no next step, for a reason of the workload that [`Script::mistake`] returns; the
    /// run fails.
    Fail,
}

/// One client's source of transactions.
pub trait Script {
    /// Begins what the client does once, when it has its first connection and before anything is
    /// measured; false if that is nothing. [`Script::next`] then returns its steps.
    fn initialise(&mut self) -> bool {
        false
    }

    /// Begins what the client does once after its last transaction; false if that is nothing.
    fn conclude(&mut self) -> bool {
        false
    }

    /// Draws a new transaction and forgets the rest of the one before. False: this client has
    /// finished its work.
    fn begin(&mut self) -> bool;

    /// Begins the same transaction again after the server has rolled it back. Only a workload that
    /// chooses between transactions of different kinds needs to say that it stays with its choice:
    /// new draws would favour the kind that is seldom rolled back.
    fn begin_again(&mut self) -> bool {
        self.begin()
    }

    /// The next step of the transaction, its parameters put into `args`; `None` after the last.
    fn next(&mut self, args: &mut Args) -> Option<Next>;

    /// The kind of the present transaction, if the catalogue tells some apart.
    fn transaction(&self) -> Option<usize> {
        None
    }

    /// Whether the present transaction is one of the run's. The other ones finish what those have
    /// left for later; they are accounted for by kind alone.
    fn counts(&self) -> bool {
        true
    }

    /// Takes the reply to the step before, with its values if [`Workload::keeps`] asks for them.
    /// Returns the type under which it is accounted for.
    #[inline]
    fn take_reply(&mut self, _reply: Reply, _rows: Option<&Rows>, type_index: usize) -> usize {
        type_index
    }

    /// Takes a refusal of the step before; `again` says whether such errors let a transaction run
    /// again. False leaves it to the engine: a ROLLBACK, and the transaction again or another one.
    /// True: [`Script::next`] continues.
    fn take_refusal(&mut self, _error: &ServerError, _again: bool) -> bool {
        false
    }

    /// The connection is lost, with what was prepared on it; [`Script::begin`] comes next.
    fn lost(&mut self) {}

    /// The last reply of a transaction that completed has just been read; nothing else of this
    /// client's is begun before this returns. An error ends the run.
    fn acknowledged(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Why the last step was [`Next::Fail`]: what was wrong, and where.
    fn mistake(&self) -> String {
        String::new()
    }
}
