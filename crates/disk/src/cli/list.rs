use clap::Args;

use crate::device;

/// List the devices that come with the program
#[derive(Debug, Args)]
pub(super) struct List {
    /// A JSON object a line: name, title, kind
    #[arg(long)]
    json: bool,
}

impl List {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        for name in device::names() {
            let device = device::open(name)?;
            if self.json {
                println!(
                    "{}",
                    serde_json::json!({"name": name, "title": device.title})
                );
            } else {
                println!("{name:24} {}", device.title);
            }
        }
        Ok(())
    }
}
