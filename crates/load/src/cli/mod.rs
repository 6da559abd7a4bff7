//! The command line: arguments become a verb on a workload, outcomes become exit codes.

/// Tells a person something beside the report. Unlike `eprintln!` it does not panic where nobody
/// listens any more (`2>&1 | head`).
macro_rules! tell {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($words)*);
    }};
}

mod args;
mod conditions;
mod connect;
mod familiar;
mod ledger;
mod oltp;
mod outside;
mod prepare;
mod run;
mod script;
mod slap;
mod sqlbench;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use crate::engine::{Failure, RunError};
use crate::target::TargetError;
use args::{Cleanup, Cli, Prepare, Run, Verb};

/// Why the program does not end with 0.
#[derive(Debug)]
pub(crate) enum Stop {
    /// An argument is wrong: exit code 2, before anything was connected.
    Arguments(String),
    /// The database, the machine or the output failed: exit code 1.
    Failed(Failure),
    /// The same, and it has been said already.
    Said,
    /// A signal; whatever was measured has been said. Exit code 130.
    Interrupted,
    /// No one listens to us or holds us any more: exit code 1, without a word.
    Alone,
}

impl Stop {
    /// Says a failure now, where there is still something to do after it.
    pub(crate) fn said(self, json: bool) -> Self {
        match self {
            Self::Failed(failure) => {
                say(&failure.code, &failure.message, json);
                Self::Said
            }
            other => other,
        }
    }
}

impl From<TargetError> for Stop {
    fn from(error: TargetError) -> Self {
        Self::Arguments(error.to_string())
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<RunError> for Stop {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Failed(failure) => Self::Failed(failure),
            RunError::Interrupted => Self::Interrupted,
            RunError::InputClosed => Self::Alone,
            RunError::Output(error) => unheard(&error),
        }
    }
}

/// A reader that has had enough (`| head`) is no failure to speak of; a full disk is.
fn unheard(error: &io::Error) -> Stop {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Stop::Alone;
    }
    let doing = format!("the report cannot be written to standard output: {error}");
    Stop::Failed(Failure::new("internal", doing))
}

/// The whole program.
#[must_use]
pub fn main() -> ExitCode {
    let json = std::env::args_os().any(|argument| argument == "--json");
    let outcome = match parse() {
        Ok(cli) => obey(cli.verb),
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => error.exit(),
            _ => {
                // clap's own message names the argument and shows the usage.
                let _ = error.print();
                if json {
                    say_failed("arguments", &error.to_string());
                }
                return exit(2);
            }
        },
    };
    match outcome {
        Ok(()) => exit(0),
        Err(Stop::Arguments(message)) => complain("arguments", &message, json, 2),
        Err(Stop::Failed(failure)) => complain(&failure.code, &failure.message, json, 1),
        Err(Stop::Interrupted) => exit(130),
        Err(Stop::Said | Stop::Alone) => exit(1),
    }
}

fn parse() -> Result<Cli, clap::Error> {
    Cli::try_parse().map_err(|error| {
        let words: Vec<_> = std::env::args_os().collect();
        familiar::explain(error, &Cli::command(), &words)
    })
}

fn obey(verb: Verb) -> Result<(), Stop> {
    match verb {
        Verb::Prepare(Prepare::Conditions(args)) => conditions::prepare(&args),
        Verb::Prepare(Prepare::Ledger(args)) => ledger::prepare(&args),
        Verb::Prepare(Prepare::Oltp(args)) => oltp::prepare(&args),
        Verb::Prepare(Prepare::Script(args)) => script::prepare(&args),
        Verb::Prepare(Prepare::Slap(_)) => slap::prepare(),
        Verb::Run(run) => match *run {
            Run::Conditions(args) => conditions::run(&args),
            Run::Ledger(args) => ledger::run(&args),
            Run::Oltp(args) => oltp::run(&args),
            Run::Script(args) => script::run(&args),
            Run::Slap(args) => slap::run(&args),
            Run::Sqlbench(args) => sqlbench::run(&args),
        },
        Verb::Cleanup(Cleanup::Conditions(args)) => conditions::cleanup(&args),
        Verb::Cleanup(Cleanup::Ledger(args)) => ledger::cleanup(&args),
        Verb::Cleanup(Cleanup::Oltp(args)) => oltp::cleanup(&args),
        Verb::Cleanup(Cleanup::Script(args)) => script::cleanup(&args),
        Verb::Cleanup(Cleanup::Slap(args)) => slap::cleanup(&args),
        Verb::Cleanup(Cleanup::Sqlbench(args)) => sqlbench::cleanup(&args),
    }
}

/// Ends the process even where a worker hangs in a blocking call.
fn exit(code: u8) -> ExitCode {
    let _ = std::io::stdout().flush();
    std::process::exit(i32::from(code))
}

fn complain(code: &str, message: &str, json: bool, exit_code: u8) -> ExitCode {
    say(code, message, json);
    exit(exit_code)
}

fn say(code: &str, message: &str, json: bool) {
    tell!("diskproof-load: {message}");
    if json {
        say_failed(code, message);
    }
}

fn say_failed(code: &str, message: &str) {
    let failed = crate::report::Event::Failed {
        code: code.to_owned(),
        message: message.to_owned(),
    };
    // With standard output gone, standard error has said it.
    let _ = crate::report::Report::event(
        &mut crate::report::JsonReport::new(std::io::stdout()),
        &failed,
    );
}
