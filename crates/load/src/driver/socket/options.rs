//! A URL's options for encryption, in the words of each database's own clients.

use std::path::{Path, PathBuf};

use super::trust::Check;
use crate::target::{Server, TargetError};

/// The names that one database's clients give the options.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    pub(crate) mode: &'static str,
    pub(crate) authority: &'static str,
    /// No encryption; encryption; and with each of the checks.
    modes: [(&'static str, Option<Check>); 4],
}

/// The options of the URL.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Demand {
    pub(super) check: Check,
    /// The certificates that are trusted; given exactly where something is checked.
    pub(super) authority: Option<PathBuf>,
}

impl Vocabulary {
    pub(crate) const MYSQL: Self = Self {
        mode: "ssl-mode",
        authority: "ssl-ca",
        modes: [
            ("disabled", None),
            ("required", Some(Check::Nothing)),
            ("verify-ca", Some(Check::Authority)),
            ("verify-identity", Some(Check::Identity)),
        ],
    };

    pub(crate) const POSTGRES: Self = Self {
        mode: "sslmode",
        authority: "sslrootcert",
        modes: [
            ("disable", None),
            ("require", Some(Check::Nothing)),
            ("verify-ca", Some(Check::Authority)),
            ("verify-full", Some(Check::Identity)),
        ],
    };

    /// The options, for a driver's list of those that it knows.
    pub(crate) const fn names(&self) -> [&'static str; 2] {
        [self.mode, self.authority]
    }

    /// The encryption that the URL asks for; `None`: no encryption, also if it says nothing.
    pub(super) fn read(&self, server: &Server) -> Result<Option<Demand>, TargetError> {
        let authority = server.options.get(self.authority).map(PathBuf::from);
        let check = match server.options.get(self.mode) {
            None => None,
            Some(mode) => self.check(mode)?,
        };
        match (check, &authority) {
            (Some(Check::Authority | Check::Identity), None) => Err(TargetError::option(
                self.mode,
                &server.options[self.mode],
                format!(
                    "needs {}=FILE, the certificate of the authority to trust",
                    self.authority
                ),
            )),
            (None | Some(Check::Nothing), Some(file)) => Err(self.unread(file)),
            (Some(check), _) => Ok(Some(Demand { check, authority })),
            (None, None) => Ok(None),
        }
    }

    fn check(&self, mode: &str) -> Result<Option<Check>, TargetError> {
        let known = self.modes.iter().find(|(name, _)| *name == mode);
        known.map(|(_, check)| *check).ok_or_else(|| {
            let names = self.modes.map(|(name, _)| name).join(", ");
            TargetError::option(self.mode, mode, format!("is not known; known are: {names}"))
        })
    }

    /// A file that nobody reads would give a false sense of safety.
    fn unread(&self, file: &Path) -> TargetError {
        let [.., (authority, _), (identity, _)] = self.modes;
        let mode = self.mode;
        TargetError::option(
            self.authority,
            &file.to_string_lossy(),
            format!("is read only with {mode}={authority} or {mode}={identity}"),
        )
    }

    pub(super) fn unreadable(&self, file: &Path, reason: impl std::fmt::Display) -> TargetError {
        TargetError::option(
            self.authority,
            &file.to_string_lossy(),
            format!("holds no readable certificate ({reason})"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Target;

    fn server(options: &str) -> Server {
        match Target::parse(&format!("mysql://a@b/c{options}"), None) {
            Ok(Target::Mysql(server)) => server,
            other => panic!("{options}: {other:?}"),
        }
    }

    #[test]
    fn off_unless_asked_for() {
        for options in ["", "?ssl-mode=disabled", "?sslmode=require"] {
            assert_eq!(Vocabulary::MYSQL.read(&server(options)).unwrap(), None);
        }
    }

    #[test]
    fn each_in_its_own_words() {
        let check = |vocabulary: &Vocabulary, options: &str| {
            let demand = vocabulary.read(&server(options)).unwrap().unwrap();
            (demand.check, demand.authority.is_some())
        };
        let mysql = |options| check(&Vocabulary::MYSQL, options);
        assert_eq!(mysql("?ssl-mode=required"), (Check::Nothing, false));
        assert_eq!(
            mysql("?ssl-mode=verify-ca&ssl-ca=x"),
            (Check::Authority, true)
        );
        assert_eq!(
            mysql("?ssl-mode=verify-identity&ssl-ca=x"),
            (Check::Identity, true)
        );
        let postgres = |options| check(&Vocabulary::POSTGRES, options);
        assert_eq!(postgres("?sslmode=require"), (Check::Nothing, false));
        assert_eq!(
            postgres("?sslmode=verify-full&sslrootcert=x"),
            (Check::Identity, true)
        );
    }

    #[test]
    fn refusals_say_what_to_write() {
        let refusal = |options| {
            Vocabulary::MYSQL
                .read(&server(options))
                .unwrap_err()
                .to_string()
        };
        assert!(refusal("?ssl-mode=on").contains("disabled, required, verify-ca, verify-identity"));
        assert!(refusal("?ssl-mode=REQUIRED").contains("is not known"));
        assert!(refusal("?ssl-mode=verify-ca").contains("needs ssl-ca=FILE"));
        for unread in [
            "?ssl-ca=x",
            "?ssl-ca=x&ssl-mode=required",
            "?ssl-ca=x&ssl-mode=disabled",
        ] {
            assert!(
                refusal(unread).contains("only with ssl-mode=verify-ca"),
                "{unread}"
            );
        }
    }
}
