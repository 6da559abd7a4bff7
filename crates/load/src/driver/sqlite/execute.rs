//! Running one statement: the same for sessions and administration.

use rusqlite::{Connection, Statement};

use super::error;
use crate::driver::{Arg, Args, Fault, Reply};

/// Binds the arguments and steps through all rows, without reading their values.
pub(super) fn run(
    connection: &Connection,
    statement: &mut Statement<'_>,
    args: &Args,
) -> Result<Reply, Fault> {
    let changes_before = connection.total_changes();
    let rows = bind_and_step(statement, args).map_err(error::fault)?;
    // `changes` keeps the count of the last statement that changed something.
    let affected = if connection.total_changes() == changes_before {
        0
    } else {
        connection.changes()
    };
    Ok(Reply { rows, affected })
}

fn bind_and_step(statement: &mut Statement<'_>, args: &Args) -> rusqlite::Result<u64> {
    check_count(args, statement.parameter_count())?;
    for (index, value) in args.values().iter().enumerate() {
        match value {
            Arg::Int(value) => statement.raw_bind_parameter(index + 1, value)?,
            Arg::Double(value) => statement.raw_bind_parameter(index + 1, value)?,
            Arg::Text(range) => {
                let text = std::str::from_utf8(args.text(range))
                    .map_err(|error| rusqlite::Error::Utf8Error(index, error))?;
                statement.raw_bind_parameter(index + 1, text)?;
            }
        }
    }
    let mut rows = statement.raw_query();
    let mut count = 0;
    while rows.next()?.is_some() {
        count += 1;
    }
    Ok(count)
}

/// Arguments without a parameter, or parameters without an argument (they would be NULL), are a
/// mistake of the workload.
pub(super) fn check_count(args: &Args, expected: usize) -> rusqlite::Result<()> {
    let given = args.values().len();
    if given == expected {
        return Ok(());
    }
    Err(rusqlite::Error::InvalidParameterCount(given, expected))
}
