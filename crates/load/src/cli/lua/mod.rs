//! The verbs of Lua scripts.

pub(super) mod args;
pub(super) mod general;
pub(super) mod guard;
pub(super) mod hooked;
pub(super) mod once;
pub(super) mod source;

use std::sync::Arc;
use std::time::Duration;

use super::Stop;
use super::args::Reach;
use super::connect::{Task, target, with_driver};
use super::kernel_fence::{KernelFence, tell_weakness};
use super::outside::say_when_interrupted;
use super::run::{Kind, retry, run_reported, seed};
use super::script::ask_for_names;
use crate::driver::{Dialect, Driver, Protocol};
use crate::target::Target;
use crate::workload::lua::{LuaError, LuaOptions, LuaWorkload, Output, Watch};
use crate::workload::sql::Errand;
use args::{LuaArgs, OnceLua, RunLua, given};
use hooked::{Counted, Hooked};
use source::find;

impl From<LuaError> for Stop {
    fn from(error: LuaError) -> Self {
        Self::Arguments(error.to_string())
    }
}

/// A script with all that it needs but the database's dialect and names.
pub(super) struct Ready {
    pub(super) options: LuaOptions,
    /// How long the script may compute without a statement.
    pub(super) limit: Duration,
    /// `None` if the script is trusted.
    pub(super) kernel_fence: Option<KernelFence>,
}

impl Ready {
    fn new(
        args: &LuaArgs,
        reach: &Reach,
        command: &str,
        target: &Target,
        run: &general::Run,
        output: Output,
    ) -> Result<Self, Stop> {
        let found = find(&args.script).map_err(Stop::Arguments)?;
        let kernel_fence = (!args.trust_script)
            .then(|| KernelFence::new(target, &found.folders, run.threads, args.script_memory));
        let options = LuaOptions {
            script: found.name,
            text: found.text,
            path: found.path,
            folders: found.folders,
            command: command.to_owned(),
            general: general::settings(target, run),
            given: given(&args.given),
            dialect: Dialect::Mysql,
            protocol: args.protocol.into(),
            laws: args.distribution.into(),
            seed: run.seed,
            trusted: args.trust_script,
            memory_limit_bytes: bytes_of_mib(args.script_memory),
            output,
            fence: target.fence(Errand::Measured, reach.any_database),
            is_ours: false,
            rows: None,
        };
        Ok(Self {
            options,
            limit: args.script_limit,
            kernel_fence,
        })
    }

    /// The workload for a database; refuses a script that does not load or lacks the command. From
    /// now on the program ends if the script computes for too long.
    pub(super) fn workload<D: Driver>(self, driver: &D) -> Result<LuaWorkload, Stop> {
        let mut options = self.options;
        if let Some(fence) = &self.kernel_fence {
            tell_weakness()?;
            fence.close()?;
        }
        options.dialect = driver.dialect();
        if options.dialect == Dialect::Mysql && driver.has_tables() {
            ask_for_names(driver, &mut options.fence)?;
        }
        let watch = Arc::new(Watch::default());
        let (script, is_json) = (options.script.clone(), options.output == Output::Stderr);
        guard::guard(Arc::clone(&watch), script, self.limit, is_json);
        Ok(LuaWorkload::new(options, watch)?)
    }
}

pub(super) fn bytes_of_mib(mib: u32) -> usize {
    usize::try_from(mib).unwrap_or(usize::MAX) << 20
}

/// Words of the script's kind, in between what it prints itself.
pub(super) fn say(words: &str) {
    use std::io::Write;
    // Nobody may read them any more, which is no reason to end.
    let _ = crate::plain::Plain(std::io::stdout()).write_all(words.as_bytes());
}

pub(super) fn prepare(args: &OnceLua) -> Result<(), Stop> {
    once(args, "prepare")
}

pub(super) fn cleanup(args: &OnceLua) -> Result<(), Stop> {
    once(args, "cleanup")
}

