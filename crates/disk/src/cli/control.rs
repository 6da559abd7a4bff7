use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Args, Subcommand};

use super::output;
use crate::file;
use crate::serve::{ControlRequest, Schedule, ask};

/// Query or control a served disk
#[derive(Debug, Args)]
pub(super) struct Control {
    /// The disk's control socket
    socket: PathBuf,
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    #[command(flatten)]
    Request(ControlRequest),
    /// Put a schedule of faults into effect
    Faults {
        /// A JSON file, or `none`
        file: PathBuf,
    },
}

impl Control {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let request = match self.what {
            What::Request(request) => request,
            What::Faults { file } if file.as_os_str() == "none" => {
                ControlRequest::Faults(Schedule::default())
            }
            What::Faults { file } => ControlRequest::Faults(schedule(&file)?),
        };
        let reply = ask(&self.socket, &request)?;
        if reply["ok"] != true {
            bail!("{}", reply["error"].as_str().unwrap_or("no reason given"));
        }
        output::print_json(&reply)
    }
}

/// Reads a schedule of faults.
///
/// # Errors
///
/// It cannot be read, or is not a schedule.
fn schedule(path: &Path) -> anyhow::Result<Schedule> {
    let shown = path.display();
    let text = file::read_text(path).with_context(|| format!("the faults in {shown}"))?;
    serde_json::from_str(&text).with_context(|| format!("{shown} is not a schedule of faults"))
}
