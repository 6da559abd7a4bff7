//! Loads tables, several at a time, and shows how far it is.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::driver::{Driver, Fault};
use crate::engine::Failure;
use crate::workload::oltp::tables::{self, TableOptions};

/// How often progress is shown.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(2);

/// Builds tables 1 to `count` with `threads` connections; refuses if one of them exists.
pub(super) fn build_tables<D: Driver>(
    driver: &D,
    count: usize,
    threads: usize,
    options: &TableOptions,
) -> Result<(), Failure> {
    refuse_existing(driver, count)?;
    let load = Load {
        started: Instant::now(),
        count,
        next: AtomicUsize::new(1),
        rows: AtomicU64::new(0),
        over: AtomicBool::new(false),
    };
    thread::scope(|scope| {
        let watcher = scope.spawn(|| load.show_progress(options.rows * count as u64));
        let loaders: Vec<_> = (0..threads)
            .map(|_| scope.spawn(|| load.build_some(driver, options)))
            .collect();
        let outcomes: Vec<_> = loaders
            .into_iter()
            .map(thread::ScopedJoinHandle::join)
            .collect();
        load.over.store(true, Ordering::Relaxed);
        watcher.thread().unpark();
        outcomes.into_iter().try_for_each(|outcome| {
            outcome.unwrap_or_else(|_| Err(Failure::internal("a loader panicked")))
        })
    })
}

fn refuse_existing<D: Driver>(driver: &D, count: usize) -> Result<(), Failure> {
    let connecting = |fault| Failure::from_fault("connecting", &fault);
    let mut admin = driver.admin().map_err(connecting)?;
    for number in 1..=count {
        let exists = tables::exists(&mut *admin, driver.dialect(), number)
            .map_err(|fault| Failure::from_fault("looking for tables", &fault))?;
        if exists {
            return Err(Failure::new(
                "tables",
                format!(
                    "table {} exists already; drop the old tables with `diskproof-load cleanup oltp` first",
                    tables::table_name(number)
                ),
            ));
        }
    }
    Ok(())
}

/// A load under way, shared by its threads.
struct Load {
    started: Instant,
    count: usize,
    /// The next table that no thread has taken.
    next: AtomicUsize,
    /// Rows handed to the database so far.
    rows: AtomicU64,
    over: AtomicBool,
}

impl Load {
    /// Takes tables until none is left. After a failure the others take no more.
    fn build_some<D: Driver>(&self, driver: &D, options: &TableOptions) -> Result<(), Failure> {
        let outcome = self.build_each(driver, options);
        if outcome.is_err() {
            self.next.store(self.count + 1, Ordering::Relaxed);
        }
        outcome
    }

    fn build_each<D: Driver>(&self, driver: &D, options: &TableOptions) -> Result<(), Failure> {
        let connecting = |fault| Failure::from_fault("connecting", &fault);
        let mut admin = driver.admin().map_err(connecting)?;
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number > self.count {
                return Ok(());
            }
            let name = tables::table_name(number);
            let loading = |fault: Fault| {
                let doing =
                    format!("loading {name} (`diskproof-load cleanup oltp` removes what is there)");
                Failure::from_fault(&doing, &fault)
            };
            let loaded = tables::build(&mut *admin, driver.dialect(), number, options, &self.rows);
            let loaded = loaded.map_err(loading)?;
            if loaded != options.rows {
                let message = format!("{name} holds {loaded} rows, not the {} sent", options.rows);
                return Err(Failure::new("tables", message));
            }
            eprintln!(
                "{name}: {loaded} rows and the index, {:.1} s",
                self.started.elapsed().as_secs_f64()
            );
        }
    }

    fn show_progress(&self, all_rows: u64) {
        let mut shown = Instant::now();
        while !self.over.load(Ordering::Relaxed) {
            thread::park_timeout(PROGRESS_INTERVAL);
            if shown.elapsed() < PROGRESS_INTERVAL {
                continue;
            }
            shown = Instant::now();
            let rows = self.rows.load(Ordering::Relaxed);
            eprintln!(
                "{rows} of {all_rows} rows sent ({:.0} %), {:.0} rows per s",
                100.0 * rows as f64 / all_rows as f64,
                rows as f64 / self.started.elapsed().as_secs_f64()
            );
        }
    }
}
