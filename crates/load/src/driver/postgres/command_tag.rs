//! The tag of a finished command: `UPDATE 1`, `SELECT 10`, `BEGIN`.

use crate::driver::Fault;

/// The tag in a `CommandComplete`, without the zero byte that ends it.
#[inline]
pub(super) fn zero_ended(body: &[u8]) -> Result<&[u8], Fault> {
    match body.split_last() {
        Some((0, tag)) => Ok(tag),
        _ => Err(malformed_tag(body)),
    }
}

/// Rows changed, from a command's tag: `INSERT 0 1`, `UPDATE 1`, `DELETE 1`, `MERGE 1`, `COPY 1`.
/// Any other command (`SELECT 10`, `BEGIN`) changes none.
#[inline]
pub(crate) fn affected_rows(tag: &[u8]) -> Result<u64, Fault> {
    let mut words = tag.split(|&byte| byte == b' ');
    let Some(b"INSERT" | b"UPDATE" | b"DELETE" | b"MERGE" | b"COPY") = words.next() else {
        return Ok(0);
    };
    // The last word: an INSERT's first number was an object id once and now is always 0.
    words
        .next_back()
        .and_then(|digits| std::str::from_utf8(digits).ok())
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(|| malformed_tag(tag))
}

fn malformed_tag(tag: &[u8]) -> Fault {
    Fault::Protocol(format!(
        "a command that ended with {:?} instead of a tag and a count",
        String::from_utf8_lossy(tag)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_tags() {
        for (tag, count) in [
            ("INSERT 0 5", 5),
            ("UPDATE 18446744073709551615", u64::MAX),
            ("DELETE 0", 0),
            ("MERGE 3", 3),
            ("COPY 9", 9),
            ("SELECT 100", 0),
            ("BEGIN", 0),
            ("", 0),
        ] {
            assert_eq!(affected_rows(tag.as_bytes()).unwrap(), count, "{tag}");
        }
        for tag in [
            "INSERT",
            "INSERT ",
            "UPDATE ",
            "UPDATE -1",
            "DELETE 18446744073709551616",
        ] {
            assert!(affected_rows(tag.as_bytes()).is_err(), "{tag}");
        }
    }
}
