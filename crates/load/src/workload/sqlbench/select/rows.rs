//! The rows of the table, by which answers are counted.

pub(super) const REGIONS: u64 = 6;
pub(super) const GROUPS: u64 = 100;

/// One row; its region is a number from 0, and a letter from `A` in the table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) region: u64,
    pub(super) idn: u64,
    pub(super) rev_idn: u64,
    pub(super) grp: u64,
}

impl Row {
    /// The row of this number in a table of so many.
    pub(super) fn new(number: u64, rows: u64) -> Self {
        Self {
            region: number % REGIONS,
            idn: number,
            rev_idn: rows - 1 - number,
            grp: 3 * number % GROUPS,
        }
    }

    pub(super) fn letter(&self) -> char {
        letter(self.region)
    }
}

pub(super) fn letter(region: u64) -> char {
    char::from(b'A' + u8::try_from(region).unwrap_or(0))
}

/// Number of matching rows of the table.
pub(super) fn count(rows: u64, is_such: impl Fn(&Row) -> bool) -> u64 {
    let table = (0..rows).map(|number| Row::new(number, rows));
    table.filter(is_such).count() as u64
}
