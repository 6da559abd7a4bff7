//! Loads a set of tables, several at a time, and shows how far it is.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::outside::say_when_interrupted;
use crate::driver::{Admin, Driver};
use crate::engine::Failure;
use crate::workload::lua::Tables;
use crate::workload::tables::Progress;

/// Time between two reports of progress.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(2);

/// Builds all tables with as many connections as were asked for; refuses if one of them exists.
pub(super) fn build_tables<D: Driver>(
    driver: &D,
    set: &Tables,
    cleanup: &str,
    asked_threads: Option<u16>,
) -> Result<(), Failure> {
    say_when_interrupted(format!(
        "interrupted: some tables remain, the last ones unfinished; drop them with `{cleanup}`"
    ))?;
    let load = Load {
        started: Instant::now(),
        set,
        cleanup,
        next: AtomicUsize::new(1),
        progress: Progress::default(),
        over: AtomicBool::new(false),
    };
    let mut admin = working(driver)?;
    set.script.perform("define", &mut *admin)?;
    load_all(&load, driver, asked_threads)?;
    set.script
        .perform("index", &mut *admin)
        .map_err(|failure| load.failed("the tables", failure))?;
    drop(admin);
    settle_all(driver, set)
}

fn load_all<D: Driver>(
    load: &Load<'_>,
    driver: &D,
    asked_threads: Option<u16>,
) -> Result<(), Failure> {
    thread::scope(|scope| {
        let watcher = scope.spawn(|| load.show_progress());
        let loaders: Vec<_> = (0..threads(driver, load.set, asked_threads))
            .map(|_| scope.spawn(|| load.build_some(driver)))
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

/// When all are loaded and one after the other: PostgreSQL takes stock of no row that another
/// connection's transaction might not see yet.
fn settle_all<D: Driver>(driver: &D, set: &Tables) -> Result<(), Failure> {
    let mut admin = working(driver)?;
    for name in &set.names {
        admin.settle(name).map_err(|fault| {
            Failure::from_fault(&format!("analysing the loaded table {name}"), &fault)
        })?;
    }
    Ok(())
}

/// A connection whose statements may take long.
pub(super) fn working<D: Driver>(driver: &D) -> Result<Box<dyn Admin>, Failure> {
    let mut admin = driver.admin().map_err(Failure::connecting)?;
    admin.begin_work().map_err(Failure::connecting)?;
    Ok(admin)
}

fn threads<D: Driver>(driver: &D, set: &Tables, asked: Option<u16>) -> usize {
    // One writer at a time is all that a blocking database (SQLite) lets in.
    if driver.blocks() {
        return 1;
    }
    // The server works as hard as we do: while one connection waits, another is served.
    let cores = thread::available_parallelism().map_or(1, usize::from);
    asked.map_or(2 * cores, usize::from).min(set.parts.len())
}

/// A load in progress, shared by its threads.
struct Load<'a> {
    started: Instant,
    set: &'a Tables,
    /// The command that drops them.
    cleanup: &'a str,
    /// The next table that no thread has taken.
    next: AtomicUsize,
    progress: Progress,
    over: AtomicBool,
}

impl Load<'_> {
    /// Takes tables until none is left. After a failure the others take no more.
    fn build_some<D: Driver>(&self, driver: &D) -> Result<(), Failure> {
        let outcome = self.build_each(driver);
        if outcome.is_err() {
            self.next.store(self.set.parts.len() + 1, Ordering::Relaxed);
        }
        outcome
    }

    fn build_each<D: Driver>(&self, driver: &D) -> Result<(), Failure> {
        let mut admin = working(driver)?;
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number > self.set.parts.len() {
                return Ok(());
            }
            let (name, sent) = &self.set.parts[number - 1];
            let loaded = self
                .set
                .script
                .fill(number, &mut *admin, &self.progress)
                .map_err(|failure| self.failed(name, failure))?;
            if loaded != *sent {
                let message = format!("{name} holds {loaded} rows, but {sent} were sent");
                return Err(Failure::new("tables", message));
            }
            tell!(
                "{name}: {loaded} rows, {:.1} s",
                self.started.elapsed().as_secs_f64()
            );
        }
    }

    fn failed(&self, name: &str, failure: Failure) -> Failure {
        let message = format!(
            "loading {name} (drop the unfinished tables with `{}`): {}",
            self.cleanup, failure.message
        );
        Failure { message, ..failure }
    }

    fn show_progress(&self) {
        let all_rows: u64 = self.set.parts.iter().map(|(_, rows)| rows).sum();
        let mut shown = Instant::now();
        while !self.over.load(Ordering::Relaxed) {
            thread::park_timeout(PROGRESS_INTERVAL);
            if shown.elapsed() < PROGRESS_INTERVAL {
                continue;
            }
            shown = Instant::now();
            let rows = self.progress.rows();
            tell!(
                "{rows} of {all_rows} rows sent ({:.0} %), {:.0} rows per s",
                100.0 * rows as f64 / all_rows as f64,
                rows as f64 / self.started.elapsed().as_secs_f64()
            );
        }
    }
}
