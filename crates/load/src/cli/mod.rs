//! The command line: arguments become a verb on a workload, outcomes become exit codes.

/// Prints a message beside the report, as plain text. Unlike `eprintln!` it does not panic if nobody
/// reads it any more (`2>&1 | head`).
macro_rules! tell {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let line = format!($($words)*) + "\n";
        let _ = $crate::plain::Plain(std::io::stderr()).write_all(line.as_bytes());
    }};
}

mod args;
mod connect;
mod describe;
mod import;
mod kernel_fence;
mod lua;
mod outside;
mod overseer;
mod prepare;
mod replay;
mod run;
mod script;
pub(crate) mod scripted;
mod stop;
mod sysbench;
mod within;

use std::sync::LazyLock;
use std::time::Duration;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::driver;
use crate::target::without_password;
use import::ImportArgs;
use kernel_fence::reader::FenceArgs;
use lua::args::{OnceLua, RunLua};
use replay::RunReplay;
use script::args::{CheckScript, OnceScript, RunScript};
pub(crate) use stop::Stop;
use stop::{exit, say_failed};
use sysbench::SysbenchArgs;

/// The program's version, and that of the database which is built into it.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let own = env!("CARGO_PKG_VERSION");
    format!("{own} ({})", driver::sqlite::version())
});

/// Loads databases: many connections on few threads, latencies with their whole histogram.
#[derive(Debug, Parser)]
#[command(name = "diskproof-load", version = VERSION.as_str(), max_term_width = 100, after_help = EXAMPLE)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

const EXAMPLE: &str = "\
Example:
  diskproof-load prepare oltp --url 'mysql://root@localhost/test?socket=/run/mysqld/mysqld.sock' --tables 4 --rows 100000
  diskproof-load run     oltp --url … --tables 4 --rows 100000 --mix complex --clients 8 --seconds 30 --report-interval 1
  diskproof-load cleanup oltp --url … --tables 4

Passwords come from the environment variable DISKPROOF_PASSWORD or from --password-file.
Exit codes: 0 done; 1 the run could not go on; 2 wrong arguments; 130 interrupted.";

#[derive(Debug, Subcommand)]
enum Verb {
    /// Make the workload's tables and fill them
    #[command(subcommand)]
    Prepare(Prepare),
    /// Run the workload and measure it
    #[command(subcommand)]
    Run(Box<Run>),
    /// Check that the workload's tables are consistent, or that the server can read your SQL
    #[command(subcommand)]
    Check(Check),
    /// Drop the workload's tables
    #[command(subcommand)]
    Cleanup(Cleanup),
    /// Read a server's log of statements as a load that can be replayed
    Import(ImportArgs),
    /// Take sysbench's command line as it stands
    Sysbench(SysbenchArgs),
    /// Say whether this machine's kernel can hold a script in Lua
    Fence(FenceArgs),
    /// Print the workloads with their options, as JSON for a program
    Describe,
}

impl Verb {
    /// The longest time that a script may compute, and the database, if this runs one. SQL computes in the
    /// database.
    fn script(&self) -> Option<(Duration, &str)> {
        let (lua, connection) = match self {
            Self::Prepare(Prepare::Script(args)) | Self::Cleanup(Cleanup::Script(args)) => {
                return Some((Duration::MAX, &args.connection.url));
            }
            Self::Check(Check::Script(args)) => {
                return Some((Duration::MAX, &args.script.connection.url));
            }
            Self::Sysbench(args) => return Some((args.script_limit(), "")),
            Self::Prepare(Prepare::Lua(args)) | Self::Cleanup(Cleanup::Lua(args)) => {
                (&args.lua, &args.connection)
            }
            Self::Run(run) => match &**run {
                Run::Lua(args) => (&args.lua, &args.connection),
                Run::Script(args) => return Some((Duration::MAX, &args.script.connection.url)),
                Run::Replay(_) => return None,
            },
            _ => return None,
        };
        Some((lua.script_limit, &connection.url))
    }
}

#[derive(Debug, Subcommand)]
enum Prepare {
    /// Your own SQL, run once: the tables that a script needs
    Script(OnceScript),
    /// The command `prepare` of a sysbench script in Lua, or another of its commands
    Lua(Box<OnceLua>),
}

