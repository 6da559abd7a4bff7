//! Values of statements, replaced by others of the same form: equal ones by equal ones, so that joins stay.
//!
//! Digits become digits and letters letters, by a keyed hash of the whole value; the key is drawn anew for each
//! recording and kept nowhere. Letters beyond ASCII become an x. Dates move by a number of days of the key's, so that ranges stay ranges; times of day stay. Numbers below
//! ten stay, and those after LIMIT and OFFSET. Comments go, and what stands in hints with them.

use std::hash::{BuildHasher, RandomState};

use crate::driver::Dialect;
use crate::log::{date_of, day_of};
use crate::workload::sql::{What, Word, Words};

/// The days by which dates move are fewer than so many.
const DAYS: u64 = 3650;

pub(crate) struct Anonymiser {
    dialect: Dialect,
    key: RandomState,
    days: i64,
}

impl Anonymiser {
    pub(crate) fn new(dialect: Dialect) -> Self {
        let key = RandomState::new();
        let days = (key.hash_one("days") % DAYS).cast_signed() - DAYS.cast_signed() / 2;
        Self { dialect, key, days }
    }

    /// The statement with other values.
    pub(crate) fn replace(&self, sql: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(sql.len());
        let mut end = 0;
        let mut before: Option<Word<'_>> = None;
        for word in Words::new(sql, self.dialect) {
            let gap = &sql[end..word.at];
            if gap.iter().all(u8::is_ascii_whitespace) {
                out.extend_from_slice(gap);
            } else {
                out.push(b' ');
            }
            let text = &sql[word.at..word.end];
            // A count, or the number of a parameter.
            let stays = ["LIMIT", "OFFSET", "$"];
            let stays = before.is_some_and(|before| stays.iter().any(|own| before.is(own)));
            match word.what {
                What::Number if stays || text.len() < 2 => out.extend_from_slice(text),
                What::Number => self.write(text, &mut out),
                What::Text(_) => self.write_quoted(text, &mut out),
                What::Quoted(_) if self.dialect == Dialect::Mysql && text[0] == b'"' => {
                    self.write_quoted(text, &mut out);
                }
                _ => out.extend_from_slice(text),
            }
            end = word.end;
            before = Some(word);
        }
        out
    }

    /// A string between its marks; one in dollars loses all its letters and digits alike.
    fn write_quoted(&self, text: &[u8], out: &mut Vec<u8>) {
        let mut rest = text.iter().skip(1);
        let tag = rest.position(|&byte| byte == b'$' && text[0] == b'$');
        let marks = tag.map_or(1, |at| at + 2);
        let Some(inner) = text.get(marks..text.len().saturating_sub(marks)) else {
            out.extend_from_slice(text);
            return;
        };
        out.extend_from_slice(&text[..marks]);
        self.write(inner, out);
        out.extend_from_slice(&text[text.len() - marks..]);
    }

    fn write(&self, value: &[u8], out: &mut Vec<u8>) {
        if let Some(date) = day_of(value).and_then(|day| date_of(day + self.days)) {
            out.extend_from_slice(date.as_bytes());
            // A time of day would be none with other digits.
            out.extend_from_slice(&value[10..]);
            return;
        }
        let begins = usize::from(value.starts_with(b"0x") || value.starts_with(b"0X")) * 2;
        let (head, rest) = value.split_at(begins);
        out.extend_from_slice(head);
        let mut draw = self.key.hash_one(value);
        let of_number = |byte: &u8| byte.is_ascii_digit() || b".eE+-".contains(byte);
        let is_digit = rest.first().is_some_and(u8::is_ascii_digit);
        let is_number = is_digit && begins == 0 && rest.iter().all(of_number);
        // Identifiers and bytes in hexadecimal have six letters.
        let of_six = |byte: &u8| byte.is_ascii_hexdigit() || *byte == b'-';
        let letters = if rest.iter().all(of_six) { 6 } else { 26 };
        let mut is_escaped = false;
        for (place, &byte) in rest.iter().enumerate() {
            if draw < 1 << 8 {
                draw ^= self.key.hash_one((value, place));
            }
            // What follows a backslash gives it its meaning.
            let stays = is_escaped || (is_number && !byte.is_ascii_digit());
            is_escaped = byte == b'\\' && !is_escaped;
            let drawn = |first: u8, count: u64, least: u64| {
                first + u8::try_from(least + draw % (count - least)).unwrap_or(0)
            };
            let new = match byte {
                _ if stays => byte,
                b'0' if is_number && place == 0 => byte,
                // A number keeps its order of magnitude.
                b'0'..=b'9' => drawn(b'0', 10, u64::from(is_number && place == 0)),
                b'a'..=b'z' => drawn(b'a', letters, 0),
                b'A'..=b'Z' => drawn(b'A', letters, 0),
                // The first byte of a letter of another alphabet, and the others of it.
                0xC0.. => b'x',
                0x80.. => continue,
                other => other,
            };
            if byte.is_ascii_alphanumeric() {
                draw /= 7;
            }
            out.push(new);
        }
    }
}
