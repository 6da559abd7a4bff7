//! What a disk promises of its cache, if not what its file says.

use serde::Serialize;

/// A lie or a guarantee put over a device: the same disk, bought from somebody else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Promise {
    /// As its file has it.
    #[default]
    AsDescribed,
    /// Flushes are answered, and do nothing.
    FlushesIgnored,
    /// Every answered write survives a power cut.
    PowerLossProtected,
}

impl Promise {
    /// `ignored`, or nothing where flushes are as the file has them.
    #[must_use]
    pub fn flushes(self) -> Option<&'static str> {
        (self == Self::FlushesIgnored).then_some("ignored")
    }

    /// `protected`, or nothing if the cache is as the file has it.
    #[must_use]
    pub fn power_loss(self) -> Option<&'static str> {
        (self == Self::PowerLossProtected).then_some("protected")
    }
}
