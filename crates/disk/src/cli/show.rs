use clap::Args;

use crate::device;

/// Print a device file as JSON, checked and with its defaults
#[derive(Debug, Args)]
pub(super) struct Show {
    /// A device's name, or the path of a file that ends in .toml
    device: String,
}

impl Show {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let device = device::open(&self.device)?;
        println!("{}", serde_json::to_string_pretty(&device)?);
        Ok(())
    }
}
