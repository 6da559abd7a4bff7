//! From the URL to a driver.

use std::env::VarError;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::Stop;
use super::args::Connection;
use crate::file;
use crate::target::Target;

/// The permissions of everybody but the owner.
const OTHERS: u32 = 0o077;

/// A password is a line; this is a file of another kind.
const LARGEST_BYTES: u64 = 64 << 10;

/// Does something with the driver of a target, in a function that returns `Result<(), Stop>`: code is made for
/// each type of driver, so that the hot loop calls it directly. Only what `creates` makes an SQLite file that is
/// not there.
macro_rules! with_driver {
    ($target:expr, creates: $creates:expr, $driver:ident => $does:expr) => {
        match $target {
            $crate::target::Target::Mysql(server) => {
                let $driver = $crate::driver::mysql::MysqlDriver::new(server)?;
                $does
            }
            $crate::target::Target::Postgres(server) => {
                let $driver = $crate::driver::postgres::PostgresDriver::new(server)?;
                $does
            }
            $crate::target::Target::Sqlite(file) => {
                let driver = $crate::driver::sqlite::SqliteDriver::new(file)?;
                let $driver = if $creates { driver.creating() } else { driver };
                $does
            }
            $crate::target::Target::Null(null) => {
                let $driver = $crate::driver::null::NullDriver(null.dialect);
                $does
            }
        }
    };
}
pub(super) use with_driver;

/// Reads the URL and the password.
pub(super) fn target(connection: &Connection) -> Result<Target, Stop> {
    let target = Target::parse(&connection.url, password(connection)?)?;
    Ok(target.with_statement_limit(connection.statement_limit))
}

fn password(connection: &Connection) -> Result<Option<String>, Stop> {
    let Some(path) = &connection.password_file else {
        return match std::env::var("DISKPROOF_PASSWORD") {
            Ok(password) => Ok(Some(password)),
            Err(VarError::NotPresent) => Ok(None),
            Err(VarError::NotUnicode(_)) => Err(Stop::Arguments(
                "DISKPROOF_PASSWORD is not UTF-8 text, and passwords are sent as such".into(),
            )),
        };
    };
    let password = first_line(path).map_err(|reason| {
        Stop::Arguments(format!("--password-file {}: {reason}", path.display()))
    })?;
    Ok(Some(password))
}

/// The password of a file that is its owner's alone.
fn first_line(path: &Path) -> Result<String, String> {
    let file = file::open(path)?;
    let mode = file.metadata().map_err(|error| error.to_string())?.mode();
    if mode & OTHERS != 0 {
        return Err(format!(
            "other users may use it (mode {:04o}); run `chmod 600` on it",
            mode & 0o7777
        ));
    }
    let bytes = file::bytes(file, LARGEST_BYTES)?;
    let text = std::str::from_utf8(file::without_mark(&bytes))
        .map_err(|_| "it is not UTF-8 text".to_owned())?;
    let password = text.lines().next().unwrap_or_default();
    if password.contains('\0') {
        return Err("its first line holds NUL, which no password has; write it as text".into());
    }
    Ok(password.to_owned())
}
