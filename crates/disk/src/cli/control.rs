use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, Subcommand};

use crate::serve::{ControlRequest, Schedule, ask};
use crate::volatile::{Choice, Keep};

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
    /// Put the bytes back to what they were; without a name, bring power back after a cut. Unmount first
    Restore {
        name: Option<String>,
        /// Seed of what the model draws from now on; without it the disk's own
        #[arg(long)]
        seed: Option<u64>,
    },
    /// Let a snapshot go
    Forget { name: String },
    /// Keep account of what a power cut can take, or no longer
    Track {
        #[arg(value_parser = ["on", "off"])]
        switch: String,
        /// A new file for all requests and their bytes, up to the cut
        #[arg(long)]
        log: Option<PathBuf>,
    },
    /// Cut the power: every request fails, until a restore
    Cut {
        /// Of what survives
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// What survives of the writes that are not safe yet; `all` is an operating system that stopped
        #[arg(long, value_enum, default_value_t = Keep::Random)]
        keep: Keep,
        /// The sector under a spinning head may come to be unreadable
        #[arg(long)]
        unreadable: bool,
    },
    /// Let a schedule of faults befall it
    Faults {
        /// A JSON file, or `none`
        file: PathBuf,
    },
    /// Bring the disk, with the bytes of a log's beginning, to what survived the log's cut
    Replay { log: PathBuf },
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
            What::Track { switch, log } => ControlRequest::Track {
                on: switch == "on",
                log: log.as_deref().map(std::path::absolute).transpose()?,
            },
            What::Cut {
                seed,
                keep,
                unreadable,
            } => ControlRequest::Cut(Choice {
                seed,
                keep,
                unreadable,
            }),
            What::Faults { file } if file.as_os_str() == "none" => {
                ControlRequest::Faults(Schedule {
                    schedule: Vec::new(),
                    seed: 0,
                })
            }
            What::Faults { file } => ControlRequest::Faults(super::serve::schedule(&file)?),
            What::Replay { log } => ControlRequest::Replay {
                log: std::path::absolute(log)?,
            },
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
