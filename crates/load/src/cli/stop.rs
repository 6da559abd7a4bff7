//! The end of the program: message and exit code.

use std::io::{self, Write};

use crate::engine::{Failure, RunError};
use crate::report::{Event, JsonReport, Report};
use crate::target::TargetError;
use crate::workload::lua::LuaError;
use crate::workload::script::ScriptError;

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
    /// Reports a failure now, if there is still something to do after it.
    pub(crate) fn said(self, json: bool) -> Self {
        match self {
            Self::Failed(failure) => {
                say(&failure.code, &failure.message, json);
                Self::Said
            }
            other => other,
        }
    }

    /// Ends the process, with a message if there is something left to say.
    pub(super) fn end(self, json: bool) -> ! {
        match self {
            Self::Arguments(message) => {
                say("arguments", &message, json);
                exit(2)
            }
            Self::Failed(failure) => {
                say(&failure.code, &failure.message, json);
                exit(1)
            }
            Self::Interrupted => exit(130),
            Self::Said | Self::Alone => exit(1),
        }
    }
}

/// A mistake in what the program was given.
trait Mistake: std::fmt::Display {}

impl Mistake for TargetError {}
impl Mistake for clap::Error {}
impl Mistake for LuaError {}
impl Mistake for ScriptError {}

impl<M: Mistake> From<M> for Stop {
    fn from(mistake: M) -> Self {
        Self::Arguments(mistake.to_string())
    }
}

impl From<Failure> for Stop {
    /// A script refuses arguments, too.
    fn from(failure: Failure) -> Self {
        match failure.code.as_str() {
            "arguments" => Self::Arguments(failure.message),
            _ => Self::Failed(failure),
        }
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

/// A reader that has seen enough (`| head`) is not a failure; a full disk is.
fn unheard(error: &io::Error) -> Stop {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Stop::Alone;
    }
    let doing = format!("cannot write the report to standard output: {error}");
    Stop::Failed(Failure::new("internal", doing))
}

/// Ends the process even if a worker hangs in a blocking call.
pub(super) fn exit(code: i32) -> ! {
    let _ = io::stdout().flush();
    std::process::exit(code)
}

fn say(code: &str, message: &str, json: bool) {
    tell!("diskproof-load: {message}");
    if json {
        say_failed(code, message);
    }
}

pub(super) fn say_failed(code: &str, message: &str) {
    let failed = Event::Failed {
        code: code.to_owned(),
        message: message.to_owned(),
    };
    // With standard output gone, standard error has said it.
    let _ = JsonReport::new(io::stdout()).event(&failed);
}
