//! Scripts that are run once, to make tables and to drop them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::archive::{is_archive, restored};
use super::args::OnceScript;
use super::{MEMORY_MIB, Stop, check_names, name_among};
use crate::cli::kernel_fence::KernelFence;
use crate::cli::prepare::working;
use crate::driver::{Admin, Dialect, Driver, Fault, ServerError};
use crate::engine::Failure;
use crate::file;
use crate::target::Target;
use crate::workload::script::{Once, Rows, Statement, Text, Value};
use crate::workload::sql::{Errand, Fence};

/// A statement that takes longer is reported when it is done.
const WORTH_TELLING: Duration = Duration::from_secs(1);

/// A statement that every server takes.
const SHORT_BYTES: usize = 1 << 20;

/// What servers say of a SET that is for another version: an unknown variable, value, collation or
/// character set, and a variable that is no session's any more.
const UNKNOWN: [&str; 7] = ["1193", "1231", "1273", "1115", "1238", "42704", "22023"];

/// The scripts, read before anything connects.
pub(super) struct RunOnce {
    files: Vec<(PathBuf, String)>,
    /// The archives among them, by their place.
    archives: BTreeMap<usize, Text>,
    variables: Vec<(String, Value)>,
    seed: u64,
    fence: Fence,
    kernel_fence: KernelFence,
    /// The database that the URL names.
    own: String,
}

impl RunOnce {
    pub(super) fn read(args: &OnceScript, target: &Target) -> Result<Self, Stop> {
        let paths: Vec<&Path> = args.files.iter().map(AsRef::as_ref).collect();
        let files = paths
            .iter()
            .map(|path| (path.to_path_buf(), name_among(path, &paths)))
            .collect();
        let mut archives = BTreeMap::new();
        for (at, path) in paths.iter().enumerate() {
            if !is_archive(path) {
                continue;
            }
            if target.dialect() != Dialect::Postgres {
                return Err(Stop::Arguments(format!(
                    "{}: this is an archive of pg_dump, which only PostgreSQL takes",
                    path.display()
                )));
            }
            archives.insert(at, restored(path)?);
        }
        Ok(Self {
            files,
            archives,
            variables: args.variables.all.clone(),
            seed: args.seed,
            fence: target.fence(Errand::Once, args.reach.any_database),
            kernel_fence: KernelFence::new(target, &args.files, 1, MEMORY_MIB),
            own: target.database().to_owned(),
        })
    }

    /// Reads the files to their ends; nothing is connected.
    fn open(&mut self, dialect: Dialect) -> Result<Vec<Once>, Stop> {
        let mut all = Vec::new();
        for (at, (path, name)) in self.files.iter().enumerate() {
            let given = self.variables.clone();
            let text = match self.archives.remove(&at) {
                Some(archive) => archive,
                None => file::open(path)
                    .map(Text::File)
                    .map_err(|why| Stop::Arguments(format!("{}: {why}", path.display())))?,
            };
            all.push(Once::read(
                text,
                name,
                dialect,
                self.fence.clone(),
                given,
                self.seed,
            )?);
        }
        Ok(all)
    }

    /// Runs all of them.
    pub(super) fn perform<D: Driver>(mut self, driver: &D) -> Result<(), Stop> {
        self.kernel_fence.close()?;
        let mut all = self.open(driver.dialect())?;
        let whole = has_several(&all, &self.fence)?;
        if !whole && driver.dialect() == Dialect::Mysql {
            refuse_own_name(&all, &self.own)?;
        }
        for once in &all {
            for said in once.left_out(whole) {
                tell!("{said}");
            }
        }
        for once in &all {
            check_names(driver, self.fence.clone(), &once.names)?;
        }
        let mut admin = working(driver)?;
        refuse_long(&mut *admin, driver.dialect(), &all)?;
        let mut done = 0;
        for once in &mut all {
            once.run(whole, |statement, rows| {
                send(&mut *admin, statement, rows, &mut done)
            })
            .map_err(|error| Failure::new("script", error.to_string()))??;
        }
        tell!("{done} statement{} done", if done == 1 { "" } else { "s" });
        Ok(())
    }
}

/// Whether the files are of several databases, and go where they say; refused if they may not.
fn has_several(all: &[Once], fence: &Fence) -> Result<bool, Stop> {
    let mut databases = all.iter().flat_map(Once::databases);
    let Some((first, _)) = databases.next() else {
        return Ok(false);
    };
    match databases.find(|(other, _)| *other != first) {
        Some((other, place)) if fence.stands() => Err(Stop::Arguments(format!(
            "{place}: this is a dump of several databases, such as `{first}` and `{other}`; make one of a \
             single database, or let it go where it says with --any-database"
        ))),
        other => Ok(other.is_some()),
    }
}

/// Refuses a dump that names its database inside its statements, as one of views often does.
fn refuse_own_name(all: &[Once], own: &str) -> Result<(), Stop> {
    let Some((database, _)) = all.iter().flat_map(Once::databases).next() else {
        return Ok(());
    };
    let place = all.iter().find_map(|once| once.names.get(database));
    match place {
        Some(place) if database != own => Err(Stop::Arguments(format!(
            "{place}: the dump names its own database, `{database}`, and loads into no other one: make that \
             database and name it in --url (in a study, `database = \"{database}\"`)"
        ))),
        _ => Ok(()),
    }
}

/// Refuses a statement that the server would not take, before the others.
fn refuse_long(admin: &mut dyn Admin, dialect: Dialect, all: &[Once]) -> Result<(), Stop> {
    let longest = all.iter().map(|once| once.longest_bytes).max().unwrap_or(0);
    if dialect != Dialect::Mysql || longest < SHORT_BYTES {
        return Ok(());
    }
    let asking = |fault: Fault| Failure::from_fault("asking for max_allowed_packet", &fault);
    let limit = admin
        .query_value("SELECT @@max_allowed_packet")
        .map_err(asking)?;
    match limit.and_then(|limit| limit.parse::<usize>().ok()) {
        Some(limit) if longest >= limit => Err(Stop::Arguments(format!(
            "the longest statement has {:.1} MiB, and the server takes {:.1} MiB (max_allowed_packet); raise \
             that, or make the dump with --net-buffer-length=1M",
            mebibytes(longest),
            mebibytes(limit)
        ))),
        _ => Ok(()),
    }
}

fn mebibytes(bytes: usize) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

fn send(
    admin: &mut dyn Admin,
    statement: &Statement<'_>,
    rows: Option<&mut Rows<'_>>,
    done: &mut u64,
) -> Result<(), Failure> {
    let Statement { name, sql, sets } = statement;
    let begun = Instant::now();
    let outcome = match rows {
        None => admin.execute_bytes(sql),
        Some(rows) => admin.copy_in(&String::from_utf8_lossy(sql), rows),
    };
    match outcome {
        Err(Fault::Server(ServerError { code, message, .. }))
            if *sets && UNKNOWN.contains(&code.as_str()) =>
        {
            tell!("{name}: left out: this server does not know it ({message})");
            return Ok(());
        }
        outcome => outcome.map_err(|fault| Failure::from_fault(name, &fault))?,
    };
    *done += 1;
    if begun.elapsed() > WORTH_TELLING {
        tell!("{name}: {:.1} s", begun.elapsed().as_secs_f64());
    }
    Ok(())
}
