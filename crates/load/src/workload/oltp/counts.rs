//! Number of statements of each group in one transaction.

use super::Mix;

/// sysbench's own options of the same names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    pub point_selects: u32,
    pub simple_ranges: u32,
    pub sum_ranges: u32,
    pub order_ranges: u32,
    pub distinct_ranges: u32,
    pub index_updates: u32,
    pub non_index_updates: u32,
    pub delete_inserts: u32,
}

const READS: Counts = Counts {
    point_selects: 10,
    simple_ranges: 1,
    sum_ranges: 1,
    order_ranges: 1,
    distinct_ranges: 1,
    index_updates: 0,
    non_index_updates: 0,
    delete_inserts: 0,
};

const WRITES: Counts = Counts {
    point_selects: 0,
    simple_ranges: 0,
    sum_ranges: 0,
    order_ranges: 0,
    distinct_ranges: 0,
    index_updates: 1,
    non_index_updates: 1,
    delete_inserts: 1,
};

const READS_AND_WRITES: Counts = Counts {
    index_updates: WRITES.index_updates,
    non_index_updates: WRITES.non_index_updates,
    delete_inserts: WRITES.delete_inserts,
    ..READS
};

impl Counts {
    /// sysbench's defaults. Those of a mix that is one statement say which; `insert` and `delete`
    /// have none of these groups.
    #[must_use]
    pub fn of(mix: Mix) -> Self {
        match mix {
            Mix::Complex | Mix::ReadWrite => READS_AND_WRITES,
            Mix::ReadOnly => READS,
            Mix::WriteOnly => WRITES,
            Mix::PointSelect => Self {
                point_selects: 1,
                ..Self::default()
            },
            Mix::UpdateIndex => Self {
                index_updates: 1,
                ..Self::default()
            },
            Mix::UpdateNonIndex => Self {
                non_index_updates: 1,
                ..Self::default()
            },
            Mix::Insert | Mix::Delete => Self::default(),
        }
    }
}
