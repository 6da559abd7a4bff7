//! Workloads that are Lua scripts of this program: their verbs and options are what the scripts say.

mod native;
mod oltp;
mod options;
#[cfg(test)]
pub(crate) mod tests;

use clap::{ArgMatches, Args, Command, FromArgMatches};

use super::Stop;
use super::args::{Connection, Job, Load};
use super::connect::{target, with_driver};
use super::prepare::{build_tables, working};
use super::run::{Kind, run_job, run_load, seed};
use crate::driver::{Dialect, Driver, Protocol};
use crate::engine::Failure;
use crate::workload::distribution::Choice;
use crate::workload::lua::{Conducting, Description, LuaJob, LuaOptions, Output, Plan, Setting};
use crate::workload::sql::{Errand, Fence};
pub(super) use native::{create_acknowledgements, forget};

/// Their names, and their texts.
const ALL: [(&str, &str); 7] = [
    ("conditions", include_str!("conditions.lua")),
    ("ledger", include_str!("ledger.lua")),
    ("oltp", include_str!("oltp.lua")),
    ("pgbench", include_str!("pgbench.lua")),
    ("tpcc", include_str!("tpcc.lua")),
    ("slap", include_str!("slap.lua")),
    (
        "sqlbench",
        concat!(
            include_str!("sqlbench/head.lua"),
            include_str!("sqlbench/atis.lua"),
            include_str!("sqlbench/others.lua"),
            include_str!("sqlbench/insert.lua"),
            include_str!("sqlbench/select.lua"),
            include_str!("sqlbench/job.lua"),
        ),
    ),
];

/// A script is ours, and holds no more than its own statements.
const MEMORY_BYTES: usize = 2 << 30;

/// The seed of tables, and of scripts that have no option for it.
const SEED: u64 = 1;

/// The scripts' names.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    ALL.into_iter().map(|(name, _)| name)
}

/// Adds the verbs of those scripts that the first two words may mean: to load one takes longer than a native
/// workload needs to begin. Only the options of the script that is named are looked for.
pub(super) fn declare(mut cli: Command, words: [Option<&str>; 2]) -> Command {
    let [verb, named] = words;
    let own = verb.and_then(|verb| cli.find_subcommand(verb));
    let lists_workloads = own.is_some_and(Command::has_subcommands) || verb == Some("help");
    let is_native =
        named.is_some_and(|named| own.is_some_and(|own| own.find_subcommand(named).is_some()));
    if !lists_workloads || is_native {
        return cli;
    }
    let is_ours = names().any(|own| named == Some(own));
    for (name, text) in ALL
        .into_iter()
        .filter(|(name, _)| !is_ours || named == Some(name))
    {
        let Ok(Conducting { description, .. }) = Conducting::new(lua_options(name, text)) else {
            debug_assert!(false, "{name} cannot be loaded");
            continue;
        };
        for (verb, about) in description.about {
            let mut command = Command::new(name);
            if named == Some(name) {
                let own = description.options.iter();
                let own = own.filter(|option| option.verbs.contains(&verb));
                command = Connection::augment_args(command).args(own.map(options::arg));
                command = match (verb.as_str(), description.is_steady) {
                    ("run", true) => Load::augment_args(command),
                    ("run", false) => Job::augment_args(command),
                    _ => command,
                };
            }
            // The groups of options bring their own words.
            let command = command.about(about);
            cli = cli.mut_subcommand(verb, |verb| verb.subcommand(command));
        }
    }
    cli
}

/// A verb on one of the scripts, with its arguments.
pub(super) struct Asked {
    verb: String,
    name: &'static str,
    text: &'static str,
    matches: ArgMatches,
}

/// What is asked of a script; `None`: it is asked of something else.
pub(super) fn asked(matches: &ArgMatches) -> Option<Asked> {
    let (verb, matches) = matches.subcommand()?;
    let (name, matches) = matches.subcommand()?;
    let (name, text) = ALL.into_iter().find(|(own, _)| *own == name)?;
    Some(Asked {
        verb: verb.to_owned(),
        name,
        text,
        matches: matches.clone(),
    })
}

