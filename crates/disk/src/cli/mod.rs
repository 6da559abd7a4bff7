//! The command line of diskproof-disk: one file a verb.

mod control;
mod floor;
mod list;
mod promise;
mod replay;
mod serve;
mod show;
mod simulate;
mod size;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

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
    Replay(replay::Replay),
    Floor(floor::Floor),
}

/// Runs the program: 0 done, 1 failed, 2 refused.
#[must_use]
pub fn main() -> ExitCode {
    let outcome = match Arguments::parse().verb {
        Verb::List(verb) => verb.run(),
        Verb::Show(verb) => verb.run(),
        Verb::Simulate(verb) => verb.run(),
        Verb::Serve(verb) => verb.run(),
        Verb::Control(verb) => verb.run(),
        Verb::Replay(verb) => verb.run(),
        Verb::Floor(verb) => verb.run(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("diskproof-disk: {error:#}");
            ExitCode::from(2)
        }
    }
}
