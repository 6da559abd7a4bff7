//! Which database is meant: the URL of the command line, resolved and checked.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use url::{Url, form_urlencoded};

use crate::driver::Dialect;
use crate::workload::sql::{Errand, Fence};

/// A database, as the user named it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    Mysql(Server),
    Postgres(Server),
    Sqlite(SqliteFile),
    /// Answers at once without a database: what is left is our own cost.
    Null(Null),
}

/// No database, in the place of a family's: `null:postgresql?database=shop&other=crm` reads scripts as
/// that database of that server would get them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Null {
    pub dialect: Dialect,
    pub database: String,
    /// The server's other databases.
    pub others: Vec<String>,
}

impl Default for Null {
    fn default() -> Self {
        Self {
            dialect: Dialect::Mysql,
            database: "null".into(),
            others: Vec::new(),
        }
    }
}

impl Null {
    fn from_url(url: &Url) -> Result<Self, TargetError> {
        let mut null = Self {
            dialect: match url.path() {
                "" | "mysql" => Dialect::Mysql,
                "postgresql" => Dialect::Postgres,
                "sqlite" => Dialect::Sqlite,
                other => {
                    return Err(TargetError::UnknownScheme {
                        scheme: format!("null:{other}"),
                    });
                }
            },
            ..Self::default()
        };
        for (name, value) in url.query_pairs().into_owned() {
            match name.as_str() {
                "database" => null.database = value,
                "other" => null.others.push(value),
                _ => {
                    return Err(TargetError::UnknownOption {
                        name,
                        known: "database, other".into(),
                    });
                }
            }
        }
        Ok(null)
    }
}

/// A password, which no message shows.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Password(pub Option<String>);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// A server's address and account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    pub endpoint: Endpoint,
    pub user: String,
    /// Never from the URL: from `DISKPROOF_PASSWORD` or a file.
    pub password: Password,
    pub database: String,
    /// The URL's other parameters. Drivers refuse what they do not know.
    pub options: BTreeMap<String, String>,
    /// Longest time for a statement that is not measured; `None`: as long as its work takes.
    pub statement_limit: Option<Duration>,
}

/// The address of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// For PostgreSQL also the directory that holds `.s.PGSQL.<port>`.
    Unix(PathBuf),
    Tcp {
        host: String,
        port: u16,
    },
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "{}", path.display()),
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
        }
    }
}

/// An SQLite database and the PRAGMAs to set on every connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqliteFile {
    pub path: PathBuf,
    pub options: BTreeMap<String, String>,
    /// As a server's.
    pub statement_limit: Option<Duration>,
}

/// The parameter of a server's URL for sessions that only read.
pub const READ_ONLY: &str = "read-only";

const FORMS: &str = "mysql://USER@HOST/DB, mysql://USER@localhost/DB?socket=PATH, \
                     postgresql://USER@HOST/DB, sqlite:PATH or null:";

/// Why a URL was refused, and what to write instead.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum TargetError {
    #[error("{url:?} is not a database URL ({reason}); write {FORMS}")]
    Malformed { url: String, reason: String },
    #[error("the scheme {scheme:?} is not a supported database; write {FORMS}")]
    UnknownScheme { scheme: String },
    #[error(
        "every user of this machine could see a password in the URL; put it into the environment \
         variable DISKPROOF_PASSWORD or into a file given by --password-file"
    )]
    Password,
    #[error("a file has no host, but the URL names {host:?}; write sqlite:PATH or sqlite:///PATH")]
    HostOfFile { host: String },
    #[error("a # in the URL would begin a fragment, which no server has; write %23 for #")]
    Fragment,
    #[error("the URL's user or database holds NUL (%00), which no name has; remove it")]
    Nul,
    #[error("the URL has no {what}; write {example}")]
    Missing {
        what: &'static str,
        example: &'static str,
    },
    #[error("the URL's parameter {name:?} is unknown; this driver has: {known}")]
    UnknownOption { name: String, known: String },
    #[error("the URL's parameter {name}={value} {reason}")]
    Option {
        name: &'static str,
        value: String,
        reason: String,
    },
}

impl TargetError {
    pub(crate) fn option(name: &'static str, value: &str, reason: impl Into<String>) -> Self {
        let (value, reason) = (value.to_owned(), reason.into());
        Self::Option {
            name,
            value,
            reason,
        }
    }
}

