use anyhow::bail;
use clap::Args;

use crate::device::Promise;

/// What the disk promises of its cache, if not what its file says.
#[derive(Debug, Args)]
pub(super) struct PromiseOptions {
    /// Answer flushes at once without doing anything, whatever the device's file says
    #[arg(long, value_parser = ["ignored"])]
    flushes: Option<String>,
    /// Let every answered write survive a power cut, whatever the device's file says
    #[arg(long, value_parser = ["protected"])]
    power_loss: Option<String>,
}

impl PromiseOptions {
    pub(super) fn promise(&self) -> anyhow::Result<Promise> {
        match (&self.flushes, &self.power_loss) {
            (None, None) => Ok(Promise::AsDescribed),
            (Some(_), None) => Ok(Promise::FlushesIgnored),
            (None, Some(_)) => Ok(Promise::PowerLossProtected),
            (Some(_), Some(_)) => bail!(
                "--flushes ignored does nothing to a disk with --power-loss protected, which loses nothing anyway; leave one out"
            ),
        }
    }
}
