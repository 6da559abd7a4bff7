use clap::Args;

use crate::device::{self, Build, Promise};

/// Print a device file as JSON, checked and with its defaults, and what follows from it: its capacity, its sector, and whether its bytes survive without power
#[derive(Debug, Args)]
pub(super) struct Show {
    /// A device's name, or the path of a file that ends in .toml
    device: String,
}

impl Show {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let device = device::open(&self.device)?;
        let mut shown = serde_json::to_value(&device)?;
        let timing = device.device.build(Build::seeded(1));
        shown["capacity_bytes"] = timing.capacity_bytes().into();
        shown["sector_bytes"] = device.device.sector_bytes().into();
        shown["survives_without_power"] = device
            .device
            .survives_without_power(Promise::AsDescribed)
            .into();
        println!("{}", serde_json::to_string_pretty(&shown)?);
        Ok(())
    }
}
