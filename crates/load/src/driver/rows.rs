//! The values of a reply, for a workload whose next statement depends on them.

use std::ops::Range;

use super::MOST_ANSWER_BYTES;

/// Which values a workload reads; the rows of all other replies are only counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// Those of prepared statements, too. Without it, they are kept if they cost the server nothing.
    pub prepared: bool,
    /// The largest reply that is kept.
    pub most_bytes: usize,
}

impl Keep {
    /// All values.
    pub const ALL: Self = Self {
        prepared: true,
        most_bytes: MOST_ANSWER_BYTES,
    };
}

/// Before a value of [`Rows::packed`], instead of its length.
const NULL: u64 = u64::MAX;

/// The rows of one reply, all values as text, in one buffer that the next reply uses again.
#[derive(Debug, Default)]
pub struct Rows {
    most_bytes: Option<usize>,
    /// There were more: then none is kept.
    too_many: bool,
    columns: usize,
    /// Row after row; `None` for SQL NULL.
    values: Vec<Option<Range<usize>>>,
    /// Each value after its length.
    packed: Vec<u8>,
}

impl Rows {
    /// Rows of replies up to a size.
    pub(super) fn new(keep: Keep) -> Self {
        Self {
            most_bytes: Some(keep.most_bytes),
            ..Self::default()
        }
    }

    /// Takes over the values of others, in its own buffers.
    pub(crate) fn copy(&mut self, from: &Self) {
        self.columns = from.columns;
        self.values.clone_from(&from.values);
        self.packed.clone_from(&from.packed);
    }

    /// Whether the reply was too large to keep.
    pub fn too_many(&self) -> bool {
        self.too_many
    }

    fn check(&mut self) {
        let bytes = self.packed.len() + size_of_val(&*self.values);
        if self.most_bytes.is_some_and(|most| bytes > most) {
            self.too_many = true;
            (self.packed, self.values) = (Vec::new(), Vec::new());
        }
    }

    /// Forgets everything; rows of that many columns follow.
    pub(super) fn begin(&mut self, columns: usize) {
        self.columns = columns;
        self.too_many = false;
        self.values.clear();
        self.packed.clear();
    }

    /// Number of columns; 0 without a result, and with PostgreSQL also without a row.
    pub fn columns(&self) -> usize {
        self.columns
    }

    pub(super) fn push_null(&mut self) {
        if self.too_many {
            return;
        }
        self.packed.extend_from_slice(&NULL.to_le_bytes());
        self.values.push(None);
        self.check();
    }

    pub(super) fn push(&mut self, value: &[u8]) {
        self.write(|text| text.extend_from_slice(value));
    }

    /// Lets `write` append one value.
    pub(super) fn write(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        if self.too_many {
            return;
        }
        let head = self.packed.len();
        self.packed.extend_from_slice(&NULL.to_le_bytes());
        let start = self.packed.len();
        write(&mut self.packed);
        let length = (self.packed.len() - start) as u64;
        self.packed[head..start].copy_from_slice(&length.to_le_bytes());
        self.values.push(Some(start..self.packed.len()));
        self.check();
    }

    /// Number of rows.
    pub fn count(&self) -> usize {
        self.values.len().checked_div(self.columns).unwrap_or(0)
    }

    /// A value, counted from 0; `None` for SQL NULL and for what is not there.
    pub fn text(&self, row: usize, column: usize) -> Option<&[u8]> {
        if column >= self.columns {
            return None;
        }
        let range = self.values.get(row * self.columns + column)?.clone()?;
        self.packed.get(range)
    }

    /// A value as a number; `None` also if it is none.
    pub fn number<N: std::str::FromStr>(&self, row: usize, column: usize) -> Option<N> {
        std::str::from_utf8(self.text(row, column)?)
            .ok()?
            .parse()
            .ok()
    }

    /// All rows as bytes, for [`unpack`].
    pub fn packed(&self) -> &[u8] {
        &self.packed
    }
}

/// Calls `take` with each value of the row that begins `packed`, `None` for NULL. Returns the row's
/// length in bytes; `None` after the last row.
pub fn unpack<'a>(
    packed: &'a [u8],
    columns: usize,
    mut take: impl FnMut(Option<&'a [u8]>),
) -> Option<usize> {
    let mut rest = packed;
    for _ in 0..columns {
        let (length, after) = rest.split_first_chunk()?;
        let length = u64::from_le_bytes(*length);
        if length == NULL {
            take(None);
            rest = after;
        } else {
            let (text, after) = after.split_at_checked(usize::try_from(length).ok()?)?;
            take(Some(text));
            rest = after;
        }
    }
    let length = packed.len() - rest.len();
    (length > 0).then_some(length)
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

    #[test]
    fn a_reply_beyond_the_limit_is_counted_and_not_kept() {
        let mut rows = Rows::new(Keep {
            most_bytes: 1000,
            ..Keep::ALL
        });
        rows.begin(1);
        for _ in 0..1000 {
            rows.push(b"abc");
        }
        assert!(rows.too_many() && rows.packed().is_empty() && rows.count() == 0);
        rows.begin(1);
        rows.push(b"abc");
        assert_eq!(
            (rows.too_many(), rows.text(0, 0)),
            (false, Some(&b"abc"[..]))
        );
    }

    #[test]
    fn a_row_comes_out_as_it_went_in() {
        let mut rows = Rows::default();
        rows.begin(2);
        rows.push(b"abc");
        rows.push_null();
        let mut values = Vec::new();
        let length = unpack(rows.packed(), 2, |value| {
            values.push(value.map(<[u8]>::to_vec));
        });
        assert_eq!(length, Some(rows.packed().len()));
        assert_eq!(values, [Some(b"abc".to_vec()), None]);
        assert_eq!(unpack(&[], 2, |_| {}), None);
        assert_eq!(unpack(&rows.packed()[..9], 2, |_| {}), None);
    }
}
