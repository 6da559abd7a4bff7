//! The verbs of Lua scripts.

pub(super) mod args;
mod general;
mod guard;
mod once;
mod source;

use std::sync::Arc;
use std::time::Duration;

use super::Stop;
use super::args::{Load, Reach};
use super::connect::{target, with_driver};
use super::kernel_fence::{KernelFence, tell_weakness};
use super::outside::say_when_interrupted;
use super::run::{Kind, retry, run_load, seed};
use super::script::ask_for_names;
use crate::driver::{Dialect, Driver, Protocol};
use crate::target::Target;
use crate::workload::lua::{LuaOptions, LuaWorkload, Output, Watch};
use crate::workload::sql::Errand;
use args::{LuaArgs, OnceLua, RunLua, given};
use source::find;

/// A script with all that it needs but the database's dialect and names.
struct Ready {
    options: LuaOptions,
    /// How long the script may compute without a statement.
    limit: Duration,
    /// `None` if the script is trusted.
    kernel_fence: Option<KernelFence>,
}

impl Ready {
    fn new(
        args: &LuaArgs,
        reach: &Reach,
        command: &str,
        target: &Target,
        clients: u32,
        load: Option<&Load>,
    ) -> Result<Self, Stop> {
        let found = find(&args.script).map_err(Stop::Arguments)?;
        let (seed, protocol) = (seed(args.seed), args.protocol);
        let prepares = protocol == Protocol::Prepared;
        let kernel_fence = (!args.trust_script)
            .then(|| KernelFence::new(target, &found.folders, clients, args.script_memory));
        let options = LuaOptions {
            script: found.name,
            text: found.text,
            path: found.path,
            folders: found.folders,
            command: command.to_owned(),
            general: general::settings(target, prepares, seed, clients, load),
            given: given(&args.given),
            dialect: Dialect::Mysql,
            protocol,
            distribution: args.distribution,
            seed,
            trusted: args.trust_script,
            memory_limit_bytes: bytes_of_mib(args.script_memory),
            output: match load {
                Some(load) if load.output.json => Output::Stderr,
                _ => Output::Stdout,
            },
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
    fn workload<D: Driver>(self, driver: &D) -> Result<LuaWorkload, Stop> {
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

fn bytes_of_mib(mib: u32) -> usize {
    usize::try_from(mib).unwrap_or(usize::MAX) << 20
}

/// Words of the script's kind, in between what it prints itself.
pub(super) fn say(words: &str) {
    use std::io::Write;
    // Nobody may read them any more, which is no reason to end.
    let _ = crate::plain::Plain(std::io::stdout()).write_all(words.as_bytes());
}

/// `verb` is the command that nobody need name.
pub(super) fn once(args: &OnceLua, verb: &str) -> Result<(), Stop> {
    let target = target(&args.connection)?;
    let command = args.command.as_deref().unwrap_or(verb);
    once_on(target, &args.lua, &args.reach, command, args.clients)
}

pub(super) fn once_on(
    target: Target,
    args: &LuaArgs,
    reach: &Reach,
    command: &str,
    clients: u32,
) -> Result<(), Stop> {
    let ready = Ready::new(args, reach, command, &target, clients, None)?;
    with_driver!(target, creates: true, driver => perform(&driver, ready, clients))
}

/// Runs one of the script's commands.
fn perform<D: Driver>(driver: &D, ready: Ready, clients: u32) -> Result<(), Stop> {
    let (command, limit) = (ready.options.command.clone(), ready.limit);
    let workload = ready.workload(driver)?;
    say_when_interrupted(format!(
        "interrupted: the script's {command} is not complete"
    ))?;
    let clients = usize::try_from(clients).unwrap_or(usize::MAX);
    let retry = retry(driver, &["transient".to_owned()])?;
    Ok(once::perform(driver, &workload, clients, &retry, limit)?)
}

pub(super) fn run(args: &RunLua) -> Result<(), Stop> {
    let target = target(&args.connection)?;
    run_on(target, &args.lua, &args.reach, &args.load)
}

pub(super) fn run_on(
    target: Target,
    args: &LuaArgs,
    reach: &Reach,
    load: &Load,
) -> Result<(), Stop> {
    let clients = load.crowd.clients;
    let ready = Ready::new(args, reach, "run", &target, clients, Some(load))?;
    with_driver!(target, creates: false, driver => measure(driver, ready, load))
}

fn measure<D: Driver>(driver: D, ready: Ready, load: &Load) -> Result<(), Stop> {
    let (seed, protocol) = (ready.options.seed, ready.options.protocol);
    let workload = ready.workload(&driver)?;
    let beside = workload.beside()?;
    let kind = Kind {
        workload: "lua",
        mix: workload.name(),
        protocol,
        seed,
    };
    run_load(driver, workload, kind, load)?;
    if let Err(error) = beside.done() {
        tell!("diskproof-load: {error}");
    }
    Ok(())
}
