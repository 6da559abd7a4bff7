use anyhow::bail;
use clap::{Args, ValueEnum};

use crate::device::Promise;

/// What the disk promises of its cache, if not what its file says.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct PromiseOptions {
    /// Answer flushes at once without doing anything, whatever the device's file says
    #[arg(long, value_enum)]
    flushes: Option<Flushes>,
    /// Let every answered write survive a power cut, whatever the device's file says
    #[arg(long, value_enum)]
    power_loss: Option<PowerLoss>,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Flushes {
    Ignored,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum PowerLoss {
    Protected,
}

impl PromiseOptions {
    pub(super) fn promise(self) -> anyhow::Result<Promise> {
        match (self.flushes, self.power_loss) {
            (None, None) => Ok(Promise::AsDescribed),
            (Some(Flushes::Ignored), None) => Ok(Promise::FlushesIgnored),
            (None, Some(PowerLoss::Protected)) => Ok(Promise::PowerLossProtected),
            (Some(_), Some(_)) => bail!(
                "--flushes ignored does nothing to a disk with --power-loss protected, which loses nothing anyway; leave one out"
            ),
        }
    }
}
