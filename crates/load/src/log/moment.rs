//! Instants as logs write them. Zones are passed over: what counts is the time between two entries.

/// An instant and how finely it was written, both in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) us: i64,
    pub(super) step_us: i64,
    /// The bytes that it takes in the text, without a zone.
    pub(super) bytes: usize,
}

/// An instant at the start of the text: `2026-11-28T10:15:21.123456Z`, `2026-11-28 10:15:21`, `261128 10:15:21`.
pub(super) fn read(text: &[u8]) -> Option<Moment> {
    let mut at = 0;
    let leading = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let date: [i64; 3] = match leading {
        4 => {
            let date = [
                digits(text, 0, 4)?,
                digits(text, 5, 2)?,
                digits(text, 8, 2)?,
            ];
            if text.get(4) != Some(&b'-') || text.get(7) != Some(&b'-') {
                return None;
            }
            at += 10;
            date
        }
        6 => {
            at += 6;
            [
                2000 + digits(text, 0, 2)?,
                digits(text, 2, 2)?,
                digits(text, 4, 2)?,
            ]
        }
        8 => {
            at += 8;
            [
                digits(text, 0, 4)?,
                digits(text, 4, 2)?,
                digits(text, 6, 2)?,
            ]
        }
        _ => return None,
    };
    if !matches!(text.get(at), Some(b'T' | b' ')) {
        return None;
    }
    at += 1;
    // MySQL 5.6 writes hours without a leading zero.
    while text.get(at) == Some(&b' ') {
        at += 1;
    }
    let hour_digits = text[at..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if !(1..=2).contains(&hour_digits) {
        return None;
    }
    let hour = digits(text, at, hour_digits)?;
    at += hour_digits;
    let (minute, second) = (digits(text, at + 1, 2)?, digits(text, at + 4, 2)?);
    if text.get(at) != Some(&b':') || text.get(at + 3) != Some(&b':') {
        return None;
    }
    at += 6;
    let mut us = 0;
    let mut step_us = 1_000_000;
    if matches!(text.get(at), Some(b'.' | b',')) {
        let fraction = text[at + 1..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit());
        let length = fraction.count();
        for place in 0..length.min(6) {
            step_us /= 10;
            us += i64::from(text[at + 1 + place] - b'0') * step_us;
        }
        at += 1 + length;
    }
    let [year, month, day] = date;
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 24 {
        return None;
    }
    let seconds = (days(year, month, day) * 24 + hour) * 3600 + minute * 60 + second;
    Some(Moment {
        us: seconds * 1_000_000 + us,
        step_us,
        bytes: at,
    })
}

/// Seconds since 1970 with a fraction, as PostgreSQL's `%n` writes them.
pub(super) fn epoch(text: &[u8]) -> Option<Moment> {
    let length = text
        .iter()
        .take_while(|byte| byte.is_ascii_digit() || **byte == b'.')
        .count();
    let seconds: f64 = std::str::from_utf8(&text[..length]).ok()?.parse().ok()?;
    let us = micros(seconds)?;
    let step_us = if text[..length].contains(&b'.') {
        1000
    } else {
        1_000_000
    };
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

fn digits(text: &[u8], at: usize, count: usize) -> Option<i64> {
    let mut number = 0;
    for byte in text.get(at..at + count)? {
        if !byte.is_ascii_digit() {
            return None;
        }
        number = number * 10 + i64::from(byte - b'0');
    }
    Some(number)
}

/// Days since 1970-01-01 of the Gregorian calendar, from years that begin in March.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let era_days = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    era_days + (153 * month + 2) / 5 + day - 1 - 719_468
}

/// The day of a date that a text begins with: `2026-11-28`, alone or before a time.
pub(crate) fn day_of(text: &[u8]) -> Option<i64> {
    let [year, month, day] = [
        digits(text, 0, 4)?,
        digits(text, 5, 2)?,
        digits(text, 8, 2)?,
    ];
    let is_date =
        text[4] == b'-' && text[7] == b'-' && matches!(text.get(10), None | Some(b' ' | b'T'));
    (is_date && (1..=12).contains(&month) && (1..=31).contains(&day))
        .then(|| days(year, month, day))
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
