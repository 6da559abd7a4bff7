use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use serde_json::json;

use super::promise::PromiseOptions;
use super::size;
use crate::device;
use crate::serve::{self, Form, Options, Schedule};

/// Serve a device as a file or a directory in a FUSE mount, until it is detached, unmounted or interrupted
#[derive(Debug, Args)]
pub(super) struct Serve {
    /// A device's name, or the path of a file that ends in .toml
    device: String,
    /// An empty directory; the disk is the file `disk` in it, or this very directory
    #[arg(long)]
    mount: PathBuf,
    /// What is in the mount
    #[arg(long = "as", value_enum, default_value_t = Form::File)]
    form: Form,
    /// Where to make the control socket
    #[arg(long)]
    socket: PathBuf,
    /// Bytes of the disk, from its start, as a number or `8 GiB` [default: the whole device]
    #[arg(long, value_parser = size::parse)]
    size: Option<u64>,
    /// Seed of every draw of the model
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    promise: PromiseOptions,
    /// Whether requests take the model's time from the start
    #[arg(long, value_enum, default_value_t = Switch::On)]
    timing: Switch,
    /// Where the bytes lie: `memory`, or the path of a scratch file that is made and removed
    #[arg(long, default_value = "memory")]
    contents: PathBuf,
    /// A file whose bytes the disk starts with; it is only read
    #[arg(long)]
    image: Option<PathBuf>,
    /// Bytes that contents may take; writes fail beyond it [default: three quarters of available memory, or no limit for a file]
    #[arg(long, value_parser = size::parse)]
    memory_limit: Option<u64>,
    /// Let processors sleep deeply, at the price of late answers
    #[arg(long)]
    let_idle: bool,
    /// Serve a device that is faster than this machine can answer
    #[arg(long)]
    below_floor: bool,
    /// What the way to the disk costs, taken off each latency [default: measured at the start]
    #[arg(long, value_parser = microseconds)]
    path_us: Option<f64>,
    /// Wait for the last microseconds before each answer without sleeping
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=1_000))]
    spin_us: u64,
    /// A schedule of faults: a JSON file, as `control … faults` takes it
    #[arg(long)]
    faults: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Switch {
    On,
    Off,
}

/// A way of more than a second is no way.
pub(super) fn microseconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(us) if (0.0..=1e6).contains(&us) => Ok(us),
        _ => Err("give microseconds between 0 and 1000000".to_owned()),
    }
}

impl Serve {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let outcome = self.serve();
        if let Err(error) = &outcome {
            println!(
                "{}",
                json!({"event": "failed", "message": format!("{error:#}")})
            );
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
            spin_us: self.spin_us,
            faults: self.faults.as_deref().map(schedule).transpose()?,
        };
        serve::serve(&self.device, &device, &options, |event| {
            warn_of_size(&event["size_bytes"], limit_bytes);
            println!("{event}");
        })
    }
}

/// Reads a schedule of faults.
///
/// # Errors
///
/// It cannot be read, or is none.
pub(super) fn schedule(path: &Path) -> anyhow::Result<Schedule> {
    let shown = path.display();
    let text = std::fs::read(path).with_context(|| format!("the faults in {shown}"))?;
    serde_json::from_slice(&text).with_context(|| format!("{shown} is no schedule of faults"))
}

/// A thin disk may be larger than what there is for it; whoever fills it must not be surprised.
fn warn_of_size(size_bytes: &serde_json::Value, limit_bytes: u64) {
    if size_bytes.as_u64() > Some(limit_bytes) {
        eprintln!(
            "diskproof-disk: warning: the disk has {size_bytes} bytes, its contents may take {limit_bytes}: beyond that, writes will fail; give --size, --memory-limit or --contents"
        );
    }
}
