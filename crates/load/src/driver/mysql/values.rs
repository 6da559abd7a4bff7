//! Rows that a workload reads: decoded from either protocol into text.

use std::io::Write;

use super::reply::parse_number;
use super::wire::protocol;
use crate::driver::Fault;
use crate::driver::rows::{Keep, Rows};

const NULL: u8 = 0xFB;
/// A column's definition ends with its type, its flags, its decimals and two bytes of filler.
const TYPE_FROM_END: usize = 6;
const FLAGS_FROM_END: usize = 5;
const UNSIGNED: u8 = 0x20;

/// The column types that do not come as a string with its length before it.
mod column_type {
    pub(super) const TINY: u8 = 1;
    pub(super) const SHORT: u8 = 2;
    pub(super) const LONG: u8 = 3;
    pub(super) const FLOAT: u8 = 4;
    pub(super) const DOUBLE: u8 = 5;
    pub(super) const NULL: u8 = 6;
    pub(super) const TIMESTAMP: u8 = 7;
    pub(super) const LONGLONG: u8 = 8;
    pub(super) const INT24: u8 = 9;
    pub(super) const DATE: u8 = 10;
    pub(super) const TIME: u8 = 11;
    pub(super) const DATETIME: u8 = 12;
    pub(super) const YEAR: u8 = 13;
}

/// The rows of the present reply, and what is known of their columns.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) rows: Rows,
    columns: Vec<Column>,
    /// Whether the statement was executed as a prepared one.
    binary: bool,
}

#[derive(Debug, Clone, Copy)]
struct Column {
    code: u8,
    unsigned: bool,
}

impl Kept {
    pub(super) fn new(keep: Keep) -> Self {
        Self {
            rows: Rows::new(keep),
            ..Self::default()
        }
    }

    /// A statement has been sent; its rows will come in this protocol.
    pub(super) fn begin(&mut self, binary: bool) {
        self.binary = binary;
        self.begin_result(0);
    }

    /// A result of that many columns begins.
    pub(super) fn begin_result(&mut self, columns: usize) {
        self.columns.clear();
        self.rows.begin(columns);
    }

    pub(super) fn define(&mut self, definition: &[u8]) -> Result<(), Fault> {
        if !self.binary {
            return Ok(());
        }
        let from_end = |bytes| definition.len().checked_sub(bytes).map(|at| definition[at]);
        let (Some(code), Some(flags)) = (from_end(TYPE_FROM_END), from_end(FLAGS_FROM_END)) else {
            return Err(protocol("the definition of a column breaks off"));
        };
        let unsigned = flags & UNSIGNED != 0;
        self.columns.push(Column { code, unsigned });
        Ok(())
    }

    pub(super) fn add(&mut self, row: &[u8]) -> Result<(), Fault> {
        let added = if self.binary {
            self.add_binary(row)
        } else {
            self.add_text(row)
        };
        added.ok_or_else(|| protocol("a row that breaks off"))
    }

    fn add_text(&mut self, mut row: &[u8]) -> Option<()> {
        for _ in 0..self.rows.columns() {
            if let [NULL, rest @ ..] = row {
                self.rows.push_null();
                row = rest;
            } else {
                row = push_string(row, &mut self.rows)?;
            }
        }
        Some(())
    }

    fn add_binary(&mut self, row: &[u8]) -> Option<()> {
        // The first two bits of the map of NULLs belong to no column.
        const SPARE_BITS: usize = 2;
        let map_bytes = (self.columns.len() + SPARE_BITS).div_ceil(8);
        let (nulls, mut values) = row.get(1..)?.split_at_checked(map_bytes)?;
        for (index, column) in self.columns.iter().enumerate() {
            let bit = index + SPARE_BITS;
            if nulls[bit / 8] & (1 << (bit % 8)) != 0 || column.code == column_type::NULL {
                self.rows.push_null();
            } else {
                values = column.push(values, &mut self.rows)?;
            }
        }
        Some(())
    }
}

impl Column {
    /// Puts the value at the start of `bytes` into the rows; returns what comes after it.
    fn push<'a>(self, bytes: &'a [u8], rows: &mut Rows) -> Option<&'a [u8]> {
        match self.code {
            column_type::TINY => self.push_integer::<1>(bytes, rows),
            column_type::SHORT | column_type::YEAR => self.push_integer::<2>(bytes, rows),
            column_type::LONG | column_type::INT24 => self.push_integer::<4>(bytes, rows),
            column_type::LONGLONG => self.push_integer::<8>(bytes, rows),
            column_type::FLOAT => {
                let (value, rest) = bytes.split_first_chunk()?;
                write_value(rows, format_args!("{}", f32::from_le_bytes(*value)));
                Some(rest)
            }
            column_type::DOUBLE => {
                let (value, rest) = bytes.split_first_chunk()?;
                write_value(rows, format_args!("{}", f64::from_le_bytes(*value)));
                Some(rest)
            }
            column_type::DATE | column_type::DATETIME | column_type::TIMESTAMP => {
                let (value, rest) = counted(bytes)?;
                push_moment(value, rows)?;
                Some(rest)
            }
            column_type::TIME => {
                let (value, rest) = counted(bytes)?;
                push_time(value, rows)?;
                Some(rest)
            }
            _ => push_string(bytes, rows),
        }
    }

    fn push_integer<'a, const BYTES: usize>(
        self,
        bytes: &'a [u8],
        rows: &mut Rows,
    ) -> Option<&'a [u8]> {
        let (value, rest) = bytes.split_first_chunk::<BYTES>()?;
        let is_negative = !self.unsigned && value[BYTES - 1] & 0x80 != 0;
        let mut wide = [if is_negative { 0xFF } else { 0 }; 8];
        wide[..BYTES].copy_from_slice(value);
        if self.unsigned {
            write_value(rows, format_args!("{}", u64::from_le_bytes(wide)));
        } else {
            write_value(rows, format_args!("{}", i64::from_le_bytes(wide)));
        }
        Some(rest)
    }
}

