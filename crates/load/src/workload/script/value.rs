//! Values of variables, as in pgbench's expressions.

use std::io::Write;

use super::lexer::name_bytes;

/// pgbench's types; a number is true or false if a condition is needed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
}

/// Digits of a double in SQL text: those that survive any way there and back (C's `DBL_DIG`), as
/// pgbench writes it.
const DOUBLE_DIGITS: usize = 15;

impl Value {
    /// The value of a constant on the command line: an integer, a double, `true`, `false`, `null`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        match text.to_ascii_lowercase().as_str() {
            "null" => Some(Self::Null),
            "true" => Some(Self::Bool(true)),
            "false" => Some(Self::Bool(false)),
            _ => {
                let int = text.parse().ok().map(Self::Int);
                let looks_like_double = || {
                    let is_part = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
                    text.contains(['.', 'e', 'E']) && text.chars().all(is_part)
                };
                int.or_else(|| {
                    let double: f64 = text.parse().ok().filter(|_| looks_like_double())?;
                    double.is_finite().then_some(Self::Double(double))
                })
            }
        }
    }

    /// Whether a variable can have this name.
    pub fn is_name(text: &str) -> bool {
        !text.is_empty() && name_bytes(text) == text.len()
    }

    /// Whether a condition is true: neither 0 nor NULL.
    pub(super) fn is_true(self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(value) => value,
            Self::Int(value) => value != 0,
            Self::Double(value) => value != 0.0,
        }
    }

    /// As an integer; doubles are rounded to the nearest, halves to the even one.
    pub(super) fn to_int(self) -> Result<i64, String> {
        match self {
            Self::Int(value) => Ok(value),
            Self::Double(value) => {
                let rounded = value.round_ties_even();
                // 2^63 is the first double above all integers; NaN is in no range.
                if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&rounded) {
                    #[expect(clippy::cast_possible_truncation, reason = "whole and in range")]
                    return Ok(rounded as i64);
                }
                Err(format!("{value} is not a 64-bit integer"))
            }
            Self::Bool(_) => Err("a condition stands where a number is needed".into()),
            Self::Null => Err("NULL stands where a number is needed".into()),
        }
    }

    pub(super) fn to_double(self) -> Result<f64, String> {
        match self {
            Self::Double(value) => Ok(value),
            Self::Int(value) => Ok(value as f64),
            other => other.to_int().map(|value| value as f64),
        }
    }

    /// Appends the value as SQL has it.
    pub(super) fn write(self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(b"NULL"),
            Self::Bool(true) => out.extend_from_slice(b"true"),
            Self::Bool(false) => out.extend_from_slice(b"false"),
            Self::Int(value) => out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes()),
            Self::Double(value) => write_double(value, out),
        }
    }

    /// Whether the text of the value begins with a minus.
    pub(super) fn is_negative(self) -> bool {
        match self {
            Self::Int(value) => value < 0,
            Self::Double(value) => value.is_sign_negative(),
            Self::Null | Self::Bool(_) => false,
        }
    }
}

/// C's `%.15g`: no zeros at the end, an exponent if it is below -4 or has no digit to hold it. NaN
/// and infinities are written by a name that every server refuses.
fn write_double(value: f64, out: &mut Vec<u8>) {
    let start = out.len();
    let precision = DOUBLE_DIGITS - 1;
    // Writing to a vector cannot fail.
    let _ = write!(out, "{value:.precision$e}");
    let Some(mark) = out[start..].iter().position(|&byte| byte == b'e') else {
        return;
    };
    let mark = start + mark;
    let exponent = std::str::from_utf8(&out[mark + 1..]);
    let exponent: i32 = exponent
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0);
    if (-4..15).contains(&exponent) {
        out.truncate(start);
        let decimals = usize::try_from(14 - exponent).unwrap_or(0);
        let _ = write!(out, "{value:.decimals$}");
        drop_zeros(out, start);
    } else {
        out.truncate(mark);
        drop_zeros(out, start);
        let _ = write!(out, "e{exponent:+03}");
    }
}

/// Drops the zeros after the last digit behind the point, and a point with nothing behind it.
fn drop_zeros(out: &mut Vec<u8>, start: usize) {
    if !out[start..].contains(&b'.') {
        return;
    }
    while out.last() == Some(&b'0') {
        out.pop();
    }
    if out.last() == Some(&b'.') {
        out.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(value: Value) -> String {
        let mut out = b"x=".to_vec();
        value.write(&mut out);
        String::from_utf8(out).unwrap()[2..].to_owned()
    }

    #[test]
    fn doubles_are_written_as_c_does() {
        for (value, text) in [
            (1.0 / 3.0, "0.333333333333333"),
            (100.0, "100"),
            (1e30, "1e+30"),
            (-2.5e-7, "-2.5e-07"),
            (0.0001, "0.0001"),
            (0.000_012_5, "1.25e-05"),
            (123_456_789_012_345.0, "123456789012345"),
            (1e15, "1e+15"),
            (0.1 + 0.2, "0.3"),
            (0.0, "0"),
            (1.797e308, "1.797e+308"),
        ] {
            assert_eq!(written(Value::Double(value)), text);
        }
        assert_eq!(written(Value::Int(i64::MIN)), "-9223372036854775808");
        assert_eq!(written(Value::Bool(true)), "true");
        assert_eq!(written(Value::Null), "NULL");
    }

    #[test]
    fn constants_of_the_command_line() {
        assert_eq!(Value::parse(" 100000 "), Some(Value::Int(100_000)));
        assert_eq!(Value::parse("-1.5e3"), Some(Value::Double(-1500.0)));
        assert_eq!(Value::parse("TRUE"), Some(Value::Bool(true)));
        assert_eq!(Value::parse("null"), Some(Value::Null));
        for wrong in ["", "abc", "1x", "inf", "nan", "1e999", "0x10", "infinity"] {
            assert_eq!(Value::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn doubles_become_the_nearest_integer() {
        assert_eq!(Value::Double(2.5).to_int(), Ok(2));
        assert_eq!(Value::Double(3.5).to_int(), Ok(4));
        assert_eq!(Value::Double(-9.3e18).to_int().ok(), None);
        assert_eq!(Value::Double(f64::NAN).to_int().ok(), None);
        assert!(Value::Bool(true).to_int().is_err());
    }
}
