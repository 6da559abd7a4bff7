use clap::Args;

use crate::device::{self, Build};
use crate::serve;

/// List the devices that come with the program
#[derive(Debug, Args)]
pub(super) struct List {
    /// A JSON object a line: name, title, kind, capacity, latency of the model, how it stands to the floor
    #[arg(long)]
    json: bool,
    /// What this machine's way to a disk costs, to hold each device against
    #[arg(long, value_parser = super::serve::microseconds)]
    floor_us: Option<f64>,
}

impl List {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        for name in device::names() {
            let device = device::open(name)?;
            if !self.json {
                println!("{name:24} {}", device.title);
                continue;
            }
            let build = Build::seeded(1);
            let margin = serve::margin(&device, build, self.floor_us);
            println!(
                "{}",
                serde_json::json!({
                    "name": name,
                    "title": device.title,
                    "kind": device.device.kind(),
                    "capacity_bytes": margin.capacity_bytes,
                    "read_us": margin.read_us,
                    "write_us": margin.write_us,
                    "label": margin.label,
                    "refused": margin.refused,
                    "published": device.published.len(),
                })
            );
        }
        Ok(())
    }
}
