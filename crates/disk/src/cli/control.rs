use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, Subcommand};

use crate::serve::{ControlRequest, ask};

/// Ask a served disk something, or tell it
#[derive(Debug, Args)]
pub(super) struct Control {
    /// The disk's control socket
    socket: PathBuf,
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// What is served, and how
    Describe,
    /// What was done since it was switched on or reset
    Statistics,
    /// Count from now on
    Reset,
    /// Let requests take the model's time, or none
    Timing {
        #[arg(value_parser = ["on", "off"])]
        switch: String,
    },
    /// Keep the bytes as they are under a name
    Snapshot { name: String },
    /// Put the bytes back to what they were; unmount first
    Restore {
        name: String,
        /// Seed of what the model draws from now on; without it the disk's own
        #[arg(long)]
        seed: Option<u64>,
    },
    /// Let a snapshot go
    Forget { name: String },
    /// End it: the mount goes, what is under way fails
    Detach,
}

impl Control {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let request = match self.what {
            What::Describe => ControlRequest::Describe,
            What::Statistics => ControlRequest::Statistics,
            What::Reset => ControlRequest::Reset,
            What::Timing { switch } => ControlRequest::Timing { on: switch == "on" },
            What::Snapshot { name } => ControlRequest::Snapshot { name },
            What::Restore { name, seed } => ControlRequest::Restore { name, seed },
            What::Forget { name } => ControlRequest::Forget { name },
            What::Detach => ControlRequest::Detach,
        };
        let reply = ask(&self.socket, &request)?;
        if reply["ok"] != true {
            bail!("{}", reply["error"].as_str().unwrap_or("no reason given"));
        }
        println!("{}", serde_json::to_string_pretty(&reply)?);
        Ok(())
    }
}
