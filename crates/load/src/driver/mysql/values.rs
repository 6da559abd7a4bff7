//! Rows that a workload reads: decoded from either protocol into text.

use mysql_common::constants::{ColumnFlags, ColumnType};
use mysql_common::io::ParseBuf;
use mysql_common::value::{BinValue, Value, ValueDeserializer};

use super::reply::parse_number;
use super::wire::protocol;
use crate::driver::Fault;
use crate::driver::rows::{Keep, Rows};

const NULL: u8 = 0xFB;
/// A column's definition ends with its type, its flags, its decimals and two bytes of filler.
const TYPE_FROM_END: usize = 6;
const FLAGS_FROM_END: usize = 5;
const UNSIGNED: u8 = 0x20;

/// The rows of the present reply, and what is known of their columns.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) rows: Rows,
    /// The code of each one's type, and whether it has no sign.
    columns: Vec<(u8, bool)>,
    /// Whether the statement was executed as a prepared one.
    binary: bool,
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
        self.columns.push((code, flags & UNSIGNED != 0));
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
        let (nulls, values) = row.get(1..)?.split_at_checked(map_bytes)?;
        let mut values = ParseBuf(values);
        for (index, &(code, unsigned)) in self.columns.iter().enumerate() {
            let bit = index + SPARE_BITS;
            if nulls[bit / 8] & (1 << (bit % 8)) != 0 {
                self.rows.push_null();
            } else {
                let value = binary_value(&mut values, code, unsigned)?;
                push_value(&value, &mut self.rows);
            }
        }
        Some(())
    }
}

/// The value of a type at the start of `rest`; `None` if it breaks off.
pub(crate) fn binary_value(rest: &mut ParseBuf<'_>, code: u8, unsigned: bool) -> Option<Value> {
    // The other types are in the server alone, and the library ends the program at them.
    let kind = ColumnType::try_from(code).ok();
    let kind = kind.filter(|_| matches!(code, 0..=16 | 242 | 245..))?;
    let mut flags = ColumnFlags::empty();
    flags.set(ColumnFlags::UNSIGNED_FLAG, unsigned);
    let value: ValueDeserializer<BinValue> = rest.parse((kind, flags)).ok()?;
    Some(value.0)
}

fn push_value(value: &Value, rows: &mut Rows) {
    match value {
        Value::NULL => rows.push_null(),
        Value::Bytes(text) => rows.push(text),
        Value::Time(is_negative, days, hours, minutes, seconds, micros) => {
            let sign = if *is_negative { "-" } else { "" };
            let hours = u64::from(*days) * 24 + u64::from(*hours);
            let text = format!("{sign}{hours:02}:{minutes:02}:{seconds:02}.{micros:06}");
            rows.push(text.trim_end_matches(".000000").as_bytes());
        }
        // Numbers, and dates between quotation marks.
        other => rows.push(other.as_sql(true).trim_matches('\'').as_bytes()),
    }
}

fn push_string<'a>(bytes: &'a [u8], rows: &mut Rows) -> Option<&'a [u8]> {
    let (length, rest) = parse_number(bytes)?;
    let (value, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
    rows.push(value);
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    mod column_type {
        pub(super) const TINY: u8 = 1;
        pub(super) const LONG: u8 = 3;
        pub(super) const DOUBLE: u8 = 5;
        pub(super) const LONGLONG: u8 = 8;
        pub(super) const TIME: u8 = 11;
        pub(super) const DATETIME: u8 = 12;
    }

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