impl Target {
    /// Reads a URL; `password` comes from where passwords may come from.
    pub fn parse(text: &str, password: Option<String>) -> Result<Self, TargetError> {
        if let Some((scheme, file)) = text.split_once(':')
            && scheme.eq_ignore_ascii_case("sqlite")
        {
            return SqliteFile::from_text(file).map(Self::Sqlite);
        }
        // libpq takes a user without a host if `host=` names the directory of the socket.
        let whole = match text.split_once('?') {
            Some((place, options)) if options.contains("host=") || options.contains("socket=") => {
                format!("{}?{options}", place.replacen("@/", "@localhost/", 1))
            }
            _ => text.to_owned(),
        };
        let url = Url::parse(&whole).map_err(|error| TargetError::Malformed {
            url: without_password(text),
            reason: error.to_string(),
        })?;
        if url.password().is_some() {
            return Err(TargetError::Password);
        }
        match url.scheme() {
            "mysql" | "mariadb" => Server::from_url(&url, 3306, password).map(Self::Mysql),
            "postgresql" | "postgres" => Server::from_url(&url, 5432, password).map(Self::Postgres),
            "null" => Null::from_url(&url).map(Self::Null),
            other => Err(TargetError::UnknownScheme {
                scheme: other.to_owned(),
            }),
        }
    }
}

impl Target {
    /// The SQL that it speaks, or stands for.
    pub fn dialect(&self) -> Dialect {
        match self {
            Self::Mysql(_) => Dialect::Mysql,
            Self::Postgres(_) => Dialect::Postgres,
            Self::Sqlite(_) => Dialect::Sqlite,
            Self::Null(null) => null.dialect,
        }
    }

    /// The one database that it names.
    pub fn database(&self) -> &str {
        match self {
            Self::Mysql(server) | Self::Postgres(server) => &server.database,
            Self::Sqlite(_) => "main",
            Self::Null(null) => &null.database,
        }
    }

    /// What the user's own statements may reach: the one database, or anything.
    pub fn fence(&self, errand: Errand, any_database: bool) -> Fence {
        let dialect = self.dialect();
        let own = self.database();
        let mut fence = Fence::new(dialect, errand, (!any_database).then_some(own));
        if let Self::Null(null) = self {
            fence.add_others(null.others.iter().cloned());
        }
        fence
    }

    /// Limits each statement that is not measured, from [`begin_work`](crate::driver::Admin) on.
    #[must_use]
    pub fn with_statement_limit(mut self, limit: Option<Duration>) -> Self {
        match &mut self {
            Self::Mysql(server) | Self::Postgres(server) => server.statement_limit = limit,
            Self::Sqlite(file) => file.statement_limit = limit,
            Self::Null(_) => {}
        }
        self
    }
}

impl Server {
    fn from_url(
        url: &Url,
        default_port: u16,
        password: Option<String>,
    ) -> Result<Self, TargetError> {
        if url.fragment().is_some() {
            return Err(TargetError::Fragment);
        }
        let mut options: BTreeMap<_, _> = url.query_pairs().into_owned().collect();
        let socket = options.remove("socket").map(PathBuf::from);
        // libpq's way: `host=/run/postgresql` names the directory of the socket.
        let directory = match options.get("host") {
            Some(host) if host.starts_with('/') => options.remove("host").map(PathBuf::from),
            Some(host) => {
                let reason = "names no socket's directory, which begins with /; \
                    a host stands before the database: SCHEME://USER@HOST/DB";
                return Err(TargetError::option("host", host, reason));
            }
            None => None,
        };
        let endpoint = match (socket.or(directory), url.host_str()) {
            (Some(path), _) => Endpoint::Unix(path),
            (None, Some(host)) => Endpoint::Tcp {
                host: host.trim_matches(['[', ']']).to_owned(),
                port: url.port().unwrap_or(default_port),
            },
            (None, None) => {
                return Err(TargetError::Missing {
                    what: "host and no socket",
                    example: "SCHEME://USER@HOST/DB or SCHEME://USER@localhost/DB?socket=PATH",
                });
            }
        };
        if let (Endpoint::Unix(_), Some(port)) = (&endpoint, url.port())
            && url.scheme().starts_with("postgres")
        {
            // As for libpq, it picks among the sockets of the directory.
            options
                .entry("port".to_owned())
                .or_insert_with(|| port.to_string());
        }
        let user = name("user", url.username())?;
        let database = name("database", url.path().trim_start_matches('/'))?;
        Ok(Self {
            endpoint,
            user,
            password: Password(password),
            database,
            options,
            statement_limit: None,
        })
    }

    /// Whether the server shall refuse all that writes in our sessions, as the URL asks.
    pub fn read_only(&self) -> Result<bool, TargetError> {
        match self.options.get(READ_ONLY).map(String::as_str) {
            None | Some("off") => Ok(false),
            Some("on") => Ok(true),
            Some(value) => {
                let reason = "is not known; known are: on, off";
                Err(TargetError::option(READ_ONLY, value, reason))
            }
        }
    }

