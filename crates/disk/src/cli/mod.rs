//! The command line of diskproof-disk: one file a verb.

mod batch;
mod clock;
mod control;
mod floor;
mod list;
mod output;
mod probe;
mod promise;
mod serve;
mod show;
mod simulate;
mod size;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

use output::Unread;

/// A virtual disk with a published disk's timing.
#[derive(Debug, Parser)]
#[command(name = "diskproof-disk", version, about, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    List(list::List),
    Show(show::Show),
    Simulate(simulate::Simulate),
    Serve(serve::Serve),
    Control(control::Control),
    Floor(floor::Floor),
    #[command(hide = true)]
    Clock(clock::Clock),
    #[command(name = crate::serve::PROBE, hide = true)]
    Probe(probe::Probe),
}

/// The command line as it is declared, for its man pages.
pub fn command() -> clap::Command {
    Arguments::command()
}

/// Runs the program: 0 done, 1 failed, 2 refused.
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        // Help and version.
        Err(error) if !error.use_stderr() => error.exit(),
        Err(error) => {
            output::write_error(&error.render().to_string());
            return ExitCode::from(2);
        }
    };
    let outcome = match arguments.verb {
        Verb::List(verb) => verb.run(),
        Verb::Show(verb) => verb.run(),
        Verb::Simulate(verb) => verb.run(),
        Verb::Serve(verb) => verb.run(),
        Verb::Control(verb) => verb.run(),
        Verb::Floor(verb) => verb.run(),
        Verb::Clock(verb) => verb.run(),
        Verb::Probe(verb) => {
            verb.run();
            Ok(())
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        // A reader that has seen enough (`| head`) is not a failure.
        Err(error) if error.is::<Unread>() => ExitCode::SUCCESS,
        Err(error) => {
            output::tell(&format!("{error:#}"));
            ExitCode::from(2)
        }
    }
}
