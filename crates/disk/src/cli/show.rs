use clap::Args;

use super::output;
use crate::device::{self, Build, Promise};

/// Check a device file and print it as JSON, with its defaults, kind, capacity and properties
#[derive(Debug, Args)]
pub(super) struct Show {
    /// A device's name, or the path of a file that ends in .toml
    device: String,
}

impl Show {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let device = device::open(&self.device)?;
        let mut shown = serde_json::to_value(&device)?;
        shown["kind"] = device.device.kind().into();
        shown["capacity_bytes"] = device
            .device
            .build(Build::seeded(1))
            .capacity_bytes()
            .into();
        let properties = device.device.properties(Promise::AsDescribed);
        properties.add_to(&mut shown);
        output::print_json(&shown)
    }
}
