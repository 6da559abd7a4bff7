//! The values of a reply, for a workload whose next statement depends on them.

use std::ops::Range;

/// The rows of one reply, all values as text, in one buffer that the next reply uses again.
#[derive(Debug, Default)]
pub struct Rows {
    columns: usize,
    /// Row after row; `None` for SQL NULL.
    values: Vec<Option<Range<usize>>>,
    text: Vec<u8>,
}

impl Rows {
    /// Forgets everything; rows of that many columns follow.
    pub(super) fn begin(&mut self, columns: usize) {
        self.columns = columns;
        self.values.clear();
        self.text.clear();
    }

    /// Number of columns; 0 without a result, and with PostgreSQL also without a row.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    pub(super) fn push_null(&mut self) {
        self.values.push(None);
    }

    pub(super) fn push(&mut self, value: &[u8]) {
        self.write(|text| text.extend_from_slice(value));
    }

    /// Lets `write` append one value.
    pub(super) fn write(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.text.len();
        write(&mut self.text);
        self.values.push(Some(start..self.text.len()));
    }

    /// Number of rows.
    #[must_use]
    pub fn count(&self) -> usize {
        self.values.len().checked_div(self.columns).unwrap_or(0)
    }

    /// A value, counted from 0; `None` for SQL NULL and for what is not there.
    #[must_use]
    pub fn text(&self, row: usize, column: usize) -> Option<&[u8]> {
        if column >= self.columns {
            return None;
        }
        let range = self.values.get(row * self.columns + column)?.clone()?;
        self.text.get(range)
    }

    /// A value as a number; `None` also if it is none.
    #[must_use]
    pub fn number<N: std::str::FromStr>(&self, row: usize, column: usize) -> Option<N> {
        std::str::from_utf8(self.text(row, column)?)
            .ok()?
            .parse()
            .ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_row_and_column() {
        let mut rows = Rows::default();
        assert_eq!((rows.count(), rows.text(0, 0)), (0, None));
        rows.begin(2);
        for row in ["7", "8"] {
            rows.push(row.as_bytes());
            rows.push_null();
        }
        assert_eq!(rows.count(), 2);
        assert_eq!(rows.number::<i64>(1, 0), Some(8));
        assert_eq!(
            (rows.text(1, 1), rows.text(0, 2), rows.text(2, 0)),
            (None, None, None)
        );
        rows.begin(1);
        assert_eq!((rows.count(), rows.text(0, 0)), (0, None));
    }
}
