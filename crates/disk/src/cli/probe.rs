use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::serve::{self, Form};

/// Measure the path to the disk of a mount; `serve` and `floor` start it beside themselves
#[derive(Debug, Args)]
pub(super) struct Probe {
    mount: PathBuf,
    #[arg(long = "as", value_enum)]
    form: Form,
    #[arg(long)]
    ms: u64,
}

impl Probe {
    pub(super) fn run(&self) {
        serve::probe(&self.mount, self.form, Duration::from_millis(self.ms));
    }
}
