//! The classes of statements that leave the database, and what is done about each.

use super::words::{What, Word};
use crate::driver::Dialect;
use crate::driver::Dialect::{Mysql, Postgres, Sqlite};

/// What is done about a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Send,
    /// It makes, drops or enters a database: a dump of one database loads into ours without it.
    Database,
    /// A dump has it for another server; the data are the same without it.
    LeaveOut(&'static str),
    Refuse(&'static str),
}

use Fate::{Database, LeaveOut, Refuse};

const ACCOUNTS: Fate = Refuse("changes the server's accounts");
const VARIABLES: Fate =
    Refuse("changes a variable of the whole server; a tuning of a study sets it and puts it back");
const SERVER: Fate = Refuse("works on the whole server");
const FILES: Fate = Refuse("reads or writes a file of a machine");
const CODE: Fate = Refuse("loads foreign code into the server");
const ELSEWHERE: Fate = Refuse("reaches another server");
const REPLICATION: Fate = LeaveOut("replication");
const RIGHTS: Fate = LeaveOut("owners and rights");

/// Each class by the words that a statement begins with: `A|B` is either, `A?` may be absent, `..`
/// is anything, `'` is a string. The first that fits decides.
const CLASSES: &[(Dialect, &str, Fate)] = &[
    (
        Mysql,
        "CREATE|DROP|ALTER OR? REPLACE? DATABASE|SCHEMA",
        Database,
    ),
    (Mysql, "USE", Database),
    (
        Mysql,
        "SET .. GTID_PURGED|GTID_SLAVE_POS|SQL_LOG_BIN",
        REPLICATION,
    ),
    (Mysql, "CHANGE MASTER|REPLICATION", REPLICATION),
    (
        Mysql,
        "START|STOP|RESET SLAVE|REPLICA|ALL|GROUP_REPLICATION",
        REPLICATION,
    ),
    (Mysql, "FLUSH LOCAL|NO_WRITE_TO_BINLOG? PRIVILEGES", RIGHTS),
    (Mysql, "SET PASSWORD|ROLE|DEFAULT", ACCOUNTS),
    (Mysql, "SET RESOURCE", SERVER),
    (Mysql, "GRANT|REVOKE", ACCOUNTS),
    (
        Mysql,
        "CREATE|ALTER|DROP|RENAME OR? REPLACE? USER|ROLE",
        ACCOUNTS,
    ),
    (Mysql, "LOAD DATA|XML", FILES),
    (Mysql, "IMPORT TABLE", FILES),
    (Mysql, "CREATE|ALTER .. DATA|INDEX DIRECTORY", FILES),
    (Mysql, "CREATE .. FUNCTION .. SONAME", CODE),
    (Mysql, "INSTALL|UNINSTALL", CODE),
    (Mysql, "CREATE|ALTER|DROP OR? REPLACE? SERVER", ELSEWHERE),
    (
        Mysql,
        "CREATE|ALTER .. ENGINE =? FEDERATED|CONNECT|SPIDER|S3",
        ELSEWHERE,
    ),
    (
        Mysql,
        "CREATE|ALTER|DROP UNDO? TABLESPACE|LOGFILE|RESOURCE",
        SERVER,
    ),
    (Mysql, "ALTER|LOCK|UNLOCK INSTANCE", SERVER),
    (
        Mysql,
        "SHUTDOWN|RESTART|KILL|PURGE|FLUSH|RESET|BINLOG|CLONE|BACKUP",
        SERVER,
    ),
    (Mysql, "CACHE INDEX", SERVER),
    (Postgres, "CREATE|DROP|ALTER DATABASE", Database),
    (Postgres, "ALTER .. OWNER TO", RIGHTS),
    (Postgres, "ALTER DEFAULT PRIVILEGES", RIGHTS),
    (Postgres, "GRANT|REVOKE .. ON", RIGHTS),
    (Postgres, "SET|RESET LOCAL|SESSION? AUTHORIZATION", RIGHTS),
    (Postgres, "SET|RESET SESSION SESSION AUTHORIZATION", RIGHTS),
    (
        Postgres,
        "COMMENT ON EXTENSION|DATABASE|ROLE|TABLESPACE",
        RIGHTS,
    ),
    (Postgres, "SECURITY LABEL", RIGHTS),
    (Postgres, "CREATE|ALTER|DROP POLICY", RIGHTS),
    (Postgres, "SET|RESET LOCAL|SESSION? ROLE", ACCOUNTS),
    (Postgres, "CREATE|ALTER|DROP ROLE|USER|GROUP", ACCOUNTS),
    (Postgres, "GRANT|REVOKE|REASSIGN", ACCOUNTS),
    (Postgres, "DROP OWNED", ACCOUNTS),
    (Postgres, "ALTER SYSTEM", VARIABLES),
    (Postgres, "COPY .. FROM|TO PROGRAM", FILES),
    (Postgres, "COPY .. FROM|TO '", FILES),
    (Postgres, "LOAD", CODE),
    (
        Postgres,
        "CREATE OR? REPLACE? TRUSTED? PROCEDURAL? LANGUAGE",
        CODE,
    ),
    (
        Postgres,
        "CREATE EXTENSION .. DBLINK|POSTGRES_FDW|FILE_FDW|ADMINPACK",
        ELSEWHERE,
    ),
    (Postgres, "CREATE|ALTER|DROP SERVER|SUBSCRIPTION", ELSEWHERE),
    (Postgres, "CREATE|ALTER|DROP FOREIGN DATA", ELSEWHERE),
    (Postgres, "CREATE|ALTER|DROP TABLESPACE", SERVER),
    (Sqlite, "ATTACH|DETACH", FILES),
    (Sqlite, "VACUUM .. INTO", FILES),
];

/// Functions that do the same from within any statement.
const CALLS: &[(Dialect, &str, Fate)] = &[
    (Mysql, "LOAD_FILE", FILES),
    (
        Postgres,
        "PG_READ_FILE|PG_READ_BINARY_FILE|PG_LS_DIR|PG_FILE_WRITE|LO_IMPORT|LO_EXPORT",
        FILES,
    ),
    (
        Postgres,
        "PG_TERMINATE_BACKEND|PG_CANCEL_BACKEND|PG_RELOAD_CONF|PG_ROTATE_LOGFILE|PG_SWITCH_WAL|PG_PROMOTE",
        SERVER,
    ),
    (Postgres, "DBLINK|DBLINK_CONNECT|DBLINK_EXEC", ELSEWHERE),
];

/// What the words of a statement say of it, from its beginning.
pub(super) fn fate(words: &[Word<'_>], dialect: Dialect) -> Fate {
    if dialect == Mysql && sets_global(words) {
        let is_replication = fits("SET .. GTID_PURGED|GTID_SLAVE_POS", words);
        return if is_replication {
            REPLICATION
        } else {
            VARIABLES
        };
    }
    CLASSES
        .iter()
        .filter(|(own, ..)| *own == dialect)
        .find(|(_, pattern, _)| fits(pattern, words))
        .map_or(Fate::Send, |(.., fate)| *fate)
}

/// What a word within a statement says of it; `next` is the one after it.
pub(super) fn fate_of_call(word: Word<'_>, next: Word<'_>, dialect: Dialect) -> Fate {
    let is_into = dialect == Mysql && word.is("INTO");
    if is_into && (next.is("OUTFILE") || next.is("DUMPFILE")) {
        return FILES;
    }
    if !next.is("(") {
        return Fate::Send;
    }
    CALLS
        .iter()
        .find(|(own, names, _)| *own == dialect && names.split('|').any(|name| word.is(name)))
        .map_or(Fate::Send, |(.., fate)| *fate)
}

/// `SET GLOBAL a = 1`, `SET b = 1, PERSIST a = 1`, `SET @@global.a = 1`; not `SET @b = @@global.a`.
fn sets_global(words: &[Word<'_>]) -> bool {
    if !words.first().is_some_and(|word| word.is("SET")) {
        return false;
    }
    (1..words.len()).any(|number| {
        let before = words[..number].iter().rev().find(|word| !word.is("@"));
        let is_target = before.is_some_and(|word| word.is("SET") || word.is(","));
        let known = ["GLOBAL", "PERSIST", "PERSIST_ONLY"];
        is_target && known.iter().any(|scope| words[number].is(scope))
    })
}

fn fits(pattern: &str, words: &[Word<'_>]) -> bool {
    let (first, rest) = pattern.split_once(' ').unwrap_or((pattern, ""));
    if first.is_empty() {
        return true;
    }
    if first == ".." {
        return (0..words.len()).any(|number| fits(rest, &words[number..]));
    }
    let (wanted, is_optional) = match first.strip_suffix('?') {
        Some(wanted) => (wanted, true),
        None => (first, false),
    };
    let is_there = words
        .first()
        .is_some_and(|word| wanted.split('|').any(|own| word.is(own)));
    (is_there && fits(rest, &words[1..])) || (is_optional && fits(rest, words))
}

/// The database that a statement of [`Fate::Database`] names.
pub(super) fn database_of<'a>(words: &[Word<'a>]) -> Option<&'a [u8]> {
    let skipped = [
        "CREATE", "DROP", "ALTER", "OR", "REPLACE", "DATABASE", "SCHEMA", "USE", "IF", "NOT",
        "EXISTS",
    ];
    let is_skipped = |word: &&Word<'_>| skipped.iter().any(|own| word.is(own));
    words.iter().find(|word| !is_skipped(word))?.name()
}

/// The place of a definer among the first words of a MySQL family's view, trigger or routine.
pub(super) fn definer(words: &[Word<'_>]) -> Option<std::ops::Range<usize>> {
    const NEAR: usize = 24;
    if !words.first()?.is("CREATE") {
        return None;
    }
    let near = &words[..words.len().min(NEAR)];
    let at = near
        .windows(2)
        .position(|pair| pair[0].is("DEFINER") && pair[1].is("="))?;
    let user = near.get(at + 2)?;
    if user.is("CURRENT_USER") {
        return None;
    }
    let host = near
        .get(at + 3)
        .filter(|mark| mark.is("@"))
        .and_then(|_| near.get(at + 4))
        .filter(|host| !matches!(host.what, What::Mark(_)));
    Some(near[at].at..host.unwrap_or(user).end)
}