    /// Refuses parameters that no one would read: a misspelt option must not pass in silence.
    pub fn refuse_options_except(&self, known: &[&str]) -> Result<(), TargetError> {
        refuse_except(&self.options, &[known, &["socket", "host"]].concat())
    }
}

impl SqliteFile {
    /// Reads what follows `sqlite:`. A path is not what a URL's path is (`#` is a letter of it, and
    /// `..` may follow a symbolic link), so that the rules of URLs would change it.
    fn from_text(text: &str) -> Result<Self, TargetError> {
        let (place, query) = text.split_once('?').unwrap_or((text, ""));
        let path = match place.strip_prefix("//") {
            None => place,
            Some(rest) => {
                let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                if !host.is_empty() {
                    // A password may hold the / at which the host seems to end.
                    if rest.contains('@') {
                        return Err(TargetError::Password);
                    }
                    let host = host.to_owned();
                    return Err(TargetError::HostOfFile { host });
                }
                path
            }
        };
        if path.is_empty() {
            return Err(TargetError::Missing {
                what: "file",
                example: "sqlite:PATH",
            });
        }
        let bytes = percent_decode_str(path).collect();
        Ok(Self {
            path: OsString::from_vec(bytes).into(),
            options: form_urlencoded::parse(query.as_bytes())
                .into_owned()
                .collect(),
            statement_limit: None,
        })
    }

    /// Refuses parameters that no one would read.
    pub fn refuse_options_except(&self, known: &[&str]) -> Result<(), TargetError> {
        refuse_except(&self.options, known)
    }
}

fn refuse_except(options: &BTreeMap<String, String>, known: &[&str]) -> Result<(), TargetError> {
    match options.keys().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => Err(TargetError::UnknownOption {
            name: name.clone(),
            known: known.join(", "),
        }),
    }
}

/// The URL for a message, without its password, even if it cannot be parsed: a password that breaks
/// a URL (by a `/` or a `#` of its own) stands before the last `@`. The user's name is kept if it
/// is certain.
pub(crate) fn without_password(text: &str) -> String {
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme, rest)) if is_name(scheme) => (&text[..scheme.len() + "://".len()], rest),
        _ => ("", text),
    };
    let (account, place) = match rest.rsplit_once('@') {
        Some((account, place)) => (account, format!("@{place}")),
        // Without a host, what follows the colon may be a password as well as a port.
        None if rest.contains(':') => (rest, String::new()),
        None => return text.to_owned(),
    };
    match account.split_once(':') {
        Some((user, _)) if is_name(user) => format!("{scheme}{user}:***{place}"),
        None if is_name(account) => text.to_owned(),
        _ => format!("{scheme}***{place}"),
    }
}

fn is_name(text: &str) -> bool {
    let belongs = |c: char| c.is_ascii_alphanumeric() || "_-.+".contains(c);
    text.chars().all(belongs)
}

