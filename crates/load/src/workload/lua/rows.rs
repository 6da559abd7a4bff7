//! The rows of a result as one string of the script's own memory, read when it asks for them.

use crate::driver::rows::Rows;

/// Before a field, instead of its length.
const NULL: u64 = u64::MAX;

/// Each field after its length.
pub(super) fn pack(rows: &Rows) -> Vec<u8> {
    let mut packed = Vec::new();
    for row in 0..rows.count() {
        for column in 0..rows.columns() {
            match rows.text(row, column) {
                None => packed.extend_from_slice(&NULL.to_le_bytes()),
                Some(text) => {
                    packed.extend_from_slice(&(text.len() as u64).to_le_bytes());
                    packed.extend_from_slice(text);
                }
            }
        }
    }
    packed
}

/// Calls `take` with each field of the row that begins `packed`, `None` for NULL. Returns how long
/// the row is; `None` after the last.
pub(super) fn unpack<'a>(
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
    fn a_row_comes_out_as_it_went_in() {
        let packed = [&3_u64.to_le_bytes()[..], b"abc", &NULL.to_le_bytes()].concat();
        let mut fields = Vec::new();
        let length = unpack(&packed, 2, |field| fields.push(field.map(<[u8]>::to_vec)));
        assert_eq!(length, Some(packed.len()));
        assert_eq!(fields, [Some(b"abc".to_vec()), None]);
        assert_eq!(unpack(&[], 2, |_| {}), None);
        assert_eq!(unpack(&packed[..9], 2, |_| {}), None);
    }
}
