//! From the URL to a driver.

use std::fs;

use super::Stop;
use super::args::Connection;
use crate::driver::Driver;
use crate::driver::mysql::MysqlDriver;
use crate::driver::null::NullDriver;
use crate::driver::postgres::PostgresDriver;
use crate::driver::sqlite::SqliteDriver;
use crate::target::Target;

/// Work to do with a driver of any type: code is generated for each type, so that the hot loop
/// calls it directly.
pub(super) trait Task {
    fn perform<D: Driver + Send + 'static>(self, driver: D) -> Result<(), Stop>;

    /// Whether an SQLite file may be created if there is none.
    const MAY_CREATE: bool = false;
}

/// Reads the URL and the password.
pub(super) fn target(connection: &Connection) -> Result<Target, Stop> {
    Ok(Target::parse(&connection.url, password(connection)?)?)
}

/// Performs a task with the target's driver.
pub(super) fn with_driver<T: Task>(target: Target, task: T) -> Result<(), Stop> {
    match target {
        Target::Mysql(server) => task.perform(MysqlDriver::new(server)?),
        Target::Postgres(server) => task.perform(PostgresDriver::new(server)?),
        Target::Sqlite(file) => {
            let driver = SqliteDriver::new(file)?;
            task.perform(if T::MAY_CREATE {
                driver.creating()
            } else {
                driver
            })
        }
        Target::Null => task.perform(NullDriver),
    }
}

fn password(connection: &Connection) -> Result<Option<String>, Stop> {
    let Some(path) = &connection.password_file else {
        return Ok(std::env::var("DISKPROOF_PASSWORD").ok());
    };
    let text = fs::read_to_string(path)
        .map_err(|error| Stop::Arguments(format!("--password-file {}: {error}", path.display())))?;
    Ok(Some(text.lines().next().unwrap_or_default().to_owned()))
}
