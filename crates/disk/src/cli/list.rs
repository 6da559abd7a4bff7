use clap::Args;

use super::output;
use crate::device::{self, Build};
use crate::serve;

/// List the devices that come with the program
#[derive(Debug, Args)]
pub(super) struct List {
    /// Print one JSON object per device: name, title, kind, capacity, latency of the model, and what is slower here
    #[arg(long)]
    json: bool,
    /// Latency of the path to a virtual disk, to compare each device with
    #[arg(long, value_parser = crate::serve::microseconds)]
    floor_us: Option<f64>,
}

impl List {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        for name in device::names() {
            let device = device::open(name)?;
            if !self.json {
                output::print(&format!("{name:24} {}", device.title))?;
                continue;
            }
            let build = Build::seeded(1);
            let margin = serve::margin(&device, build, self.floor_us);
            let mut line = serde_json::to_value(margin)?;
            line["name"] = name.into();
            line["kind"] = device.device.kind().into();
            line["published"] = device.published.len().into();
            line["title"] = device.title.into();
            output::print_line(&line)?;
        }
        Ok(())
    }
}
