//! A job's accounts: stage by stage, and all stages together.

use super::{Run, Stage};
use crate::engine::conductor::RunOptions;
use crate::engine::message::Failure;
use crate::engine::summary::{statement_types, summary};
use crate::engine::totals::Totals;
use crate::report::{ClientCost, ErrorSummary, Operation, Summary};
use crate::workload::{StatementType, Workload};

/// Under what code a wrong number of rows is counted.
const WRONG_ROWS: &str = "rows";

/// A stage as it was measured.
pub(super) struct Outcome {
    pub(super) totals: Totals,
    pub(super) seconds: f64,
    /// A time limit or a signal ended it.
    pub(super) cut: bool,
}

/// What the stages until now have come to.
pub(super) struct Accounts {
    types: Vec<StatementType>,
    totals: Totals,
    seconds: f64,
    operations: Vec<Operation>,
    wrong_rows: Vec<ErrorSummary>,
}

impl Accounts {
    pub(super) fn new() -> Self {
        Self {
            types: Vec::new(),
            totals: Totals::new(0, 0),
            seconds: 0.0,
            operations: Vec::new(),
            wrong_rows: Vec::new(),
        }
    }

    pub(super) fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Why the whole job is no good: transactions failed, and none completed.
    pub(super) fn nothing_but_errors(&self) -> Option<Failure> {
        self.totals.nothing_but_errors()
    }

    /// Takes up a stage that was not run.
    pub(super) fn skip<W>(&mut self, stage: &Stage<W>, reason: &str) -> &Operation {
        self.operations.push(Operation {
            skipped: Some(reason.to_owned().into()),
            ..blank(stage, 0)
        });
        &self.operations[self.operations.len() - 1]
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
        let count = totals.measured.transactions.count();
        let is_short = *cut && count < stage.planned;
        let pace = (is_short && count > 0).then(|| seconds / count as f64);
        let statements = &totals.phase.statements;
        let mut operation = Operation {
            count,
            seconds: Some(*seconds),
            extrapolated_s: pace.map(|pace_s| pace_s * stage.planned as f64),
            errors: totals.phase.errors.count(),
            rows: statements.iter().map(|tally| tally.rows).sum(),
            affected: statements.iter().map(|tally| tally.affected).sum(),
            latency_us: totals.measured.transactions.summary(percentiles),
            statement_types: if types.len() > 1 {
                statement_types(types, &totals.phase, percentiles)
            } else {
                Vec::new()
            },
            ..blank(stage, run.clients)
        };
        if !is_short {
            self.check_rows(&mut operation, run.expected_rows);
        }
        let places: Vec<_> = types.iter().map(|known| self.place(known)).collect();
        self.totals.absorb(totals, &places);
        self.seconds += seconds;
        self.operations.push(operation);
        &self.operations[self.operations.len() - 1]
    }

    /// Rows that came back in another number than they must are an error of the operation.
    fn check_rows(&mut self, operation: &mut Operation, expected: Option<u64>) {
        let Some(expected) = expected.filter(|&expected| expected != operation.rows) else {
            return;
        };
        operation.errors += 1;
        self.wrong_rows.push(ErrorSummary {
            code: WRONG_ROWS.to_owned(),
            statement: Some(operation.name.clone()),
            message: format!(
                "{} rows came back, where {expected} must have",
                operation.rows
            ),
            transient: false,
            count: 1,
        });
    }

    /// Where a type of this name is accounted for; a stage may have types that no other had.
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
        summary.errors.extend(self.wrong_rows);
        summary.operations = self.operations;
        summary
    }
}

/// A stage of which nothing is known yet.
fn blank<W>(stage: &Stage<W>, clients: usize) -> Operation {
    Operation {
        test: stage.test.clone(),
        name: stage.name.clone(),
        clients,
        planned: stage.planned,
        count: 0,
        seconds: None,
        extrapolated_s: None,
        skipped: None,
        errors: 0,
        rows: 0,
        affected: 0,
        latency_us: None,
        statement_types: Vec::new(),
    }
}
