//! After which refusals a transaction is run again.

use std::collections::BTreeSet;

use regex::Regex;

use crate::driver::{Dialect, ServerError};

/// Which transactions are run again after an error.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Retry {
    /// Errors that the database's own manual calls worth another try: deadlocks, lock wait
    /// time-outs, serialization failures, a busy file. Also those that a workload's own draws
    /// cause.
    #[default]
    Transient,
    /// None: a transaction with an error is given up.
    Never,
    /// All of them.
    Always,
    /// Exactly these of the server's codes.
    Codes(BTreeSet<String>),
}

impl Retry {
    /// Reads codes of this database; the error names a wrong one, and shows what codes look like.
    pub fn codes(codes: &[String], dialect: Dialect) -> Result<Self, String> {
        let (what, example, form) = match dialect {
            Dialect::Mysql => ("a number", "1213", "^([1-5][0-9]{4}|[1-9][0-9]{0,3})$"),
            Dialect::Postgres => ("five digits and capital letters", "40P01", "^[0-9A-Z]{5}$"),
            Dialect::Sqlite => (
                "the name of a result code",
                "SQLITE_BUSY",
                "^SQLITE_[A-Z]+$",
            ),
        };
        let form = Regex::new(form).expect("it was tried");
        match codes.iter().find(|code| !form.is_match(code)) {
            Some(wrong) => Err(format!(
                "{wrong:?} is no error code of this database: those are {what}, such as {example}"
            )),
            None => Ok(Self::Codes(codes.iter().cloned().collect())),
        }
    }

    /// Whether a transaction is run again after this error, which may come from a collision of two
    /// clients' draws.
    pub fn applies(&self, error: &ServerError, collides: bool) -> bool {
        match self {
            Self::Transient => error.transient || collides,
            Self::Never => false,
            Self::Always => true,
            Self::Codes(codes) => codes.contains(&error.code),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(code: &str, transient: bool) -> ServerError {
        ServerError {
            code: code.into(),
            sql_state: None,
            message: String::new(),
            transient,
        }
    }

    fn codes(list: &[&str], dialect: Dialect) -> Result<Retry, String> {
        let list: Vec<_> = list.iter().map(|&code| code.to_owned()).collect();
        Retry::codes(&list, dialect)
    }

    #[test]
    fn each_policy() {
        let (deadlock, duplicate) = (refusal("1213", true), refusal("1062", false));
        assert!(Retry::Transient.applies(&deadlock, false));
        assert!(!Retry::Transient.applies(&duplicate, false));
        assert!(Retry::Transient.applies(&duplicate, true));
        assert!(!Retry::Never.applies(&deadlock, true));
        let listed = codes(&["1062"], Dialect::Mysql).unwrap();
        assert!(listed.applies(&duplicate, false));
        assert!(!listed.applies(&deadlock, true), "not in the list");
    }

    #[test]
    fn a_code_that_no_server_has_is_refused() {
        assert!(codes(&["1213", "1205"], Dialect::Mysql).is_ok());
        assert!(codes(&["40P01", "40001"], Dialect::Postgres).is_ok());
        assert!(codes(&["SQLITE_BUSY"], Dialect::Sqlite).is_ok());
        for (wrong, dialect) in [
            ("40P01", Dialect::Mysql),
            ("01213", Dialect::Mysql),
            ("0", Dialect::Mysql),
            ("70000", Dialect::Mysql),
            ("1213", Dialect::Postgres),
            ("40p01", Dialect::Postgres),
            ("BUSY", Dialect::Sqlite),
            ("SQLITE_", Dialect::Sqlite),
            ("", Dialect::Mysql),
        ] {
            let refusal = codes(&[wrong], dialect).unwrap_err();
            assert!(refusal.contains(&format!("{wrong:?}")), "{refusal}");
        }
    }
}
