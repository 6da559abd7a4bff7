//! Loads a set of tables, several at a time, and shows how far it is.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::Stop;
use super::connect::Task;
use super::outside::say_when_interrupted;
use crate::driver::{Admin, Driver, Fault};
use crate::engine::Failure;
use crate::target::Target;
use crate::workload::tables::{self, Progress, TableSet};

/// Time between two reports of progress.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(2);

/// Makes the tables of a workload and fills them.
pub(super) struct Build<T> {
    pub(super) set: T,
    /// The options by which `cleanup` finds the same tables.
    pub(super) which: String,
    /// Tables loaded at a time.
    pub(super) threads: Option<u16>,
}

impl<T: TableSet> Task for Build<T> {
    const MAY_CREATE: bool = true;

    fn perform<D: Driver + Send + 'static>(self, driver: D) -> Result<(), Stop> {
        let Self {
            set,
            which,
            threads,
        } = self;
        Ok(build_tables(&driver, &set, &which, threads)?)
    }
}

/// Drops the tables of a workload.
pub(super) struct Drop(pub(super) Vec<String>);

impl Task for Drop {
    fn perform<D: Driver + Send + 'static>(self, driver: D) -> Result<(), Stop> {
        Ok(drop_tables(&driver, self.0)?)
    }
}

/// Builds all tables with as many connections as were asked for; refuses if one of them exists.
fn build_tables<D: Driver, T: TableSet>(
    driver: &D,
    set: &T,
    which: &str,
    asked_threads: Option<u16>,
) -> Result<(), Failure> {
    let cleanup = format!("diskproof-load cleanup {} {which}", set.workload());
    let cleanup = cleanup.trim_end().to_owned();
    refuse_existing(driver, set, &cleanup)?;
    say_when_interrupted(format!(
        "interrupted: some tables remain, the last ones unfinished; drop them with `{cleanup}`"
    ))?;
    let load = Load {
        cleanup,
        started: Instant::now(),
        set,
        next: AtomicUsize::new(1),
        progress: Progress::default(),
        over: AtomicBool::new(false),
    };
    let preparing = |fault| load.failed("the tables", &fault);
    let mut admin = working(driver)?;
    set.begin(&mut *admin, driver.dialect())
        .map_err(preparing)?;
    load_all(&load, driver, asked_threads)?;
    set.finish(&mut *admin, driver.dialect())
        .map_err(preparing)?;
    drop(admin);
    settle_all(driver, set)
}