#[derive(Debug, Subcommand)]
enum Run {
    /// Your own SQL, in the language of pgbench's scripts
    Script(RunScript),
    /// A sysbench script in Lua, as it stands
    Lua(RunLua),
    /// A load that `import` has read from a log
    Replay(RunReplay),
}

#[derive(Debug, Subcommand)]
enum Check {
    /// The statements of your own SQL, by the server's parser, which runs none
    Script(CheckScript),
}

#[derive(Debug, Subcommand)]
enum Cleanup {
    /// Your own SQL, run once: what drops the tables
    Script(OnceScript),
    /// The command `cleanup` of a sysbench script in Lua
    Lua(Box<OnceLua>),
}

/// The command line as it is declared, with all workloads, for its man pages.
pub fn command() -> clap::Command {
    scripted::names().fold(Cli::command(), |cli, name| {
        scripted::declare(cli, [Some("help"), Some(name)])
    })
}

/// The whole program.
pub fn main() -> ! {
    let json = std::env::args_os().any(|argument| argument == "--json");
    if overseer::is_overseen() {
        overseer::follow();
    }
    let outcome = match parse() {
        Ok(Asked::Scripted(asked)) => scripted::obey(&asked),
        Ok(Asked::Native(cli)) => match cli.verb.script().filter(|_| !overseer::is_overseen()) {
            Some((limit, url)) => overseer::oversee(limit, url, json),
            None => obey(cli.verb),
        },
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => error.exit(),
            _ => {
                // clap's own message names the argument and shows the usage.
                tell!("{}", error.to_string().trim_end());
                if json {
                    say_failed("arguments", &error.to_string());
                }
                exit(2)
            }
        },
    };
    match outcome {
        Ok(()) => exit(0),
        Err(stop) => stop.end(json),
    }
}

/// A verb on a workload: of the program, or of one of its scripts.
enum Asked {
    Native(Box<Cli>),
    Scripted(scripted::Asked),
}

fn parse() -> Result<Asked, clap::Error> {
    let words: Vec<_> = std::env::args_os().collect();
    let first = [1, 2].map(|at| words.get(at).and_then(|word| word.to_str()));
    let declared = scripted::declare(Cli::command(), first);
    let parsed = declared.try_get_matches_from(words).and_then(|matches| {
        if let Some(asked) = scripted::asked(&matches) {
            return Ok(Asked::Scripted(asked));
        }
        Cli::from_arg_matches(&matches).map(|cli| Asked::Native(Box::new(cli)))
    });
    parsed.map_err(|mut error| {
        hide_password(&mut error);
        error
    })
}

/// A URL in the wrong place would be repeated in the message, with its password.
fn hide_password(error: &mut clap::Error) {
    for kind in [
        ContextKind::InvalidArg,
        ContextKind::InvalidSubcommand,
        ContextKind::InvalidValue,
    ] {
        if let Some(ContextValue::String(word)) = error.get(kind)
            && word.contains("://")
        {
            let hidden = without_password(word);
            error.insert(kind, ContextValue::String(hidden));
        }
    }
}

fn obey(verb: Verb) -> Result<(), Stop> {
    match verb {
        Verb::Prepare(Prepare::Script(args)) => script::once(&args, true),
        Verb::Prepare(Prepare::Lua(args)) => lua::once(&args, "prepare"),
        Verb::Run(run) => match *run {
            Run::Script(args) => script::run(&args),
            Run::Lua(args) => lua::run(&args),
            Run::Replay(args) => replay::run(&args),
        },
        Verb::Check(Check::Script(args)) => script::check(&args),
        Verb::Import(args) => import::import(&args),
        Verb::Sysbench(args) => sysbench::run(&args),
        Verb::Fence(args) => kernel_fence::reader::fence(&args),
        Verb::Describe => {
            describe::say();
            Ok(())
        }
        Verb::Cleanup(Cleanup::Script(args)) => script::once(&args, false),
        Verb::Cleanup(Cleanup::Lua(args)) => lua::once(&args, "cleanup"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_declaration_is_sound() {
        Cli::command().debug_assert();
    }
}
