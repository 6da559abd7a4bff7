//! Jobs: workloads that are done at some point, stage after stage.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use super::Workload;
use crate::driver::Admin;
use crate::failure::Failure;
use crate::report::{Iterations, Operation, StatementTypeInfo};

/// A source of stages.
pub trait Job {
    type Workload: Workload;

    /// Every statement type that the stages will have, each with one statement of it.
    fn statements(&self) -> Vec<StatementTypeInfo>;

    /// The next stage; `None` after the last. Prepares what the stage needs and clears what the
    /// last one left; nothing of that is timed.
    fn next(&mut self, admin: &mut dyn Admin) -> Result<Option<Stage<Self::Workload>>, Failure>;

    /// Checks the state that a stage left behind; not timed. A wrong state is an error of the
    /// operation.
    fn review(
        &mut self,
        _operation: &Operation,
        _admin: &mut dyn Admin,
    ) -> Result<Option<String>, Failure> {
        Ok(None)
    }

    /// How to clean up after the job: done once at the end, however the job ended.
    fn closing(&mut self) -> Closing;

    /// What remains if that fails, and how a user removes it.
    fn leaves(&self) -> String;

    /// The operations as iterations of the same thing, if they are.
    fn iterations(&self, _operations: &[Operation]) -> Option<Iterations> {
        None
    }
}

/// Clears away what a job has made. It may be done on a thread of its own.
pub type Closing = Box<dyn FnOnce(&mut dyn Admin) -> Result<(), Failure> + Send>;

/// One part of a job, timed as a whole: from the start until the last client has done its share.
#[derive(Debug)]
pub struct Stage<W> {
    /// The group of operations that it belongs to.
    pub test: Cow<'static, str>,
    pub name: Cow<'static, str>,
    /// Transactions of all clients' scripts together; what is counted against it.
    pub planned: u64,
    pub work: Work<W>,
}

/// The work of a stage.
#[derive(Debug)]
pub enum Work<W> {
    Run(Run<W>),
    /// Nothing, for this reason. It is reported, but never as done.
    Skip(Cow<'static, str>),
}

/// A workload with scripts that end.
#[derive(Debug)]
pub struct Run<W> {
    pub workload: Arc<W>,
    pub clients: usize,
    /// Whether connecting is part of the time.
    pub connecting_counts: bool,
    /// No transaction begins after this; those in progress still count.
    pub limit: Option<Duration>,
    /// Count the rows that were changed instead of the transactions: a statement that inserts
    /// many of them stands for as many INSERTs.
    pub counts_affected: bool,
    /// Number of the scripts' transactions, if it differs from the planned number; `None`: each
    /// counts as one.
    pub turns: Option<u64>,
}
