//! Scripts that are run once, to make tables and to drop them.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::args::OnceScript;
use super::{Stop, Task, read};
use crate::cli::prepare::working;
use crate::driver::{Admin, Args, Driver, Protocol};
use crate::engine::Failure;
use crate::workload::script::{ScriptOptions, ScriptWorkload, Source, Value, Weighted};
use crate::workload::{Next, Script, Workload};

/// A statement that takes longer is reported when it is done.
const WORTH_TELLING: Duration = Duration::from_secs(1);

/// The scripts, read before anything connects; `MAKES`: they may make an SQLite file.
pub(super) struct RunOnce<const MAKES: bool> {
    sources: Vec<Source>,
    variables: Vec<(String, Value)>,
    seed: u64,
}

impl<const MAKES: bool> RunOnce<MAKES> {
    pub(super) fn read(args: &OnceScript) -> Result<Self, Stop> {
        let paths: Vec<&Path> = args.files.iter().map(AsRef::as_ref).collect();
        let sources = paths.iter().map(|path| read(path, &paths));
        Ok(Self {
            sources: sources.collect::<Result<_, _>>()?,
            variables: args.variables.all.clone(),
            seed: args.seed,
        })
    }
}

impl<const MAKES: bool> Task for RunOnce<MAKES> {
    const MAY_CREATE: bool = MAKES;

    fn perform<D: Driver + Send + 'static>(self, driver: D) -> Result<(), Stop> {
        let scripts = self
            .sources
            .into_iter()
            .map(|source| {
                let options = ScriptOptions {
                    files: vec![Weighted { source, weight: 1 }],
                    variables: self.variables.clone(),
                    protocol: Protocol::Text,
                    reconnect: None,
                    seed: self.seed,
                };
                ScriptWorkload::new(options, driver.dialect())
            })
            .collect::<Result<Vec<_>, _>>()?;
        let mut admin = working(&driver)?;
        let mut done = 0;
        for script in scripts {
            done += perform(&script, &mut *admin)?;
        }
        tell!("{done} statement{} done", if done == 1 { "" } else { "s" });
        Ok(())
    }
}

/// Runs one script to its end, or to the first refused statement; returns how many statements it
/// sent.
fn perform(workload: &ScriptWorkload, admin: &mut dyn Admin) -> Result<u64, Failure> {
    let mut done = 0;
    let types = workload.catalogue().types();
    let mut script = workload.script(0);
    let mut args = Args::default();
    script.begin();
    while let Some(next) = script.next(&mut args) {
        match next {
            Next::Sql { type_index } => {
                let name = &types[type_index].name;
                let sql = String::from_utf8_lossy(args.sql());
                let begun = Instant::now();
                admin
                    .execute(&sql)
                    .map_err(|fault| Failure::from_fault(name, &fault))?;
                done += 1;
                if begun.elapsed() > WORTH_TELLING {
                    tell!("{name}: {:.1} s", begun.elapsed().as_secs_f64());
                }
            }
            Next::Sleep { us } | Next::Wait { us } => thread::sleep(Duration::from_micros(us)),
            Next::Fail => return Err(Failure::new("script", script.mistake())),
            // Under the text protocol a script sends nothing else.
            Next::Statement(_)
            | Next::Reconnect { .. }
            | Next::Prepare
            | Next::Own { .. }
            | Next::Again => {
                return Err(Failure::internal("a statement that was to be text is not"));
            }
        }
    }
    Ok(done)
}
