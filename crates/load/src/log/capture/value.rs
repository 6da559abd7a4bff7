//! PostgreSQL's parameters as literals. A type is known by its number, from the server's `pg_type.dat`.

use fallible_iterator::FallibleIterator;
use postgres_protocol::types;

use crate::log::date_of;

const DAY_US: i64 = 86_400_000_000;
/// From 1970 to 2000.
const EPOCH_DAYS: i64 = 10_957;
/// Below it all types are the server's own; users' enumerations and many others send text.
const FIRST_OF_USERS: u32 = 16_384;

/// A value as a literal; numbers bare if they have their type so, or else with it, so that operators find it.
pub(super) fn literal(oid: u32, value: &[u8], is_binary: bool) -> Option<Vec<u8>> {
    let decoded = is_binary.then(|| text(oid, value));
    let value = match &decoded {
        Some(decoded) => decoded.as_deref()?.as_bytes(),
        None => value,
    };
    let kind = type_of(oid);
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let has_digits = !value.is_empty() && value.iter().all(is_digit);
    if has_digits && matches!(oid, 20 | 21 | 23 | 26) {
        return Some(value.to_vec());
    }
    let parts: Vec<_> = value.split(|&byte| byte == b'\'').collect();
    Some([&b"'"[..], &parts.join(&b"''"[..]), b"'", kind.as_bytes()].concat())
}

/// What gives a number its type.
pub(super) fn type_of(oid: u32) -> &'static str {
    match oid {
        20 => "::int8",
        21 => "::int2",
        23 => "::int4",
        26 => "::oid",
        700 => "::float4",
        701 => "::float8",
        1700 => "::numeric",
        _ => "",
    }
}

/// The text of a value in its binary form.
fn text(oid: u32, bytes: &[u8]) -> Option<String> {
    match oid {
        199 | 1000..=1028 | 1115 | 1182 | 1183 | 1185 | 1231 | 2951 | 3807 => array(bytes),
        _ => scalar(oid, bytes),
    }
}

fn scalar(oid: u32, bytes: &[u8]) -> Option<String> {
    let plain = |bytes| std::str::from_utf8(bytes).ok().map(str::to_owned);
    let pairs = || bytes.iter().map(|byte| format!("{byte:02x}"));
    let digits = || pairs().collect::<Vec<_>>().concat();
    Some(match oid {
        16 => types::bool_from_sql(bytes).ok()?.to_string(),
        17 => format!("\\x{}", digits()),
        20 => types::int8_from_sql(bytes).ok()?.to_string(),
        21 => types::int2_from_sql(bytes).ok()?.to_string(),
        23 => types::int4_from_sql(bytes).ok()?.to_string(),
        26 => types::oid_from_sql(bytes).ok()?.to_string(),
        // char, name, text, json, xml, unknown, bpchar, varchar
        18 | 19 | 25 | 114 | 142 | 705 | 1042 | 1043 => plain(bytes)?,
        700 => types::float4_from_sql(bytes).ok()?.to_string(),
        701 => types::float8_from_sql(bytes).ok()?.to_string(),
        1082 => date_of(i64::from(types::date_from_sql(bytes).ok()?) + EPOCH_DAYS)?,
        1083 => time_of(types::time_from_sql(bytes).ok()?),
        // timestamp, timestamptz
        1114 | 1184 => match types::timestamp_from_sql(bytes).ok()? {
            i64::MAX => "infinity".to_owned(),
            i64::MIN => "-infinity".to_owned(),
            us => {
                let date = date_of(us.div_euclid(DAY_US) + EPOCH_DAYS)?;
                let zone = if oid == 1184 { "+00" } else { "" };
                format!("{date} {}{zone}", time_of(us.rem_euclid(DAY_US)))
            }
        },
        1700 => numeric(bytes)?,
        2950 if bytes.len() == 16 => digits(),
        // jsonb, behind its version
        3802 => plain(bytes.strip_prefix(b"\x01")?)?,
        FIRST_OF_USERS.. => plain(bytes).filter(|text| !text.contains(char::is_control))?,
        _ => return None,
    })
}

fn time_of(us: i64) -> String {
    let (seconds, part) = (us / 1_000_000, us % 1_000_000);
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    format!("{hours:02}:{minutes:02}:{:02}.{part:06}", seconds % 60)
}

/// Digits to the base of 10,000, the first of which has a weight; a sign; decimals to show.
fn numeric(bytes: &[u8]) -> Option<String> {
    let (pairs, _) = bytes.as_chunks::<2>();
    let numbers: Vec<_> = pairs.iter().copied().map(u16::from_be_bytes).collect();
    let [_count, weight, sign, decimals, digits @ ..] = &numbers[..] else {
        return None;
    };
    let sign = match sign {
        0 => "",
        0x4000 => "-",
        _ => return (*sign == 0xC000).then(|| "NaN".to_owned()),
    };
    let four = |place: i32| {
        let place = usize::try_from(place).unwrap_or(usize::MAX);
        format!("{:04}", digits.get(place).unwrap_or(&0))
    };
    let (weight, decimals) = (i32::from(weight.cast_signed()), usize::from(*decimals));
    let whole: String = (0..=weight).map(four).collect();
    let part = (weight + 1..).take(decimals.div_ceil(4)).map(four);
    let part: String = part.collect::<String>().chars().take(decimals).collect();
    let text = format!("{sign}{:0>1}.{part}", whole.trim_start_matches('0'));
    Some(text.trim_end_matches('.').to_owned())
}

/// An array of one dimension, of a type that is read.
fn array(bytes: &[u8]) -> Option<String> {
    let array = types::array_from_sql(bytes).ok()?;
    let is_flat = array.dimensions().count().ok()? < 2;
    let parts = array.values().map(|value| {
        let text = value.map(|value| scalar(array.element_type(), value));
        let quoted = |text: String| text.replace('\\', "\\\\").replace('"', "\\\"");
        Ok(match text {
            None => Some("NULL".to_owned()),
            Some(text) => text.map(|text| format!("\"{}\"", quoted(text))),
        })
    });
    let parts: Option<Vec<_>> = parts.collect::<Vec<_>>().ok()?.into_iter().collect();
    parts
        .filter(|_| is_flat)
        .map(|parts| format!("{{{}}}", parts.join(",")))
}
