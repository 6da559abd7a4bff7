//! PostgreSQL's `log_line_prefix`: which part of a line is the time, the session, the database.

use super::moment::{self, Moment};

/// Prefixes that servers have: most begin with the time and the process, and then have what they like (PostgreSQL's,
/// Debian's, Cloud SQL's, pgBadger's); RDS's, Azure's, pgreplay's. `%t` is read as `%m` is.
const USUAL: [&str; 5] = [
    "%m [%p]%*",
    "%m [%p-%l]%*",
    "%m:%r:%u@%d:[%p]:",
    "%m-%c-",
    "%m|%u|%d|%c|",
];

const SEVERITIES: [&str; 14] = [
    "LOG",
    "ERROR",
    "DETAIL",
    "STATEMENT",
    "FATAL",
    "HINT",
    "CONTEXT",
    "WARNING",
    "NOTICE",
    "INFO",
    "PANIC",
    "QUERY",
    "LOCATION",
    "DEBUG",
];

/// Where the severity stands in a line, and where the message after it begins.
pub(super) fn severity(line: &[u8]) -> Option<(usize, &'static str, usize)> {
    let head = &line[..line.len().min(400)];
    (0..head.len())
        .filter(|&at| head[at..].starts_with(b":  "))
        .find_map(|colon| {
            let known = SEVERITIES
                .iter()
                .find(|own| head[..colon].ends_with(own.as_bytes()))?;
            let begins = colon - known.len();
            let is_word = begins == 0 || !head[begins - 1].is_ascii_alphanumeric();
            is_word.then_some((begins, *known, colon + 3))
        })
}

/// What a prefix says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Said<'a> {
    pub(super) moment: Option<Moment>,
    pub(super) session: Option<&'a [u8]>,
    pub(super) process: Option<&'a [u8]>,
    pub(super) database: Option<&'a [u8]>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(Vec<u8>),
    Escape(u8),
    /// What follows is not written by processes without a session.
    Stop,
    /// Anything, in which the database may be told: `db=shop,`, `app@shop`.
    Rest,
}

/// A prefix, ready to be read.
#[derive(Debug, Clone)]
pub(super) struct Prefix(Vec<Part>);

impl Prefix {
    pub(super) fn new(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text.as_bytes();
        while let Some(&byte) = rest.first() {
            if byte != b'%' {
                match parts.last_mut() {
                    Some(Part::Text(text)) => text.push(byte),
                    _ => parts.push(Part::Text(vec![byte])),
                }
                rest = &rest[1..];
                continue;
            }
            rest = &rest[1..];
            // A width, as in %-10u, pads with spaces.
            let width = rest
                .iter()
                .take_while(|byte| **byte == b'-' || byte.is_ascii_digit());
            rest = &rest[width.count()..];
            match rest.first() {
                Some(b'%') => parts.push(Part::Text(b"%".to_vec())),
                Some(b'q') => parts.push(Part::Stop),
                Some(b'*') => parts.push(Part::Rest),
                Some(&escape) if escape.is_ascii_alphabetic() => parts.push(Part::Escape(escape)),
                _ => return Err(format!("{text:?} is no log_line_prefix: a % ends it")),
            }
            rest = &rest[1..];
        }
        let has = |wanted: &[u8]| {
            parts
                .iter()
                .any(|part| matches!(part, Part::Escape(escape) if wanted.contains(escape)))
        };
        if !has(b"tmns") || !has(b"pc") {
            return Err(format!(
                "{text:?} does not tell times (%m, %t or %n) and sessions (%p or %c) apart, so nothing can be replayed"
            ));
        }
        Ok(Self(parts))
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
        let mut said = Said::default();
        let mut rest = head;
        for (number, part) in self.0.iter().enumerate() {
            match part {
                Part::Text(text) => rest = rest.strip_prefix(&text[..])?,
                Part::Stop if rest.is_empty() => return Some(said),
                Part::Stop => {}
                Part::Rest => {
                    said.database = database_in(rest);
                    return Some(said);
                }
                Part::Escape(escape @ (b't' | b'm' | b's' | b'n')) => {
                    let moment = match escape {
                        b'n' => moment::epoch(rest)?,
                        _ => moment::read(rest)?,
                    };
                    rest = &rest[moment.bytes..];
                    if *escape != b'n' {
                        // The zone: " UTC", " +02".
                        let zone = rest.strip_prefix(b" ").map(|zone| {
                            zone.iter()
                                .take_while(|byte| {
                                    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-')
                                })
                                .count()
                        });
                        let zone = zone.filter(|&length| length > 0).unwrap_or(0);
                        let ends = match self.0.get(number + 1) {
                            // A hyphen after it is the prefix's own.
                            Some(Part::Text(text)) if text.starts_with(b"-") => {
                                let zone = &rest[..rest.len().min(zone + 1)];
                                zone.iter()
                                    .position(|&byte| byte == b'-')
                                    .unwrap_or(zone.len())
                            }
                            _ => zone + usize::from(zone > 0),
                        };
                        rest = &rest[ends..];
                    }
                    if *escape != b's' || said.moment.is_none() {
                        said.moment = Some(moment);
                    }
                }
                Part::Escape(escape) => {
                    let end = match self.0[number + 1..]
                        .iter()
                        .find(|part| **part != Part::Stop)
                    {
                        Some(Part::Text(text)) => {
                            let text = &text[..];
                            rest.windows(text.len()).position(|own| own == text)?
                        }
                        None => rest.len(),
                        // Two that touch can only be told apart where the first is a number.
                        Some(_) => rest.iter().take_while(|byte| byte.is_ascii_digit()).count(),
                    };
                    let value = rest[..end].trim_ascii();
                    rest = &rest[end..];
                    match escape {
                        b'c' => said.session = Some(value),
                        b'p' if value.iter().all(u8::is_ascii_digit) => said.process = Some(value),
                        b'p' => return None,
                        b'd' if value != b"[unknown]" => said.database = Some(value),
                        _ => {}
                    }
                }
            }
        }
        rest.trim_ascii().is_empty().then_some(said)
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
