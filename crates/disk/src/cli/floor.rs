use clap::Args;

use super::output;
use crate::serve;

/// Measure the latency of the path to a virtual disk on this machine
#[derive(Debug, Args)]
pub(super) struct Floor {
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

impl Floor {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let floor_us = serve::measure_floor()?;
        if self.json {
            output::print_line(&serde_json::json!({"floor_us": floor_us}))
        } else {
            output::print(&format!(
                "{floor_us:.1} us: median latency of 4 KiB reads of the served file, one at a time. A loop device adds to it"
            ))
        }
    }
}
