//! The tests as a job: their operations one after the other, each checked.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::driver::{Admin, Dialect, Kind};
use crate::engine::{Closing, Failure, Job, Run, Stage, Work};
use crate::report;
use crate::report::StatementTypeInfo;
use crate::workload::sqlbench::{Counted, Operation, OperationLoad, Plan, TestName, leftovers};

/// The work that remains, and whether the finished part is a sound basis for it.
pub(super) struct SqlbenchJob {
    dialect: Dialect,
    clients: usize,
    limit: Duration,
    todo: VecDeque<(TestName, Arc<Operation>)>,
    /// The test with its tables in the database.
    test: Option<TestName>,
    under_way: Option<UnderWay>,
    /// Operations of this test that were not done to their end.
    unfinished: Vec<&'static str>,
    /// The first of those that was to change the tables: they are not what they should be, and the
    /// times of what comes after it would mean nothing.
    spoilt_by: Option<&'static str>,
}

struct UnderWay {
    operation: Arc<Operation>,
    begun: Arc<AtomicU64>,
}

impl SqlbenchJob {
    pub(super) fn new(plan: &Plan, tests: &[TestName], clients: usize, limit: Duration) -> Self {
        let operations = tests.iter().flat_map(|&name| {
            let operations = name.test(plan).operations.into_iter();
            operations.map(move |operation| (name, Arc::new(operation)))
        });
        Self {
            dialect: plan.maker.dialect,
            clients,
            limit,
            todo: operations.collect(),
            test: None,
            under_way: None,
            unfinished: Vec::new(),
            spoilt_by: None,
        }
    }

    /// Says which loops several clients do not share, and why.
    pub(super) fn explain_single_clients(&self) {
        if self.clients == 1 {
            return;
        }
        for (test, operation) in &self.todo {
            if let Some(reason) = operation.alone {
                let (test, name) = (test.name(), operation.name);
                tell!("{test}, {name}: one client, since {reason}");
            }
        }
    }

    /// Leaves the tables of one test and comes to the next.
    fn enter(&mut self, test: TestName, admin: &mut dyn Admin) -> Result<(), Failure> {
        if self.test == Some(test) {
            return Ok(());
        }
        self.test = Some(test);
        self.unfinished.clear();
        self.spoilt_by = None;
        drop_tables(admin, self.dialect)
    }

    fn reason_to_skip(&self, operation: &Operation) -> Option<String> {
        let missing = operation
            .needs
            .filter(|needed| self.unfinished.contains(needed));
        let broken = missing
            .or(self.spoilt_by)
            .map(|needed| format!("{needed} did not finish"));
        operation.skipped.clone().or(broken)
    }

    fn start(
        &mut self,
        operation: &Arc<Operation>,
        admin: &mut dyn Admin,
    ) -> Result<Run<OperationLoad>, Failure> {
        for sql in &operation.before {
            admin.execute(sql).map_err(|fault| {
                Failure::from_fault(&format!("making the tables for {}", operation.name), &fault)
            })?;
        }
        let clients = match operation.alone {
            Some(_) => 1,
            None => self
                .clients
                .min(usize::try_from(operation.turns).unwrap_or(usize::MAX)),
        };
        let expected = operation.expected();
        let load = OperationLoad::new(Arc::clone(operation), clients);
        self.under_way = Some(UnderWay {
            operation: Arc::clone(operation),
            begun: load.begun(),
        });
        Ok(Run {
            workload: Arc::new(load),
            clients,
            connecting_counts: false,
            limit: operation.can_be_cut.then_some(self.limit),
            expected_rows: Some(expected.rows),
            // Rows changed by other statements, such as an ALTER TABLE that copies them, are
            // counted by some servers and not by others.
            expected_affected: (operation.kind == Kind::Write).then_some(expected.affected),
            counts_affected: operation.counted == Counted::Rows,
            turns: (operation.turns != operation.planned).then_some(operation.turns),
        })
    }
}

impl Job for SqlbenchJob {
    type Workload = OperationLoad;

    fn statements(&self) -> Vec<StatementTypeInfo> {
        let statements = self.todo.iter().map(|(_, operation)| StatementTypeInfo {
            name: operation.name.into(),
            kind: operation.kind,
            sql: operation.example(),
        });
        statements.collect()
    }

    fn next(&mut self, admin: &mut dyn Admin) -> Result<Option<Stage<OperationLoad>>, Failure> {
        let Some((test, operation)) = self.todo.pop_front() else {
            return Ok(None);
        };
        self.enter(test, admin)?;
        let work = match self.reason_to_skip(&operation) {
            Some(reason) => {
                self.unfinished.push(operation.name);
                Work::Skip(reason.into())
            }
            None => Work::Run(self.start(&operation, admin)?),
        };
        Ok(Some(Stage {
            test: test.name().into(),
            name: operation.name.into(),
            planned: operation.planned,
            work,
        }))
    }

    /// Asks the tables whether the operation has left them as it should.
    fn review(
        &mut self,
        done: &report::Operation,
        admin: &mut dyn Admin,
    ) -> Result<Option<String>, Failure> {
        let Some(UnderWay { operation, begun }) = self.under_way.take() else {
            return Ok(None);
        };
        let is_whole = begun.load(Ordering::Relaxed) == operation.turns;
        let spoils = operation.kind != Kind::Read && !operation.can_be_cut;
        if !is_whole || done.errors > 0 {
            self.unfinished.push(operation.name);
            if spoils {
                self.spoilt_by.get_or_insert(operation.name);
            }
            return Ok(None);
        }
        let Some(check) = &operation.check else {
            return Ok(None);
        };
        let answer = admin
            .query_value(&check.sql)
            .map_err(|fault| Failure::from_fault(&format!("asking `{}`", check.sql), &fault))?;
        if answer.as_deref() == Some(&check.answer) {
            return Ok(None);
        }
        self.unfinished.push(operation.name);
        self.spoilt_by.get_or_insert(operation.name);
        let answer = answer.as_deref().unwrap_or("NULL");
        Ok(Some(format!(
            "`{}` is {answer} afterwards, but must be {}",
            check.sql, check.answer
        )))
    }

    fn closing(&mut self) -> Closing {
        let dialect = self.dialect;
        Box::new(move |admin| drop_tables(admin, dialect))
    }

    fn leaves(&self) -> String {
        "drop the tables with `diskproof-load cleanup sqlbench`".into()
    }
}

/// Drops the tables of the tests: the run has checked that none of them was there before.
fn drop_tables(admin: &mut dyn Admin, dialect: Dialect) -> Result<(), Failure> {
    let dropped = leftovers::drop_all(admin, dialect);
    dropped.map(drop).map_err(|fault| {
        let doing = "dropping tables (`diskproof-load cleanup sqlbench` drops what is left)";
        Failure::from_fault(doing, &fault)
    })
}
