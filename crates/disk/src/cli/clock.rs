use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;

/// Write the library that slows the clocks of a server which is started with it
#[derive(Debug, Args)]
pub(super) struct Clock {
    file: PathBuf,
}

impl Clock {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let library = include_bytes!(concat!(env!("OUT_DIR"), "/clock.so"));
        fs::write(&self.file, library)
            .with_context(|| format!("cannot write {}", self.file.display()))
    }
}
