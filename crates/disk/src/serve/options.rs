//! The options of a served disk, and whether they are possible.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::ArgAction;

use super::control::switch;
use crate::contents::{Contents, Image, SIZE_BYTES_AT_MOST, Store};
use crate::device::{Device, Promise};
use crate::request::SECTOR_BYTES;

/// What is in the mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// The disk as one file, for a loop device and a file system on it
    File,
    /// A directory whose files lie on the disk; needs no privilege
    Directory,
}

impl Form {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Directory => "directory",
        }
    }
}

/// How a disk is to be served.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// An empty directory; the disk becomes the file `disk` in it, or the directory itself
    #[arg(long)]
    pub mount: PathBuf,
    /// What the mount shows
    #[arg(long = "as", value_enum, default_value_t = Form::File)]
    pub form: Form,
    /// Path of the control socket
    #[arg(long)]
    pub socket: PathBuf,
    /// The whole device if absent.
    #[arg(skip)]
    pub size_bytes: Option<u64>,
    /// Seed of the model's random draws
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[arg(skip)]
    pub promise: Promise,
    /// Whether requests take the model's time from the start
    #[arg(long, action = ArgAction::Set, default_value = "on", value_parser = switch())]
    pub timing: bool,
    /// A new sparse file for the bytes; memory if absent.
    #[arg(skip)]
    pub contents: Option<PathBuf>,
    /// A file with the initial bytes of the disk; it is only read
    #[arg(long)]
    pub image: Option<PathBuf>,
    /// Bytes that contents may take.
    #[arg(skip)]
    pub limit_bytes: u64,
    /// Serve a device even if it is faster than this machine can answer
    #[arg(long)]
    pub below_floor: bool,
    /// Latency of the path to the disk, subtracted from each answer [default: measured at the start]
    #[arg(long, value_parser = microseconds)]
    pub path_us: Option<f64>,
    /// Let the disk's time pass so many times slower; all that it says of time is in its own
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub dilation: u32,
}

/// Refuses more than a second: no path to a disk takes that long.
pub fn microseconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(us) if (0.0..=1e6).contains(&us) => Ok(us),
        _ => Err("must be a number of microseconds from 0 to 1000000".to_owned()),
    }
}

pub(super) fn size(device: &Device, capacity_bytes: u64, options: &Options) -> anyhow::Result<u64> {
    let size_bytes = options.size_bytes.unwrap_or(capacity_bytes);
    if size_bytes == 0 || !size_bytes.is_multiple_of(SECTOR_BYTES) {
        bail!(
            "--size is {size_bytes} bytes; it must be a multiple of {SECTOR_BYTES} bytes, and at least one such sector"
        );
    }
    if size_bytes > capacity_bytes {
        bail!(
            "{} has {capacity_bytes} bytes, so --size {size_bytes} is too many",
            device.title
        );
    }
    if size_bytes > SIZE_BYTES_AT_MOST {
        bail!(
            "a disk of {size_bytes} bytes is too large; serve its first part with --size, at most {SIZE_BYTES_AT_MOST} bytes"
        );
    }
    Ok(size_bytes)
}

pub(super) fn contents(size_bytes: u64, options: &Options) -> anyhow::Result<Contents> {
    let image = options.image.as_deref().map(|path| {
        Image::open(path, size_bytes).with_context(|| format!("the image {}", path.display()))
    });
    let image = image.transpose()?;
    let store = match &options.contents {
        None => Store::memory(options.limit_bytes),
        Some(path) => Store::file(path, options.limit_bytes).with_context(|| {
            format!(
                "cannot create the contents file {}, which must not be there yet",
                path.display()
            )
        })?,
    };
    Ok(Contents::new(size_bytes, store, image))
}
