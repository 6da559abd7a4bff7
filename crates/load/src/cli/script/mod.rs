//! The verbs of the script workload.

mod archive;
pub(super) mod args;
mod once;
mod tried;

use std::ffi::OsStr;
use std::path::Path;

use super::Stop;
use super::connect::{target, with_driver};
use super::kernel_fence::KernelFence;
use super::run::{Kind, run_load, seed};
use crate::driver::Driver;
use crate::engine::Failure;
use crate::target::Target;
use crate::workload::script::{ScriptOptions, ScriptWorkload, Source, Weighted};
use crate::workload::sql::{Errand, Fence, Names};
use args::{CheckScript, OnceScript, RunScript, ScriptArgs, WeightedFile};
use once::RunOnce;
use tried::try_statements;

/// Memory for each client's statements and replies: a dump's longest statement, and a server's largest packet.
const MEMORY_MIB: u32 = 1024;

/// `makes`: an SQLite file, too.
pub(super) fn once(args: &OnceScript, makes: bool) -> Result<(), Stop> {
    let target = target(&args.connection)?;
    let once = RunOnce::read(args, &target)?;
    with_driver!(target, creates: makes, driver => once.perform(&driver))
}

pub(super) fn run(args: &RunScript) -> Result<(), Stop> {
    let (target, read) = ReadScripts::new(&args.script, args.load.crowd.clients)?;
    with_driver!(target, creates: false, driver => run_on(driver, args, read))
}

pub(super) fn check(args: &CheckScript) -> Result<(), Stop> {
    let (target, read) = ReadScripts::new(&args.script, 1)?;
    with_driver!(target, creates: false, driver => check_on(&driver, args, read))
}

/// The scripts' texts, and what they may reach.
struct ReadScripts<'a> {
    args: &'a ScriptArgs,
    files: Vec<Weighted>,
    fence: Fence,
    kernel_fence: KernelFence,
}

impl<'a> ReadScripts<'a> {
    fn new(args: &'a ScriptArgs, clients: u32) -> Result<(Target, Self), Stop> {
        let target = target(&args.connection)?;
        let files = read_files(&args.files)?;
        let fence = target.fence(Errand::Measured, args.reach.any_database);
        let read = Self {
            args,
            files,
            fence,
            kernel_fence: KernelFence::new(&target, &[], clients, MEMORY_MIB),
        };
        Ok((target, read))
    }

    /// The workload, all of whose statements stay where they may; from now on the fence is closed.
    fn workload<D: Driver>(self, driver: &D, seed: u64) -> Result<ScriptWorkload, Stop> {
        self.kernel_fence.close()?;
        let options = ScriptOptions {
            files: self.files,
            variables: self.args.variables.all.clone(),
            protocol: self.args.protocol,
            seed,
            fence: self.fence.clone(),
        };
        let workload = ScriptWorkload::new(options, driver.dialect())?;
        check_names(driver, self.fence, &workload.names)?;
        Ok(workload)
    }
}

fn run_on<D: Driver>(driver: D, args: &RunScript, read: ReadScripts<'_>) -> Result<(), Stop> {
    let kind = Kind {
        workload: "script",
        mix: mix(&read.files).into(),
        protocol: args.script.protocol,
        seed: seed(args.seed),
    };
    let workload = read.workload(&driver, kind.seed)?;
    if driver.has_tables() {
        try_statements(&driver, &workload, false)?;
    }
    run_load(driver, workload, kind, &args.load)
}

fn check_on<D: Driver>(driver: &D, args: &CheckScript, read: ReadScripts<'_>) -> Result<(), Stop> {
    let workload = read.workload(driver, 1)?;
    let number = try_statements(driver, &workload, args.syntax)?;
    tell!("the server can read all {number} statements; it has run none");
    Ok(())
}

/// The scripts' names, with their weights if there is a choice: `hot.sql@9 cold.sql@1`.
pub(super) fn mix(files: &[Weighted]) -> String {
    if let [only] = files {
        return only.source.name.clone();
    }
    let names = files
        .iter()
        .map(|file| format!("{}@{}", file.source.name, file.weight));
    names.collect::<Vec<_>>().join(" ")
}

/// Reads the files that can be chosen.
fn read_files(files: &[WeightedFile]) -> Result<Vec<Weighted>, Stop> {
    let chosen: Vec<_> = files.iter().filter(|file| file.weight > 0).collect();
    if chosen.is_empty() {
        return Err(Stop::Arguments(
            "--file: every weight is 0, so no script would run; raise one of them".into(),
        ));
    }
    let paths: Vec<_> = chosen.iter().map(|file| file.path.as_path()).collect();
    chosen
        .iter()
        .map(|file| {
            let source = read(&file.path, &paths)?;
            Ok(Weighted {
                source,
                weight: file.weight,
            })
        })
        .collect()
}

/// Refuses names of tables that lead to other databases of the server.
fn check_names<D: Driver>(driver: &D, mut fence: Fence, names: &Names) -> Result<(), Stop> {
    if names.is_empty() {
        return Ok(());
    }
    ask_for_names(driver, &mut fence)?;
    fence.check(names).map_err(Stop::Arguments)
}

/// Tells the fence which other databases there are.
pub(super) fn ask_for_names<D: Driver>(driver: &D, fence: &mut Fence) -> Result<(), Failure> {
    let asked = driver.admin().and_then(|mut admin| fence.ask(&mut *admin));
    asked.map_err(|fault| Failure::from_fault("asking for the names of databases", &fault))
}

/// Reads a script.
fn read(path: &Path, all: &[&Path]) -> Result<Source, Stop> {
    Source::read(path, &name_among(path, all))
        .map_err(|problem| Stop::Arguments(format!("--file: {problem}")))
}

/// A file's own name, or its whole path where another one has that name.
fn name_among(path: &Path, all: &[&Path]) -> String {
    let own = path.file_name().unwrap_or(path.as_os_str());
    let alike = all.iter().filter(|other| other.file_name() == Some(own));
    let name: &OsStr = if alike.count() > 1 {
        path.as_os_str()
    } else {
        own
    };
    name.to_string_lossy().into_owned()
}
