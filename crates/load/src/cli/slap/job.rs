//! slap as a job: iterations, each on a table of its own.

use std::sync::Arc;

use crate::driver::{Admin, Dialect, Fault};
use crate::engine::{Closing, Failure, Job, Run, Stage, Work, statement_infos};
use crate::report::{Iterations, Operation, StatementTypeInfo};
use crate::workload::Workload;
use crate::workload::slap::{self, Slap, SlapOptions, TABLE};

pub(super) struct SlapJob {
    options: SlapOptions,
    dialect: Dialect,
    slap: Slap,
    clients: u32,
    iterations: u32,
    /// Iterations begun so far.
    begun: u32,
    /// Whether our table exists.
    made: bool,
}

impl SlapJob {
    pub(super) fn new(
        options: SlapOptions,
        dialect: Dialect,
        clients: u32,
        iterations: u32,
    ) -> Self {
        Self {
            slap: Slap::new(&options, dialect),
            options,
            dialect,
            clients,
            iterations,
            begun: 0,
            made: false,
        }
    }

    fn drop_table(&mut self, admin: &mut dyn Admin) -> Result<(), Failure> {
        if self.made {
            slap::drop(admin).map_err(doing("dropping"))?;
            self.made = false;
        }
        Ok(())
    }
}

impl Job for SlapJob {
    type Workload = Slap;

    fn statements(&self) -> Vec<StatementTypeInfo> {
        statement_infos(self.slap.catalogue())
    }

    fn next(&mut self, admin: &mut dyn Admin) -> Result<Option<Stage<Slap>>, Failure> {
        self.drop_table(admin)?;
        if self.begun == self.iterations {
            return Ok(None);
        }
        self.begun += 1;
        let options = &self.options;
        slap::create(admin, self.dialect, options).map_err(doing("making"))?;
        self.made = true;
        let keys = slap::load(admin, self.dialect, options).map_err(doing("loading"))?;
        if keys.is_empty() && options.load_type.asks_by_key(options.key) {
            return Err(Failure::new(
                "tables",
                format!(
                    "table {TABLE} is empty after it was loaded, so there is no key to read; choose an --engine that keeps rows"
                ),
            ));
        }
        let clients = u64::from(self.clients);
        Ok(Some(Stage {
            test: "slap".into(),
            name: options.load_type.name().into(),
            planned: clients * self.slap.transactions_per_client(),
            work: Work::Run(Run {
                workload: Arc::new(self.slap.iteration(u64::from(self.begun), keys)),
                clients: self.clients as usize,
                connecting_counts: true,
                limit: None,
                expected_rows: None,
                expected_affected: None,
                counts_affected: false,
                turns: None,
            }),
        }))
    }

    fn closing(&mut self) -> Closing {
        let made = self.made;
        Box::new(move |admin| {
            if made {
                slap::drop(admin).map_err(doing("dropping"))?;
            }
            Ok(())
        })
    }

    fn leaves(&self) -> String {
        format!("drop table {TABLE} with `diskproof-load cleanup slap`")
    }

    /// Over the iterations that were not cut short.
    fn iterations(&self, operations: &[Operation]) -> Option<Iterations> {
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
            queries_per_client: self.slap.queries_per_client(),
        })
    }
}

fn doing(what: &'static str) -> impl Fn(Fault) -> Failure {
    move |fault| Failure::from_fault(&format!("{what} table {TABLE}"), &fault)
}
