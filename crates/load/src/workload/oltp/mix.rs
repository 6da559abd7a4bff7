//! The mixes: sysbench's scripts, and what is particular to each.

/// sysbench's OLTP scripts by the names of what they do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Mix {
    Complex,
    ReadOnly,
    ReadWrite,
    WriteOnly,
    PointSelect,
    UpdateIndex,
    UpdateNonIndex,
    Insert,
    Delete,
}

impl Mix {
    /// Whether the transaction has more than one statement, and so a BEGIN and a COMMIT.
    pub fn is_transaction(self) -> bool {
        matches!(
            self,
            Self::Complex | Self::ReadOnly | Self::ReadWrite | Self::WriteOnly
        )
    }
}