pub(super) fn obey(asked: &Asked) -> Result<(), Stop> {
    let Asked {
        verb,
        name,
        text,
        matches,
    } = asked;
    let target = target(&Connection::from_arg_matches(matches)?)?;
    let mut options = lua_options(name, text);
    let described = Conducting::new(lua_options(name, text))?.description;
    options.given = options::given(&described.options, verb, matches);
    let makes = verb == "prepare" || (verb == "run" && !described.is_steady);
    with_driver!(target, creates: makes, driver => perform(driver, asked, options, &described))
}

fn lua_options(name: &'static str, text: &'static str) -> LuaOptions {
    LuaOptions {
        script: name.into(),
        text: text.into(),
        path: String::new(),
        folders: Vec::new(),
        command: "run".into(),
        general: Vec::new(),
        given: Vec::new(),
        dialect: Dialect::Mysql,
        protocol: Protocol::Text,
        distribution: Choice::Uniform,
        seed: SEED,
        trusted: false,
        memory_limit_bytes: MEMORY_BYTES,
        output: Output::Stderr,
        fence: Fence::none(Dialect::Mysql, Errand::Measured),
        is_ours: true,
        rows: None,
    }
}

/// Does what is asked of a script, on a database.
fn perform<D: Driver>(
    driver: D,
    asked: &Asked,
    mut options: LuaOptions,
    described: &Description,
) -> Result<(), Stop> {
    let (name, matches) = (asked.name, &asked.matches);
    let asked_seed = options::number(&options.given, "seed");
    options.seed = asked_seed.unwrap_or(SEED);
    match (asked.verb.as_str(), described.is_steady) {
        ("cleanup", _) => Ok(loaded(&driver, options)?.clean_up(&mut *working(&driver)?)?),
        ("check", _) => {
            // Its report is for standard output.
            options.output = Output::Stdout;
            Ok(loaded(&driver, options)?.verify(&mut *working(&driver)?)?)
        }
        ("prepare", _) => prepare(&driver, name, options),
        (_, true) => {
            options.seed = seed(asked_seed);
            let load = Load::from_arg_matches(matches)?;
            if described.is_native {
                return native::run(driver, name, options, load);
            }
            let clients = load.crowd.clients;
            let (conducting, _, kind) = ready(&driver, name, options, clients)?;
            run_load(driver, conducting.steady(clients.into())?, kind, &load)
        }
        (_, false) => {
            let job = Job::from_arg_matches(matches)?;
            let (conducting, plan, kind) = ready(&driver, name, options, job.crowd.clients)?;
            run_job(driver, &mut LuaJob::new(conducting, plan), kind, &job)
        }
    }
}

/// Makes its tables, several at a time.
fn prepare<D: Driver>(driver: &D, name: &str, mut options: LuaOptions) -> Result<(), Stop> {
    let threads = options::number(&options.given, "threads");
    options.rows = (name == "oltp").then(|| oltp::rows(&options.given, options.seed));
    let conducting = loaded(driver, options)?;
    conducting.check()?;
    let tables = conducting.tables()?;
    let cleanup = format!("diskproof-load cleanup {} {}", name, tables.which);
    Ok(build_tables(driver, &tables, cleanup.trim_end(), threads)?)
}

/// The script, for this database.
fn loaded<D: Driver>(driver: &D, mut options: LuaOptions) -> Result<Conducting, Stop> {
    options.dialect = driver.dialect();
    let has_tables = Setting::Bool(driver.has_tables());
    options.general.push(("has_tables".into(), has_tables));
    Ok(Conducting::new(options)?)
}

/// A script that is about to run, on a database that has what it needs.
fn ready<D: Driver>(
    driver: &D,
    name: &'static str,
    mut options: LuaOptions,
    clients: u32,
) -> Result<(Conducting, Plan, Kind), Stop> {
    let clients = Setting::Int(clients.into());
    options.general.push(("threads".into(), clients));
    let seed = options.seed;
    let mut conducting = loaded(driver, options)?;
    conducting.check()?;
    let mut admin = driver.admin().map_err(Failure::connecting)?;
    let plan = conducting.plan(&mut *admin)?;
    let kind = Kind {
        workload: name,
        mix: plan.mix.clone().into(),
        protocol: if plan.prepares {
            Protocol::Prepared
        } else {
            Protocol::Text
        },
        seed,
    };
    Ok((conducting, plan, kind))
}
