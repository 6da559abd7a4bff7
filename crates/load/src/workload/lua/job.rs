//! A script's job, stage by stage.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mlua::{MultiValue, Table, Thread, Value};

use super::conducting::{Conducting, Plan, STAGE, catalogue};
use super::turns::{LuaTurns, Turns};
use crate::driver::Admin;
use crate::failure::Failure;
use crate::report::{Iterations, Operation, StatementTypeInfo};
use crate::workload::tables::Progress;
use crate::workload::{Catalogue, Closing, Job, Run, Stage, Work};

/// The job of a script, on a database that has what it needs.
#[derive(Debug)]
pub struct LuaJob {
    conducting: Conducting,
    plan: Plan,
    /// The course of its stages, once it has begun.
    stages: Option<Thread>,
    /// The present stage, and how many there were.
    turns: Option<Arc<Turns>>,
    count: u64,
    /// The last stage's catalogue, with the table that it was made of.
    catalogue: Option<(Table, Arc<Catalogue>)>,
}

impl LuaJob {
    pub fn new(conducting: Conducting, plan: Plan) -> Self {
        Self {
            conducting,
            plan,
            stages: None,
            turns: None,
            count: 0,
            catalogue: None,
        }
    }

    fn stage(&mut self, stage: &Table) -> mlua::Result<Stage<LuaTurns>> {
        let planned: u64 = stage.get("planned")?;
        let turns = stage.get::<Option<u64>>("turns")?.unwrap_or(planned);
        let clients: u64 = stage.get("clients")?;
        self.count += 1;
        let shared = Arc::new(Turns {
            key: stage.get::<Option<String>>("key")?.unwrap_or_default(),
            stage: self.count,
            count: turns,
            clients,
            texts: std::mem::take(&mut self.conducting.kept),
            refused: stage.get("refused")?,
            checks: (stage.get("checks_rows")?, stage.get("checks_affected")?),
            ..Turns::default()
        });
        self.turns = Some(Arc::clone(&shared));
        let table: Table = stage.get("catalogue")?;
        let catalogue = match &self.catalogue {
            Some((known, catalogue)) if *known == table => Arc::clone(catalogue),
            _ => Arc::new(catalogue(&table)?),
        };
        self.catalogue = Some((table, Arc::clone(&catalogue)));
        let limit_s: Option<f64> = stage.get("limit_s")?;
        let work = match stage.get::<Option<String>>("skip")? {
            Some(reason) => Work::Skip(reason.into()),
            None => Work::Run(Run {
                workload: Arc::new(LuaTurns {
                    setup: Arc::clone(&self.conducting.setup),
                    catalogue,
                    turns: shared,
                }),
                clients: usize::try_from(clients).unwrap_or(usize::MAX),
                connecting_counts: stage.get("connects_late")?,
                limit: limit_s.map(Duration::from_secs_f64),
                counts_affected: stage.get("counts_rows")?,
                turns: (turns != planned).then_some(turns),
            }),
        };
        Ok(Stage {
            test: stage.get::<String>("test")?.into(),
            name: stage.get::<String>("name")?.into(),
            planned,
            work,
        })
    }
}

impl Job for LuaJob {
    type Workload = LuaTurns;

    fn statements(&self) -> Vec<StatementTypeInfo> {
        self.plan.statements.clone()
    }

    fn next(&mut self, admin: &mut dyn Admin) -> Result<Option<Stage<LuaTurns>>, Failure> {
        let stages = match &self.stages {
            Some(stages) => stages.clone(),
            None => self.conducting.state.begin("stages")?,
        };
        self.stages = Some(stages.clone());
        let progress = Progress::default();
        let asked = self
            .conducting
            .go_on(&stages, MultiValue::new(), admin, &progress)?;
        Ok(match asked {
            (STAGE, Value::Table(stage)) => Some(self.stage(&stage)?),
            _ => None,
        })
    }

    fn review(
        &mut self,
        done: &Operation,
        admin: &mut dyn Admin,
    ) -> Result<Option<String>, Failure> {
        let turns = self.turns.as_ref();
        let is_whole =
            turns.is_some_and(|turns| turns.begun.load(Ordering::Relaxed) == turns.count);
        self.conducting
            .perform("review", (done.errors, is_whole), admin)
    }

    fn closing(&mut self) -> Closing {
        let again = self.stages.is_some().then(|| self.conducting.again());
        Box::new(move |admin| match again {
            Some(again) => again.perform("close", admin),
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
