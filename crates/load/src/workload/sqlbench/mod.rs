//! sql-bench 2.15: nine tests of single operations, each a loop over its own tables.
//!
//! The names and counts of the operations are those of the copy that came with MySQL 5.1. Each test
//! is a file here; it declares its tables and its operations, and the number of rows that each
//! answer must have.

use crate::driver::Dialect;

mod alter_table;
mod atis;
mod big_tables;
mod connect;
mod create;
mod insert;
pub mod leftovers;
mod operation;
mod scale;
mod schema;
mod script;
mod select;
mod shuffle;
mod sixteen;
mod steps;
mod transactions;
mod wisconsin;

pub use operation::{Check, Counted, Operation};
pub use scale::Scale;
pub use schema::{Maker, PREFIX};
pub use script::OperationLoad;
pub use steps::Expected;

/// The tests, in the original's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum TestName {
    AlterTable,
    #[value(name = "ATIS", alias = "atis")]
    Atis,
    BigTables,
    Connect,
    Create,
    Insert,
    Select,
    Transactions,
    Wisconsin,
}

impl TestName {
    pub const ALL: [Self; 9] = [
        Self::AlterTable,
        Self::Atis,
        Self::BigTables,
        Self::Connect,
        Self::Create,
        Self::Insert,
        Self::Select,
        Self::Transactions,
        Self::Wisconsin,
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AlterTable => "alter-table",
            Self::Atis => "ATIS",
            Self::BigTables => "big-tables",
            Self::Connect => "connect",
            Self::Create => "create",
            Self::Insert => "insert",
            Self::Select => "select",
            Self::Transactions => "transactions",
            Self::Wisconsin => "wisconsin",
        }
    }

    /// The test with all its operations.
    #[must_use]
    pub fn test(self, plan: &Plan) -> Test {
        match self {
            Self::AlterTable => alter_table::test(plan),
            Self::Atis => atis::test(plan),
            Self::BigTables => big_tables::test(plan),
            Self::Connect => connect::test(plan),
            Self::Create => create::test(plan),
            Self::Insert => insert::test(plan),
            Self::Select => select::test(plan),
            Self::Transactions => transactions::test(plan),
            Self::Wisconsin => wisconsin::test(plan),
        }
    }
}

/// The options of the tests.
#[derive(Debug, Clone)]
pub struct Plan {
    pub maker: Maker,
    pub scale: Scale,
    /// The storage engine that the tables will have, if the family has several, and whether it has
    /// transactions.
    pub engine: Option<Engine>,
}

/// A storage engine as the server describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engine {
    pub name: String,
    pub transactional: bool,
}

impl Plan {
    /// Why an operation that needs transactions cannot be run; `None`: it can.
    fn no_transactions(&self) -> Option<String> {
        let engine = self
            .engine
            .as_ref()
            .filter(|engine| !engine.transactional)?;
        Some(format!("engine {} has no transactions", engine.name))
    }

    fn dialect(&self) -> Dialect {
        self.maker.dialect
    }
}

/// A test: what is left of its tables at the end is dropped.
#[derive(Debug)]
pub struct Test {
    pub name: TestName,
    pub operations: Vec<Operation>,
}

#[cfg(test)]
mod tests;
