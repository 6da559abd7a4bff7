//! From the URL to a driver.

use std::env::VarError;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::Stop;
use super::args::Connection;
use crate::driver::Driver;
use crate::driver::mysql::MysqlDriver;
use crate::driver::null::NullDriver;
use crate::driver::postgres::PostgresDriver;
use crate::driver::sqlite::SqliteDriver;
use crate::file;
use crate::target::Target;

/// The permissions of everybody but the owner.
const OTHERS: u32 = 0o077;

/// A password is a line; this is a file of another kind.
const LARGEST_BYTES: u64 = 64 << 10;

/// Work to do with a driver of any type: code is generated for each type, so that the hot loop
/// calls it directly.
pub(super) trait Task {
    fn perform<D: Driver + Send + 'static>(self, driver: D) -> Result<(), Stop>;

    /// Whether an SQLite file may be created if there is none.
    fn may_create(&self) -> bool {
        false
    }
}

/// Reads the URL and the password.
pub(super) fn target(connection: &Connection) -> Result<Target, Stop> {
    let target = Target::parse(&connection.url, password(connection)?)?;
    Ok(target.with_statement_limit(connection.statement_limit))
}

/// Performs a task with the target's driver.
pub(super) fn with_driver(target: Target, task: impl Task) -> Result<(), Stop> {
    match target {
        Target::Mysql(server) => task.perform(MysqlDriver::new(server)?),
        Target::Postgres(server) => task.perform(PostgresDriver::new(server)?),
        Target::Sqlite(file) => {
            let driver = SqliteDriver::new(file)?;
            if task.may_create() {
                task.perform(driver.creating())
            } else {
                task.perform(driver)
            }
        }
        Target::Null(null) => task.perform(NullDriver(null.dialect)),
    }
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
