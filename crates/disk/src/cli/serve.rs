use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::promise::PromiseOptions;
use super::{output, size};
use crate::device;
use crate::serve::{self, BelowFloor, Options};

/// Serve a device as a file or a directory in a FUSE mount, until it is detached, unmounted or interrupted
#[derive(Debug, Args)]
pub(super) struct Serve {
    /// A device's name, or the path of a file that ends in .toml
    device: String,
    #[command(flatten)]
    options: Options,
    /// Size of the disk, from the start of the device: bytes or `8 GiB` [default: the whole device]
    #[arg(long, value_parser = size::parse)]
    size: Option<u64>,
    #[command(flatten)]
    promise: PromiseOptions,
    /// Where to keep the bytes: `memory`, or the path of a scratch file that is created and removed
    #[arg(long, default_value = "memory")]
    contents: PathBuf,
    /// Most bytes that the contents may take; writes fail beyond that [default: three quarters of available memory, or no limit for a file]
    #[arg(long, value_parser = size::parse)]
    memory_limit: Option<u64>,
}

impl Serve {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let outcome = self.serve();
        if let Err(error) = &outcome {
            // Standard error says it, too.
            let _ = output::print_line(&json!({
                "event": "failed",
                "message": format!("{error:#}"),
                "below_floor": error.downcast_ref::<BelowFloor>(),
            }));
        }
        outcome
    }

    fn serve(self) -> anyhow::Result<()> {
        let device = device::open(&self.device)?;
        let contents = (self.contents.as_os_str() != "memory").then_some(self.contents);
        let limit_bytes = match (self.memory_limit, &contents) {
            (Some(bytes), _) => bytes,
            (None, Some(_)) => u64::MAX,
            (None, None) => size::available_memory()? / 4 * 3,
        };
        let options = Options {
            size_bytes: self.size,
            promise: self.promise.promise()?,
            contents,
            limit_bytes,
            ..self.options
        };
        serve::serve(&self.device, &device, &options, |event| {
            for warning in event["warnings"].as_array().into_iter().flatten() {
                let message = warning["message"].as_str().unwrap_or_default();
                output::tell(&format!("warning: {message}"));
            }
            output::print_line(event)
        })
    }
}