fn write_value(rows: &mut Rows, value: std::fmt::Arguments<'_>) {
    // Writing into a vector does not fail.
    rows.write(|text| drop(text.write_fmt(value)));
}

fn push_string<'a>(bytes: &'a [u8], rows: &mut Rows) -> Option<&'a [u8]> {
    let (length, rest) = parse_number(bytes)?;
    let (value, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
    rows.push(value);
    Some(rest)
}

/// A value with its length in one byte before it.
fn counted(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&length, rest) = bytes.split_first()?;
    rest.split_at_checked(length.into())
}

/// A date, with the time of day unless that is midnight, and with microseconds unless there are
/// none.
fn push_moment(value: &[u8], rows: &mut Rows) -> Option<()> {
    let mut fields = [0; 11];
    fields.get_mut(..value.len())?.copy_from_slice(value);
    let [y0, y1, month, day, hour, minute, second, micros @ ..] = fields;
    let year = u16::from_le_bytes([y0, y1]);
    let micros = u32::from_le_bytes(micros);
    match value.len() {
        0 | 4 => write_value(rows, format_args!("{year:04}-{month:02}-{day:02}")),
        7 => write_value(
            rows,
            format_args!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"),
        ),
        _ => write_value(
            rows,
            format_args!(
                "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{micros:06}"
            ),
        ),
    }
    Some(())
}

fn push_time(value: &[u8], rows: &mut Rows) -> Option<()> {
    let mut fields = [0; 12];
    fields.get_mut(..value.len())?.copy_from_slice(value);
    let [negative, d0, d1, d2, d3, hour, minute, second, micros @ ..] = fields;
    let hours = u64::from(u32::from_le_bytes([d0, d1, d2, d3])) * 24 + u64::from(hour);
    let sign = if negative == 0 { "" } else { "-" };
    if value.len() > 8 {
        let micros = u32::from_le_bytes(micros);
        write_value(
            rows,
            format_args!("{sign}{hours:02}:{minute:02}:{second:02}.{micros:06}"),
        );
    } else {
        write_value(
            rows,
            format_args!("{sign}{hours:02}:{minute:02}:{second:02}"),
        );
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A definition as far as it matters: the type and the flags near its end.
    fn definition(code: u8, flags: u8) -> Vec<u8> {
        vec![
            3, b'd', b'e', b'f', 0x0C, 8, 0, 0, 0, 0, 0, code, flags, 0, 0, 0, 0,
        ]
    }

    fn kept(binary: bool, columns: &[(u8, u8)]) -> Kept {
        let mut kept = Kept::default();
        kept.begin(binary);
        kept.begin_result(columns.len());
        for &(code, flags) in columns {
            kept.define(&definition(code, flags)).unwrap();
        }
        kept
    }

    fn texts(kept: &Kept) -> Vec<Option<String>> {
        let text = |column| kept.rows.text(0, column);
        let owned = |text: &[u8]| String::from_utf8(text.to_vec()).unwrap();
        (0..kept.rows.columns())
            .map(|column| text(column).map(owned))
            .collect()
    }

    #[test]
    fn text_rows() {
        let mut kept = kept(false, &[(column_type::LONG, 0), (253, 0), (253, 0)]);
        kept.add(b"\x02-5\xFB\x00").unwrap();
        assert_eq!(texts(&kept), [Some("-5".into()), None, Some(String::new())]);
        assert!(kept.add(b"\x02-").is_err());
    }

    #[test]
    fn binary_rows() {
        let mut kept = kept(
            true,
            &[
                (column_type::LONG, 0),
                (column_type::TINY, UNSIGNED),
                (246, 0),
                (column_type::DOUBLE, 0),
                (column_type::DATETIME, 0),
                (column_type::LONGLONG, 0),
                (column_type::TIME, 0),
            ],
        );
        let mut row = vec![0, 0x80, 0];
        row.extend_from_slice(&(-5_i32).to_le_bytes());
        row.push(200);
        row.extend_from_slice(b"\x0412.3");
        row.extend_from_slice(&0.25_f64.to_le_bytes());
        row.extend_from_slice(&[7, 0xD0, 0x07, 1, 2, 3, 4, 5]);
        row.extend_from_slice(&[8, 1, 1, 0, 0, 0, 2, 3, 4]);
        kept.add(&row).unwrap();
        let words = [
            "-5",
            "200",
            "12.3",
            "0.25",
            "2000-01-02 03:04:05",
            "",
            "-26:03:04",
        ];
        let expected = words.map(|word| (!word.is_empty()).then(|| word.to_owned()));
        assert_eq!(texts(&kept), expected);
        for end in 0..row.len() {
            assert!(kept.add(&row[..end]).is_err(), "{end}");
        }
    }
}
