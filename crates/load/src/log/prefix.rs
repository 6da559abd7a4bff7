//! PostgreSQL's `log_line_prefix`: which part of a line is the time, the session, the database.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::moment::{self, Moment, number, pattern};
use super::postgres::key;

/// Prefixes that servers have: most begin with the time and the process, and then have what they like (PostgreSQL's,
/// Debian's, Cloud SQL's, pgBadger's); RDS's, Azure's, pgreplay's. `%t` is read as `%m` is.
const USUAL: [&str; 5] = [
    "%m [%p]%*",
    "%m [%p-%l]%*",
    "%m:%r:%u@%d:[%p]:",
    "%m-%c-",
    "%m|%u|%d|%c|",
];

static SEVERITY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        "(?:^|[^A-Za-z0-9])(LOG|ERROR|DETAIL|STATEMENT|FATAL|HINT|CONTEXT|WARNING|NOTICE|INFO|PANIC|QUERY|\
         LOCATION|DEBUG):  ",
    )
});

/// Where the severity stands in a line, and where the message after it begins.
pub(super) fn severity(line: &[u8]) -> Option<(usize, &[u8], usize)> {
    let found = SEVERITY.captures(&line[..line.len().min(400)])?;
    let word = found.get(1)?;
    Some((word.start(), word.as_bytes(), found.get_match().end()))
}

/// What a prefix says: the time, the session's number and the database.
type Said<'a> = (Option<Moment>, Option<u64>, Option<&'a [u8]>);

/// A prefix, ready to be read.
#[derive(Debug, Clone)]
pub(super) struct Prefix(Regex);

/// An escape, with the width that pads it, as in `%-10u`; text; what is neither.
static PARTS: LazyLock<regex::Regex> =
    LazyLock::new(|| regex::Regex::new("%[-0-9]*([A-Za-z%*])|([^%]+)|%").expect("it was tried"));

/// Behind a time: " UTC", " +02".
const ZONE: &str = "(?: [A-Za-z0-9+-]+?)?";

impl Prefix {
    pub(super) fn new(text: &str) -> Result<Self, String> {
        let (mut read, mut ends) = (String::from("(?s-u)^"), String::from(r"\s*$"));
        for part in PARTS.captures_iter(text) {
            let (name, pattern) = match (part.get(1).map(|own| own.as_str()), part.get(2)) {
                (_, Some(text)) => {
                    read += &regex::escape(text.as_str());
                    continue;
                }
                (Some("%"), _) => ("", "%"),
                // What follows is not written by processes without a session.
                (Some("q"), _) => {
                    ends.insert_str(0, ")?");
                    read.push_str("(?:");
                    continue;
                }
                // Anything, in which the database may be told: `db=shop,`, `app@shop`.
                (Some("*"), _) => ("rest", ".*"),
                (Some("t" | "m"), _) => ("m", moment::PATTERN),
                (Some("s"), _) => ("s", moment::PATTERN),
                (Some("n"), _) => ("n", r"[\d.]+"),
                (Some("p"), _) => ("p", r" *\d+ *"),
                (Some("l"), _) => ("", r" *\d+ *"),
                (Some("c"), _) => ("c", ".*?"),
                (Some("d"), _) => ("d", ".*?"),
                (Some(_), _) => ("", ".*?"),
                (None, None) => return Err(format!("{text:?} is no log_line_prefix: a % ends it")),
            };
            let group = format!("(?<{name}>");
            let is_new = !name.is_empty() && !read.contains(&group);
            read += if is_new { &*group } else { "(?:" };
            read += pattern;
            read += ")";
            if matches!(name, "m" | "s") {
                read += ZONE;
            }
        }
        let has = |name: &str| read.contains(&format!("(?<{name}>"));
        if !["m", "s", "n"].into_iter().any(has) || !["p", "c"].into_iter().any(has) {
            return Err(format!(
                "{text:?} does not tell times (%m, %t or %n) and sessions (%p or %c) apart, so nothing can be replayed"
            ));
        }
        let regex = Regex::new(&(read + &ends));
        regex
            .map(Self)
            .map_err(|error| format!("{text:?} is no log_line_prefix: {error}"))
    }

    /// The usual prefix that fits most of these lines.
    pub(super) fn find(lines: &[Vec<u8>]) -> Option<Self> {
        let prefixes = USUAL.iter().filter_map(|text| Self::new(text).ok());
        let fits = |prefix: &Self| {
            let known = lines
                .iter()
                .filter_map(|line| severity(line).map(|found| &line[..found.0]));
            known.filter(|head| prefix.read(head).is_some()).count()
        };
        prefixes
            .map(|prefix| (fits(&prefix), prefix))
            .filter(|(count, _)| *count > 0)
            // Of equal ones the first.
            .rev()
            .max_by_key(|(count, _)| *count)
            .map(|(_, prefix)| prefix)
    }

    /// Reads what stands before the severity; `None`: it is no such prefix.
    pub(super) fn read<'a>(&self, head: &'a [u8]) -> Option<Said<'a>> {
        let found = self.0.captures(head)?;
        let part = |name: &str| Some(found.name(name)?.as_bytes().trim_ascii());
        let moment = part("m").or_else(|| part("s")).and_then(moment::read);
        let moment = moment.or_else(|| part("n").and_then(moment::epoch));
        let session = part("c").map(key).or_else(|| part("p").and_then(number));
        let database = part("d").filter(|name| *name != b"[unknown]");
        let database = database.or_else(|| part("rest").and_then(database_in));
        Some((moment, session, database))
    }
}

/// The database that `db=shop` or `app@shop` tells.
fn database_in(text: &[u8]) -> Option<&[u8]> {
    let mut words = text.split(|byte| b" ,:[]|".contains(byte));
    let found = words.find_map(|word| {
        let named = [&b"db="[..], b"database="];
        let named = named.iter().find_map(|name| word.strip_prefix(*name));
        named.or_else(|| {
            let at = word.iter().position(|&byte| byte == b'@')?;
            (!word.contains(&b'=')).then(|| &word[at + 1..])
        })
    });
    found.filter(|name| !name.is_empty())
}
