//! Instants as logs write them. Zones are passed over: what counts is the time between two entries.

use std::str::FromStr;
use std::sync::LazyLock;

use regex::bytes::{Match, Regex};

use super::{Event, What};

/// `2026-11-28T10:15:21.123456`, `2026-11-28 10:15:21`, `261128  9:15:21`: MySQL 5.6 writes hours without a
/// leading zero.
pub(super) const PATTERN: &str =
    r"(?:\d{4}-\d\d-\d\d|(?:\d\d)?\d{6})[T ] *\d\d?:\d\d:\d\d(?:[.,]\d*)?";

static PARTS: LazyLock<Regex> = LazyLock::new(|| {
    let date = r"(?:(\d{4})-(\d\d)-(\d\d)|(\d{4})(\d\d)(\d\d)|(\d\d)(\d\d)(\d\d))";
    pattern(&format!(
        r"^{date}[T ] *(\d\d?):(\d\d):(\d\d)(?:[.,](\d*))?"
    ))
});
static DATE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(\d{4})-(\d\d)-(\d\d)(?:[ T]|$)"));

/// A pattern of ours, for bytes.
pub(super) fn pattern(text: &str) -> Regex {
    Regex::new(&format!("(?s-u){text}")).expect("it was tried")
}

/// An instant and how finely it was written, both in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) us: i64,
    pub(super) step_us: i64,
    /// The bytes that it takes in the text, without a zone.
    pub(super) bytes: usize,
}

impl Moment {
    pub(super) fn event(self, session: u64, what: What, line: u64) -> Event {
        Event {
            session,
            at_us: self.us,
            step_us: self.step_us,
            what,
            line,
        }
    }
}

/// An instant at the start of the text.
pub(super) fn read(text: &[u8]) -> Option<Moment> {
    let found = PARTS.captures(text)?;
    let number = |at| number::<i64>(found.get(at)?.as_bytes());
    let form = [1, 4, 7].into_iter().find(|&at| found.get(at).is_some())?;
    let century = if form == 7 { 2000 } else { 0 };
    let day = days(
        century + number(form)?,
        number(form + 1)?,
        number(form + 2)?,
    )?;
    let (hour, minute, second) = (number(10)?, number(11)?, number(12)?);
    if hour > 24 {
        return None;
    }
    let (mut us, mut step_us) = (0, 1_000_000);
    for digit in found.get(13).iter().flat_map(Match::as_bytes).take(6) {
        step_us /= 10;
        us += i64::from(digit - b'0') * step_us;
    }
    let seconds = (day * 24 + hour) * 3600 + minute * 60 + second;
    Some(Moment {
        us: seconds * 1_000_000 + us,
        step_us,
        bytes: found.get_match().end(),
    })
}

/// Seconds since 1970 with a fraction, as PostgreSQL's `%n` writes them.
pub(super) fn epoch(text: &[u8]) -> Option<Moment> {
    let length = text
        .iter()
        .take_while(|byte| byte.is_ascii_digit() || **byte == b'.')
        .count();
    let us = micros(number(&text[..length])?)?;
    let has_fraction = text[..length].contains(&b'.');
    let step_us = if has_fraction { 1000 } else { 1_000_000 };
    Some(Moment {
        us: us.cast_signed(),
        step_us,
        bytes: length,
    })
}

/// Microseconds of a number of seconds that is neither negative nor absurd.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(super) fn micros(seconds: f64) -> Option<u64> {
    (0.0..1e12)
        .contains(&seconds)
        .then(|| (seconds * 1e6).round() as u64)
}

/// The first instant that stands in a text.
pub(super) fn first(text: &[u8]) -> Option<i64> {
    let lines = text.split(|&byte| byte == b'\n');
    let found = lines.take(5000).find_map(|line| {
        let line = line.strip_prefix(b"# Time: ").unwrap_or(line);
        let at = line.iter().position(u8::is_ascii_digit)?;
        read(&line[at..])
    });
    found.map(|moment| moment.us)
}

pub(super) fn number<T: FromStr>(digits: &[u8]) -> Option<T> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Days since 1970-01-01 of the Gregorian calendar, from years that begin in March.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let era_days = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(era_days + (153 * month + 2) / 5 + day - 1 - 719_468)
}

/// The day of a date that a text begins with: `2026-11-28`, alone or before a time.
pub(crate) fn day_of(text: &[u8]) -> Option<i64> {
    let (_, [year, month, day]) = DATE.captures(text)?.extract();
    days(number(year)?, number(month)?, number(day)?)
}

/// The date of a day since 1970-01-01, from years that begin in March.
pub(crate) fn date_of(day: i64) -> String {
    let shifted = day + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let in_month = of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 {
        (era * 400 + year_of_era, month + 3)
    } else {
        (era * 400 + year_of_era + 1, month - 9)
    };
    format!("{year:04}-{month:02}-{in_month:02}")
}
