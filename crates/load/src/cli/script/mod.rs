//! The verbs of the script workload.

pub(super) mod args;
mod once;

use std::ffi::OsStr;
use std::path::Path;

use super::Stop;
use super::connect::{Task, target, with_driver};
use super::run::{Kind, run_load, seed};
use crate::driver::Driver;
use crate::workload::script::{ScriptError, ScriptOptions, ScriptWorkload, Source, Weighted};
use args::{OnceScript, RunScript, WeightedFile};
use once::RunOnce;

pub(super) fn prepare(args: &OnceScript) -> Result<(), Stop> {
    with_driver(target(&args.connection)?, RunOnce::<true>::read(args)?)
}

pub(super) fn cleanup(args: &OnceScript) -> Result<(), Stop> {
    with_driver(target(&args.connection)?, RunOnce::<false>::read(args)?)
}

pub(super) fn run(args: &RunScript) -> Result<(), Stop> {
    let target = target(&args.connection)?;
    let files = read_files(&args.files)?;
    with_driver(target, RunTask { args, files })
}

impl From<ScriptError> for Stop {
    fn from(error: ScriptError) -> Self {
        Self::Arguments(error.to_string())
    }
}

struct RunTask<'a> {
    args: &'a RunScript,
    files: Vec<Weighted>,
}

impl Task for RunTask<'_> {
    fn perform<D: Driver + Send + 'static>(self, driver: D) -> Result<(), Stop> {
        let kind = Kind {
            workload: "script",
            mix: mix(&self.files).into(),
            protocol: self.args.protocol.into(),
            seed: seed(self.args.seed),
        };
        let options = ScriptOptions {
            files: self.files,
            variables: self.args.variables.all.clone(),
            protocol: kind.protocol,
            reconnect: self.args.reconnect,
            seed: kind.seed,
        };
        let workload = ScriptWorkload::new(options, driver.dialect())?;
        run_load(driver, workload, kind, &self.args.load)
    }
}

/// The scripts' names, with their weights if there is a choice: `hot.sql@9 cold.sql@1`.
fn mix(files: &[Weighted]) -> String {
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

/// Reads a file under its own name, or under its whole path where another one has that name.
fn read(path: &Path, all: &[&Path]) -> Result<Source, Stop> {
    let own = path.file_name().unwrap_or(path.as_os_str());
    let alike = all.iter().filter(|other| other.file_name() == Some(own));
    let name: &OsStr = if alike.count() > 1 {
        path.as_os_str()
    } else {
        own
    };
    Source::read(path, &name.to_string_lossy())
        .map_err(|problem| Stop::Arguments(format!("--file: {problem}")))
}
