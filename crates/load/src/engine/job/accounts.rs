//! A job's accounts: stage by stage, and all stages together.

use crate::engine::conductor::RunOptions;
use crate::engine::summary::{statement_types, summary};
use crate::engine::totals::Totals;
use crate::failure::Failure;
use crate::report::{ClientCost, ErrorSummary, Operation, Summary};
use crate::workload::{Run, Stage, StatementType, Workload};

/// Under what code a wrong number of rows is counted.
const WRONG_ROWS: &str = "rows";
/// Under what code tables are counted that are not as the operation must have left them.
const WRONG_STATE: &str = "tables";

/// A stage as it was measured.
pub(super) struct Outcome {
    pub(super) totals: Totals,
    pub(super) seconds: f64,
    /// A time limit or a signal ended it.
    pub(super) cut: bool,
}

/// The totals of all stages until now.
pub(super) struct Accounts {
    types: Vec<StatementType>,
    totals: Totals,
    seconds: f64,
    operations: Vec<Operation>,
    mistakes: Vec<ErrorSummary>,
}

impl Accounts {
    pub(super) fn new() -> Self {
        Self {
            types: Vec::new(),
            totals: Totals::new(0, 0),
            seconds: 0.0,
            operations: Vec::new(),
            mistakes: Vec::new(),
        }
    }

    pub(super) fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Why the whole job is no good: transactions failed, and none completed.
    pub(super) fn nothing_but_errors(&self) -> Option<Failure> {
        self.totals.nothing_but_errors(&self.types)
    }

    /// Takes up a stage that was not run.
    pub(super) fn skip<W>(&mut self, stage: &Stage<W>, reason: &str) {
        self.operations.push(Operation {
            skipped: Some(reason.to_owned().into()),
            ..blank(stage, 0)
        });
    }

    /// Takes up a stage that was run.
    pub(super) fn add<W: Workload>(
        &mut self,
        stage: &Stage<W>,
        run: &Run<W>,
        outcome: &Outcome,
        percentiles: &[f64],
    ) -> &Operation {
        let Outcome {
            totals,
            seconds,
            cut,
        } = outcome;
        let types = run.workload.catalogue().types();
        let statements = &totals.phase.statements;
        let affected = statements.iter().map(|tally| tally.affected).sum();
        let transactions = totals.measured.transactions.count();
        let count = match run.turns {
            _ if run.counts_affected => affected,
            Some(turns) => transactions * stage.planned / turns.max(1),
            None => transactions,
        };
        let is_short = *cut && count < stage.planned;
        let pace = (is_short && count > 0).then(|| seconds / count as f64);
        let mut operation = Operation {
            count,
            seconds: Some(*seconds),
            cut: is_short,
            extrapolated_s: pace.map(|pace_s| pace_s * stage.planned as f64),
            errors: totals.phase.errors.count(),
            rows: statements.iter().map(|tally| tally.rows).sum(),
            affected,
            latency_us: totals.measured.transactions.summary(percentiles),
            statement_types: if types.len() > 1 {
                statement_types(types, &totals.phase, percentiles)
            } else {
                Vec::new()
            },
            ..blank(stage, run.clients)
        };
        if !is_short {
            let (rows, affected) = (operation.rows, operation.affected);
            let expected = run.workload.expected();
            self.check(&mut operation, "came back", rows, expected.rows);
            self.check(&mut operation, "were changed", affected, expected.affected);
        }
        let places: Vec<_> = types.iter().map(|known| self.place(known)).collect();
        self.totals.absorb(totals, &places);
        self.seconds += seconds;
        self.operations.push(operation);
        &self.operations[self.operations.len() - 1]
    }

    /// Rows that came back, or were changed, in another number than they must are an error of the
    /// operation.
    fn check(&mut self, operation: &mut Operation, what: &str, rows: u64, expected: Option<u64>) {
        if let Some(expected) = expected.filter(|&expected| expected != rows) {
            self.mistakes.push(mistake(
                operation,
                WRONG_ROWS,
                format!("{rows} rows {what}, where {expected} must have"),
            ));
        }
    }

    /// The last operation left a wrong state behind.
    pub(super) fn find_wrong(&mut self, message: String) {
        if let Some(operation) = self.operations.last_mut() {
            self.mistakes.push(mistake(operation, WRONG_STATE, message));
        }
    }

    /// The entry of the type of this name; a stage may have types that no other had.
    fn place(&mut self, sought: &StatementType) -> usize {
        let mut known = self.types.iter();
        known
            .position(|known| known.name == sought.name && known.kind == sought.kind)
            .unwrap_or_else(|| {
                self.types.push(sought.clone());
                self.types.len() - 1
            })
    }

    /// All stages together: their times added up, without what lay between them.
    pub(super) fn summary(self, options: &RunOptions, cost: ClientCost) -> Summary {
        let mut summary = summary(options, &self.types, &self.totals, self.seconds, cost);
        summary.errors.extend(self.mistakes);
        summary.operations = self.operations;
        summary
    }
}

/// An error of the operation that does not come from the server.
fn mistake(operation: &mut Operation, code: &str, message: String) -> ErrorSummary {
    operation.errors += 1;
    ErrorSummary {
        code: code.to_owned(),
        statement: Some(operation.name.clone()),
        message,
        transient: false,
        count: 1,
    }
}

/// A stage that is not in the totals yet.
fn blank<W>(stage: &Stage<W>, clients: usize) -> Operation {
    Operation {
        test: stage.test.clone(),
        name: stage.name.clone(),
        clients,
        planned: stage.planned,
        ..Operation::default()
    }
}
