use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use serde_json::json;

use super::promise::PromiseOptions;
use super::{output, size};
use crate::device;
use crate::file;
use crate::serve::{self, BelowFloor, Form, Options, Schedule};

/// Serve a device as a file or a directory in a FUSE mount, until it is detached, unmounted or interrupted
#[derive(Debug, Args)]
pub(super) struct Serve {
    /// A device's name, or the path of a file that ends in .toml
    device: String,
    /// An empty directory; the disk becomes the file `disk` in it, or the directory itself
    #[arg(long)]
    mount: PathBuf,
    /// What the mount shows
    #[arg(long = "as", value_enum, default_value_t = Form::File)]
    form: Form,
    /// Path of the control socket
    #[arg(long)]
    socket: PathBuf,
    /// Size of the disk, from the start of the device: bytes or `8 GiB` [default: the whole device]
    #[arg(long, value_parser = size::parse)]
    size: Option<u64>,
    /// Seed of the model's random draws
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    promise: PromiseOptions,
    /// Whether requests take the model's time from the start
    #[arg(long, value_enum, default_value_t = Switch::On)]
    timing: Switch,
    /// Where to keep the bytes: `memory`, or the path of a scratch file that is created and removed
    #[arg(long, default_value = "memory")]
    contents: PathBuf,
    /// A file with the initial bytes of the disk; it is only read
    #[arg(long)]
    image: Option<PathBuf>,
    /// Most bytes that the contents may take; writes fail beyond that [default: three quarters of available memory, or no limit for a file]
    #[arg(long, value_parser = size::parse)]
    memory_limit: Option<u64>,
    /// Let processors sleep deeply; answers may then be late
    #[arg(long)]
    let_idle: bool,
    /// Serve a device even if it is faster than this machine can answer
    #[arg(long)]
    below_floor: bool,
    /// Latency of the path to the disk, subtracted from each answer [default: measured at the start]
    #[arg(long, value_parser = microseconds)]
    path_us: Option<f64>,
    /// Let the disk's time pass so many times slower; all that it says of time is in its own
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    dilation: u32,
    /// A schedule of faults: a JSON file as for `control … faults`
    #[arg(long)]
    faults: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Switch {
    On,
    Off,
}

/// Refuses more than a second: no path to a disk takes that long.
pub(super) fn microseconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(us) if (0.0..=1e6).contains(&us) => Ok(us),
        _ => Err("must be a number of microseconds from 0 to 1000000".to_owned()),
    }
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
            form: self.form,
            mount: self.mount,
            socket: self.socket,
            size_bytes: self.size,
            seed: self.seed,
            promise: self.promise.promise()?,
            timing: self.timing == Switch::On,
            contents,
            image: self.image,
            limit_bytes,
            let_idle: self.let_idle,
            below_floor: self.below_floor,
            path_us: self.path_us,
            dilation: self.dilation,
            faults: self.faults.as_deref().map(schedule).transpose()?,
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

/// Reads a schedule of faults.
///
/// # Errors
///
/// It cannot be read, or is not a schedule.
pub(super) fn schedule(path: &Path) -> anyhow::Result<Schedule> {
    let shown = path.display();
    let text = file::read_text(path).with_context(|| format!("the faults in {shown}"))?;
    serde_json::from_str(&text).with_context(|| format!("{shown} is not a schedule of faults"))
}
