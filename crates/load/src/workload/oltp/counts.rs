//! Number of statements of each group in one transaction.

use super::Mix;

/// The groups, in the order of a transaction, by the names of sysbench's own options for them.
pub const GROUPS: [&str; 8] = [
    "point-selects",
    "simple-ranges",
    "sum-ranges",
    "order-ranges",
    "distinct-ranges",
    "index-updates",
    "non-index-updates",
    "delete-inserts",
];

/// How often each group is sent.
pub type Counts = [u32; GROUPS.len()];

impl Mix {
    /// What it is, if nothing else is asked for.
    pub fn counts(self) -> Counts {
        match self {
            Self::Complex | Self::ReadWrite => [10, 1, 1, 1, 1, 1, 1, 1],
            Self::ReadOnly => [10, 1, 1, 1, 1, 0, 0, 0],
            Self::WriteOnly => [0, 0, 0, 0, 0, 1, 1, 1],
            Self::PointSelect => [1, 0, 0, 0, 0, 0, 0, 0],
            Self::UpdateIndex => [0, 0, 0, 0, 0, 1, 0, 0],
            Self::UpdateNonIndex => [0, 0, 0, 0, 0, 0, 1, 0],
            Self::Insert | Self::Delete => [0; GROUPS.len()],
        }
    }
}
