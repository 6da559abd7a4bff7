//! The URL's parameters as PRAGMAs: set on every connection, and read back.

use rusqlite::Connection;
use rusqlite::types::Value;

use crate::driver::{Fault, ServerError};
use crate::target::{SqliteFile, TargetError};

enum Values {
    /// Words that read back as themselves.
    Words(&'static [&'static str]),
    /// Words that read back as their position in this list.
    Levels(&'static [&'static str]),
    /// A number, given to the PRAGMA times this factor.
    Number(i64),
}

/// What the URL may ask for: the PRAGMA's name, with the unit last. In the order in which they must be set:
/// the time-out before what may have to wait, the page size before the journal mode (a database in WAL mode keeps the size it has).
const PRAGMAS: [(&str, Values); 9] = [
    ("busy_timeout_ms", Values::Number(1)),
    ("page_size_bytes", Values::Number(1)),
    (
        "journal_mode",
        Values::Words(&["delete", "truncate", "persist", "memory", "wal", "off"]),
    ),
    (
        "synchronous",
        Values::Levels(&["off", "normal", "full", "extra"]),
    ),
    // A negative cache size counts KiB, a positive one pages.
    ("cache_size_kib", Values::Number(-1)),
    ("mmap_size_bytes", Values::Number(1)),
    ("temp_store", Values::Levels(&["default", "file", "memory"])),
    ("wal_autocheckpoint_pages", Values::Number(1)),
    ("journal_size_limit_bytes", Values::Number(1)),
];
const UNITS: [&str; 4] = ["_ms", "_bytes", "_kib", "_pages"];

/// A PRAGMA with the value that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Setting {
    name: &'static str,
    /// The value to set: a word or a number, checked, so that it can stand in SQL.
    value: String,
    /// The value that SQLite reports once it has taken effect.
    expected: String,
}

/// The settings that a URL asks for, in the order in which they must be set.
pub(super) fn settings(file: &SqliteFile) -> Result<Vec<Setting>, TargetError> {
    file.refuse_options_except(&PRAGMAS.map(|(option, _)| option))?;
    PRAGMAS
        .iter()
        .filter_map(|(option, values)| Some((*option, values, file.options.get(*option)?)))
        .map(|(option, values, text)| values.setting(option, text))
        .collect()
}

impl Values {
    fn setting(&self, option: &'static str, text: &str) -> Result<Setting, TargetError> {
        let text = text.to_ascii_lowercase();
        let expected = match self {
            Self::Words(words) if words.contains(&text.as_str()) => Some(text.clone()),
            Self::Levels(levels) => levels
                .iter()
                .position(|&level| level == text)
                .map(|level| level.to_string()),
            Self::Number(factor) => text
                .parse::<u32>()
                .ok()
                .map(|number| (i64::from(number) * factor).to_string()),
            Self::Words(_) => None,
        };
        let Some(expected) = expected else {
            let reason = format!("is not known: it takes {}", self.describe());
            return Err(TargetError::option(option, &text, reason));
        };
        Ok(Setting {
            name: UNITS
                .iter()
                .find_map(|unit| option.strip_suffix(unit))
                .unwrap_or(option),
            value: match self {
                Self::Number(_) => expected.clone(),
                Self::Words(_) | Self::Levels(_) => text,
            },
            expected,
        })
    }

    fn describe(&self) -> String {
        match self {
            Self::Words(words) | Self::Levels(words) => format!("one of {}", words.join(", ")),
            Self::Number(_) => format!("a whole number up to {}", u32::MAX),
        }
    }
}

impl Setting {
    /// Sets the PRAGMA and reads it back: SQLite passes over what it cannot do in silence (WAL
    /// on a file system without shared memory, another page size for an existing database).
    pub(super) fn apply(&self, connection: &Connection) -> Result<(), Fault> {
        connection.execute_batch(&format!("PRAGMA {} = {}", self.name, self.value))?;
        let found = connection
            .query_row(&format!("PRAGMA {}", self.name), [], |row| {
                row.get::<_, Value>(0)
            })
            .map(|value| as_text(&value))?;
        if found.eq_ignore_ascii_case(&self.expected) {
            return Ok(());
        }
        Err(Fault::Server(ServerError {
            code: "SQLITE_PRAGMA".into(),
            sql_state: None,
            message: format!(
                "PRAGMA {} = {} had no effect: it reads {found} instead of {}",
                self.name, self.value, self.expected
            ),
            transient: false,
        }))
    }
}

/// A value as SQLite's shell would print it.
fn as_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => text.clone(),
        Value::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn file(options: &[(&str, &str)]) -> SqliteFile {
        SqliteFile {
            path: "x.db".into(),
            options: options
                .iter()
                .map(|&(name, value)| (name.to_owned(), value.to_owned()))
                .collect::<BTreeMap<_, _>>(),
            statement_limit: None,
        }
    }

    #[test]
    fn settings_come_in_the_order_that_sqlite_needs() {
        let settings = settings(&file(&[
            ("cache_size_kib", "64"),
            ("journal_mode", "WAL"),
            ("page_size_bytes", "8192"),
            ("synchronous", "full"),
        ]));
        let shown: Vec<_> = settings
            .unwrap()
            .into_iter()
            .map(|setting| (setting.name, setting.value, setting.expected))
            .collect();
        let expected = [
            ("page_size", "8192", "8192"),
            ("journal_mode", "wal", "wal"),
            ("synchronous", "full", "2"),
            ("cache_size", "-64", "-64"),
        ];
        assert_eq!(
            shown,
            expected.map(|(name, value, reads)| (name, value.to_owned(), reads.to_owned()))
        );
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for (name, value, hint) in [
            ("journal_mode", "wall", "one of delete, truncate"),
            ("synchronous", "2", "one of off, normal, full, extra"),
            ("cache_size_kib", "64M", "a whole number"),
            ("busy_timeout_ms", "-1", "a whole number"),
            ("jornal_mode", "wal", "has: busy_timeout_ms"),
        ] {
            let error = settings(&file(&[(name, value)])).unwrap_err().to_string();
            assert!(error.contains(hint) && error.contains(name), "{error}");
        }
    }
}