fn load_all<D: Driver, T: TableSet>(
    load: &Load<'_, T>,
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
fn settle_all<D: Driver, T: TableSet>(driver: &D, set: &T) -> Result<(), Failure> {
    let mut admin = working(driver)?;
    for name in set.tables() {
        admin.settle(&name).map_err(|fault| {
            Failure::from_fault(&format!("analysing the loaded table {name}"), &fault)
        })?;
    }
    Ok(())
}

/// Drops all of these tables that are there, and says how many.
pub(super) fn drop_tables<D: Driver>(
    driver: &D,
    names: impl IntoIterator<Item = String>,
) -> Result<(), Failure> {
    let doing = |what: &'static str| move |fault| Failure::from_fault(what, &fault);
    let mut admin = driver.admin().map_err(doing("connecting"))?;
    let mut dropped = 0;
    let names: Vec<_> = names.into_iter().collect();
    for name in &names {
        let exists = tables::exists(&mut *admin, driver.dialect(), name);
        dropped += usize::from(exists.map_err(doing("looking for tables"))?);
    }
    admin.begin_work().map_err(doing("dropping tables"))?;
    for name in &names {
        tables::drop(&mut *admin, name).map_err(doing("dropping tables"))?;
    }
    tell_dropped(dropped);
    Ok(())
}

/// A connection whose statements may take long.
pub(super) fn working<D: Driver>(driver: &D) -> Result<Box<dyn Admin>, Failure> {
    let connecting = |fault| Failure::from_fault("connecting", &fault);
    let mut admin = driver.admin().map_err(connecting)?;
    admin.begin_work().map_err(connecting)?;
    Ok(admin)
}

/// The last message of every cleanup.
pub(super) fn tell_dropped(tables: usize) {
    tell!(
        "{tables} table{} dropped",
        if tables == 1 { "" } else { "s" }
    );
}

fn threads<D: Driver, T: TableSet>(driver: &D, set: &T, asked: Option<u16>) -> usize {
    // One writer at a time is all that a blocking database (SQLite) lets in.
    if driver.blocks() {
        return 1;
    }
    // The server works as hard as we do: while one connection waits, another is served.
    let cores = thread::available_parallelism().map_or(1, usize::from);
    asked.map_or(2 * cores, usize::from).min(set.count())
}

fn refuse_existing<D: Driver, T: TableSet>(
    driver: &D,
    set: &T,
    cleanup: &str,
) -> Result<(), Failure> {
    let connecting = |fault| Failure::from_fault("connecting", &fault);
    let mut admin = driver.admin().map_err(connecting)?;
    for name in set.tables() {
        let exists = tables::exists(&mut *admin, driver.dialect(), &name)
            .map_err(|fault| Failure::from_fault("looking for tables", &fault))?;
        if exists {
            return Err(Failure::new(
                "tables",
                format!("table {name} exists already; drop the old tables with `{cleanup}` first"),
            ));
        }
    }
    Ok(())
}

/// A load in progress, shared by its threads.
struct Load<'a, T> {
    started: Instant,
    set: &'a T,
    /// The command that drops them.
    cleanup: String,
    /// The next table that no thread has taken.
    next: AtomicUsize,
    progress: Progress,
    over: AtomicBool,
}

impl<T: TableSet> Load<'_, T> {
    /// Takes tables until none is left. After a failure the others take no more.
    fn build_some<D: Driver>(&self, driver: &D) -> Result<(), Failure> {
        let outcome = self.build_each(driver);
        if outcome.is_err() {
            self.next.store(self.set.count() + 1, Ordering::Relaxed);
        }
        outcome
    }

    fn build_each<D: Driver>(&self, driver: &D) -> Result<(), Failure> {
        let mut admin = working(driver)?;
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number > self.set.count() {
                return Ok(());
            }
            let name = self.set.name(number);
            let loaded = self
                .set
                .build(&mut *admin, driver.dialect(), number, &self.progress)
                .map_err(|fault| self.failed(&name, &fault))?;
            let sent = self.set.rows(number);
            if loaded != sent {
                let message = format!("{name} holds {loaded} rows, but {sent} were sent");
                return Err(Failure::new("tables", message));
            }
            tell!(
                "{name}: {loaded} rows, {:.1} s",
                self.started.elapsed().as_secs_f64()
            );
        }
    }

    fn failed(&self, name: &str, fault: &Fault) -> Failure {
        let doing = format!(
            "loading {name} (drop the unfinished tables with `{}`)",
            self.cleanup
        );
        Failure::from_fault(&doing, fault)
    }

    fn show_progress(&self) {
        let all_rows: u64 = (1..=self.set.count())
            .map(|number| self.set.rows(number))
            .sum();
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

/// MySQL family: the storage engine of the tables, unless another is asked for.
const DEFAULT_ENGINE: &str = "innodb";

/// The storage engine to use; refused if the database has no choice.
pub(super) fn engine_for(target: &Target, asked: Option<&str>) -> Result<String, Stop> {
    if let (Some(engine), Target::Postgres(_) | Target::Sqlite(_)) = (asked, target) {
        return Err(Stop::Arguments(format!(
            "--engine {engine}: only the MySQL family has a choice of storage engines; leave it out"
        )));
    }
    Ok(asked.unwrap_or(DEFAULT_ENGINE).to_owned())
}