fn once(args: &OnceLua, verb: &str) -> Result<(), Stop> {
    let target = target(&args.connection)?;
    let run = general::Run {
        threads: args.clients,
        events: 0,
        seconds: 0.0,
        rate: 0.0,
        report_interval_s: 0.0,
        warm_up_s: 0.0,
        percentile: 95.0,
        prepares: Protocol::from(args.lua.protocol) == Protocol::Prepared,
        seed: seed(args.lua.seed),
    };
    let command = args.command.as_deref().unwrap_or(verb);
    let ready = Ready::new(
        &args.lua,
        &args.reach,
        command,
        &target,
        &run,
        Output::Stdout,
    )?;
    let clients = args.clients;
    with_driver(target, OnceTask { ready, clients })
}

/// Runs one of the script's commands.
pub(super) struct OnceTask {
    pub(super) ready: Ready,
    pub(super) clients: u32,
}

impl Task for OnceTask {
    const MAY_CREATE: bool = true;

    fn perform<D: Driver + Send + 'static>(self, driver: D) -> Result<(), Stop> {
        let command = self.ready.options.command.clone();
        let limit = self.ready.limit;
        let workload = self.ready.workload(&driver)?;
        say_when_interrupted(format!(
            "interrupted: the script's {command} is not complete"
        ))?;
        let clients = usize::try_from(self.clients).unwrap_or(usize::MAX);
        let retry = retry(&driver, &["transient".to_owned()])?;
        Ok(once::perform(&driver, &workload, clients, &retry, limit)?)
    }
}

pub(super) fn run(args: &RunLua) -> Result<(), Stop> {
    let target = target(&args.connection)?;
    let load = &args.load;
    let run = general::Run {
        threads: load.crowd.clients,
        events: load.transactions.unwrap_or(0),
        seconds: load.seconds.map_or(0.0, |seconds| seconds.as_secs_f64()),
        rate: load.rate.unwrap_or(0.0),
        report_interval_s: load.output.report_interval.as_secs_f64(),
        warm_up_s: load.warm_up.as_secs_f64(),
        percentile: percentile(&load.output.percentiles),
        prepares: Protocol::from(args.lua.protocol) == Protocol::Prepared,
        seed: seed(args.lua.seed),
    };
    let output = if load.output.json {
        Output::Stderr
    } else {
        Output::Stdout
    };
    let ready = Ready::new(&args.lua, &args.reach, "run", &target, &run, output)?;
    with_driver(target, RunTask { args, ready })
}

/// The percentile for a script's hooks: 95 if the user asked for it, or else the highest.
fn percentile(asked: &[f64]) -> f64 {
    const USUAL: f64 = 95.0;
    let has_usual = asked.iter().any(|own| (own - USUAL).abs() < f64::EPSILON);
    if has_usual || asked.is_empty() {
        return USUAL;
    }
    asked.iter().copied().fold(0.0, f64::max)
}

struct RunTask<'a> {
    args: &'a RunLua,
    ready: Ready,
}

impl Task for RunTask<'_> {
    fn perform<D: Driver + Send + 'static>(self, driver: D) -> Result<(), Stop> {
        let load = &self.args.load;
        let (seed, protocol) = (self.ready.options.seed, self.ready.options.protocol);
        let workload = self.ready.workload(&driver)?;
        let json = load.output.json;
        let name = workload.name();
        let hooks = workload.hooks()?;
        let kind = Kind {
            workload: "lua",
            mix: name,
            protocol,
            seed,
        };
        run_reported(driver, workload, kind, load, |inner| {
            Box::new(Hooked {
                hooks,
                inner,
                passes_all: json,
                percentile: percentile(&load.output.percentiles),
                clients: usize::try_from(load.crowd.clients).unwrap_or(usize::MAX),
                counted: Counted::default(),
            })
        })
    }
}
