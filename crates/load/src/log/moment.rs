//! Instants as logs write them. Zones are passed over: what counts is the time between two entries.

use std::str::FromStr;
use std::sync::LazyLock;

use regex::bytes::{Match, Regex};
use time::{Date, Month};

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

/// 1970-01-01 among Julian days.
const EPOCH: i64 = 2_440_588;

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
    let part = |at| found.get(at).map(|part| part.as_bytes());
    let number = |at| number::<i64>(part(at)?);
    let form = [1, 4, 7].into_iter().find(|&at| part(at).is_some())?;
    let century = if form == 7 { 2000 } else { 0 };
    let day = days(century, [part(form)?, part(form + 1)?, part(form + 2)?])?;
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
    let is_part = |byte: &&u8| byte.is_ascii_digit() || **byte == b'.';
    let length = text.iter().take_while(is_part).count();
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

/// Days since 1970-01-01.
fn days(century: i32, [year, month, day]: [&[u8]; 3]) -> Option<i64> {
    let month = Month::try_from(number::<u8>(month)?).ok()?;
    let year = century + number::<i32>(year)?;
    let date = Date::from_calendar_date(year, month, number(day)?).ok()?;
    Some(i64::from(date.to_julian_day()) - EPOCH)
}

/// The day of a date that a text begins with: `2026-11-28`, alone or before a time.
pub(crate) fn day_of(text: &[u8]) -> Option<i64> {
    days(0, DATE.captures(text)?.extract().1)
}

/// The date of a day since 1970-01-01, if its year has four digits.
pub(crate) fn date_of(day: i64) -> Option<String> {
    let day = i32::try_from(day + EPOCH).ok()?;
    Some(Date::from_julian_day(day).ok()?.to_string())
}
