//! What a disk promises of its cache, if not what its file says.

/// A lie or a guarantee put over a device: the same disk, bought from somebody else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Promise {
    /// As its file has it.
    #[default]
    AsDescribed,
    /// Flushes are answered, and do nothing.
    FlushesIgnored,
    /// Every answered write survives a power cut.
    PowerLossProtected,
}
