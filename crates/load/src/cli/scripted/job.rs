//! A script's job, stage by stage, as the engine does it.

use std::sync::Arc;
use std::time::Duration;

use crate::driver::Admin;
use crate::engine::{Closing, Failure, Job, Run, Stage, Work};
use crate::report::{Iterations, Operation, StatementTypeInfo};
use crate::workload::lua::{Conducting, LuaTurns, Plan, Trouble};

pub(super) struct ScriptedJob {
    pub(super) conducting: Conducting,
    pub(super) plan: Plan,
    pub(super) has_begun: bool,
}

impl Job for ScriptedJob {
    type Workload = LuaTurns;

    fn statements(&self) -> Vec<StatementTypeInfo> {
        let statements = self.plan.statements.iter();
        let info = |(name, kind, sql): &(String, _, String)| StatementTypeInfo {
            name: name.clone().into(),
            kind: *kind,
            sql: sql.clone(),
        };
        statements.map(info).collect()
    }

    fn next(&mut self, admin: &mut dyn Admin) -> Result<Option<Stage<LuaTurns>>, Failure> {
        self.has_begun = true;
        let Some(declared) = self.conducting.next(admin).map_err(failure)? else {
            return Ok(None);
        };
        let work = match declared.skip {
            Some(reason) => Work::Skip(reason.into()),
            None => Work::Run(Run {
                workload: Arc::new(declared.workload),
                clients: declared.clients,
                connecting_counts: declared.connects_late,
                limit: declared.limit_s.map(Duration::from_secs_f64),
                counts_affected: declared.counts_rows,
                turns: (declared.turns != declared.planned).then_some(declared.turns),
            }),
        };
        Ok(Some(Stage {
            test: declared.test.into(),
            name: declared.name.into(),
            planned: declared.planned,
            work,
        }))
    }

    fn review(
        &mut self,
        done: &Operation,
        admin: &mut dyn Admin,
    ) -> Result<Option<String>, Failure> {
        self.conducting.review(done.errors, admin).map_err(failure)
    }

    fn closing(&mut self) -> Closing {
        let again = self.has_begun.then(|| self.conducting.again());
        Box::new(move |admin| match again {
            Some(again) => again.perform("close", admin).map_err(failure),
            None => Ok(()),
        })
    }

    fn leaves(&self) -> String {
        self.plan.leaves.clone()
    }

    /// Over the iterations that were not cut short.
    fn iterations(&self, operations: &[Operation]) -> Option<Iterations> {
        let queries_per_client = self.plan.queries_per_client?;
        let whole = operations
            .iter()
            .filter(|one| one.count + one.errors >= one.planned);
        let seconds: Vec<_> = whole.filter_map(|one| one.seconds).collect();
        if seconds.is_empty() {
            return None;
        }
        Some(Iterations {
            count: seconds.len(),
            mean_s: seconds.iter().sum::<f64>() / seconds.len() as f64,
            min_s: seconds.iter().copied().fold(f64::INFINITY, f64::min),
            max_s: seconds.iter().copied().fold(0.0, f64::max),
            queries_per_client,
        })
    }
}

pub(in crate::cli) fn failure(trouble: Trouble) -> Failure {
    match trouble {
        Trouble::Refused { code, message } => Failure::new(&code, message),
        Trouble::Fault { doing, fault } => Failure::from_fault(&doing, &fault),
    }
}