/// A user or a database. Both protocols end a name at NUL, so that another one would be used.
fn name(what: &'static str, part: &str) -> Result<String, TargetError> {
    let name = percent_decode_str(part).decode_utf8_lossy().into_owned();
    if name.is_empty() {
        let example = "SCHEME://USER@HOST/DB";
        return Err(TargetError::Missing { what, example });
    }
    if name.contains('\0') {
        return Err(TargetError::Nul);
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(text: &str) -> Server {
        match Target::parse(text, None) {
            Ok(Target::Mysql(server) | Target::Postgres(server)) => server,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn the_port_of_a_postgresql_is_that_of_its_socket_too() {
        let port = |url: &str| match Target::parse(url, None) {
            Ok(Target::Postgres(server)) => server.options.get("port").cloned(),
            other => panic!("{other:?}"),
        };
        let given = "postgresql://u@localhost:5433/d?host=/run/postgresql";
        assert_eq!(port(given).as_deref(), Some("5433"));
        assert_eq!(port(&format!("{given}&port=5434")).as_deref(), Some("5434"));
        assert_eq!(port("postgresql://u@localhost:5433/d"), None);
    }

    #[test]
    fn a_socket_wins_over_the_host() {
        let server = server("mysql://root@localhost/sbtest?socket=/run/my%20sql.sock");
        assert_eq!(server.endpoint, Endpoint::Unix("/run/my sql.sock".into()));
        assert_eq!(
            (server.user.as_str(), server.database.as_str()),
            ("root", "sbtest")
        );
        assert!(server.options.is_empty());
    }

    #[test]
    fn sessions_are_read_only_if_the_url_says_so() {
        let asked = |options: &str| server(&format!("mysql://a@b/c{options}")).read_only();
        assert_eq!(asked(""), Ok(false));
        assert_eq!(asked("?read-only=off"), Ok(false));
        assert_eq!(asked("?read-only=on"), Ok(true));
        assert!(asked("?read-only=yes").is_err());
    }

    #[test]
    fn hosts_and_ports() {
        let tcp = |host: &str, port| Endpoint::Tcp {
            host: host.into(),
            port,
        };
        assert_eq!(server("mariadb://a@db:3307/x").endpoint, tcp("db", 3307));
        assert_eq!(server("mysql://a@db/x").endpoint, tcp("db", 3306));
        assert_eq!(server("postgres://a@[::1]/x").endpoint, tcp("::1", 5432));
        for host in ["/run/postgresql", "%2Frun%2Fpostgresql"] {
            let server = server(&format!("postgresql://a@/x?host={host}"));
            assert_eq!(server.endpoint, Endpoint::Unix("/run/postgresql".into()));
        }
    }

    #[test]
    fn sqlite_paths_relative_and_absolute() {
        for (text, path) in [
            ("sqlite:bench.db", "bench.db"),
            ("sqlite:/tmp/a b.db?synchronous=full", "/tmp/a b.db"),
            ("sqlite:///tmp/x.db", "/tmp/x.db"),
            ("sqlite:/x#y.db?synchronous=full", "/x#y.db"),
            ("sqlite:link/../x.db", "link/../x.db"),
            ("sqlite:a%3Fb%20c.db", "a?b c.db"),
        ] {
            match Target::parse(text, None) {
                Ok(Target::Sqlite(file)) => assert_eq!(file.path, PathBuf::from(path), "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn refusals_say_what_to_write() {
        let refusal = |text: &str| Target::parse(text, None).unwrap_err().to_string();
        assert!(refusal("mysql://root:secret@localhost/x").contains("DISKPROOF_PASSWORD"));
        assert!(refusal("oracle://a@b/c").contains("\"oracle\""));
        assert!(refusal("localhost").contains("mysql://USER@HOST/DB"));
        assert!(refusal("mysql://localhost/x").contains("no user"));
        assert!(refusal("mysql://a@localhost").contains("no database"));
        assert!(refusal("sqlite:").contains("no file"));
        assert!(refusal("sqlite://data/bench.db").contains("\"data\"; write sqlite:PATH"));
        assert!(refusal("sqlite://bench.db").contains("\"bench.db\""));
        assert!(!refusal("sqlite://a:secret@host/x").contains("secret"));
        assert!(refusal("mysql://a@b/c#d").contains("%23"));
        assert!(refusal("mysql://a%00b@b/c").contains("NUL"));
        assert!(refusal("postgresql://a@b/c%00d").contains("NUL"));
        assert!(refusal("postgresql://a@b/c?host=d").contains("SCHEME://USER@HOST/DB"));
        let misspelt = server("mysql://a@b/c?sokcet=/x").refuse_options_except(&["timeout_s"]);
        assert!(misspelt.unwrap_err().to_string().contains("sokcet"));
    }

    #[test]
    fn a_url_that_cannot_be_read_is_shown_without_its_password() {
        for (text, shown) in [
            (
                "mysql://root:secret@host:99999/db",
                "mysql://root:***@host:99999/db",
            ),
            ("mysql://root:s/ecret@host/db", "mysql://root:***@host/db"),
            ("mysql://root:sec#ret@host/db", "mysql://root:***@host/db"),
            ("mysql://root:sec@ret@h:x/db", "mysql://root:***@h:x/db"),
            ("mysql://root:sec://ret@h/db", "mysql://root:***@h/db"),
            (
                "postgresql://root:secret@[::1/db",
                "postgresql://root:***@[::1/db",
            ),
            ("mysql://ro^ot:s@host:x/db", "mysql://***@host:x/db"),
            ("mysql://root:secret", "mysql://root:***"),
            ("my_root:secret@host/db", "my_root:***@host/db"),
            ("mysql://root@host:99999/db", "mysql://root@host:99999/db"),
            ("localhost", "localhost"),
        ] {
            assert_eq!(without_password(text), shown);
            let refusal = Target::parse(text, None).unwrap_err().to_string();
            assert!(refusal.contains(&format!("{shown:?}")), "{refusal}");
        }
        for text in ["sqlite://root:sec/ret@host/db", "sqlite://sec@ret"] {
            assert_eq!(Target::parse(text, None), Err(TargetError::Password));
        }
    }

    #[test]
    fn a_password_is_never_shown() {
        let target = Target::parse("mysql://a@b/c", Some("geheim".into())).unwrap();
        assert!(!format!("{target:?}").contains("geheim"));
    }
}
