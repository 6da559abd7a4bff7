use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, Subcommand};

use super::output;
use crate::serve::{ControlRequest, Schedule, ask};
use crate::volatile::{Choice, Keep};

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
    /// Print what is served, and how
    Describe,
    /// Print what the disk did since its statistics began
    Statistics,
    /// Start the statistics again from now
    Reset,
    /// Switch the model's timing on, or answer requests at once
    Timing {
        #[arg(value_parser = ["on", "off"])]
        switch: String,
    },
    /// Keep a snapshot of the bytes under a name
    Snapshot { name: String },
    /// Put the bytes of a snapshot back; without a name, restore power after a cut. Unmount first
    Restore {
        name: Option<String>,
        /// Seed of the model from now on [default: the seed that the disk was served with]
        #[arg(long)]
        seed: Option<u64>,
    },
    /// Delete a snapshot
    Forget { name: String },
    /// Start or stop tracking what a power cut can take
    Track {
        #[arg(value_parser = ["on", "off"])]
        switch: String,
        /// A new file that logs all requests and their bytes, up to the cut
        #[arg(long)]
        log: Option<PathBuf>,
    },
    /// Cut the power: every request fails until a restore
    Cut {
        /// Seed of the choice of what survives
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Which of the writes that are not safe yet survive; `all`: only the operating system stopped
        #[arg(long, value_enum, default_value_t = Keep::Random)]
        keep: Keep,
        /// The sector under a spinning head may become unreadable
        #[arg(long)]
        unreadable: bool,
    },
    /// Put a schedule of faults into effect
    Faults {
        /// A JSON file, or `none`
        file: PathBuf,
    },
    /// Bring a disk that holds the bytes from the start of a log to what survived the log's cut
    Replay { log: PathBuf },
    /// Stop serving: the mount is removed, and requests in progress fail
    Detach,
}

impl Control {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let request = match self.what {
            What::Describe => ControlRequest::Describe {},
            What::Statistics => ControlRequest::Statistics {},
            What::Reset => ControlRequest::Reset {},
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
            What::Detach => ControlRequest::Detach {},
        };
        let reply = ask(&self.socket, &request)?;
        if reply["ok"] != true {
            bail!("{}", reply["error"].as_str().unwrap_or("no reason given"));
        }
        output::print_json(&reply)
    }
}
