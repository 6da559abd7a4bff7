//! Running one statement: the same for sessions and administration.

use std::io::Write;

use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::types::ValueRef;
use rusqlite::{Batch, Connection, Row, Statement};

use crate::driver::rows::Rows;
use crate::driver::{Arg, Args, Fault, Reply};

/// Parses the only statement of a text. `Connection::prepare` would parse a million of them, one inside
/// of the other, before it refuses them.
pub(super) fn parse<'c>(connection: &'c Connection, sql: &str) -> rusqlite::Result<Statement<'c>> {
    let mut all = Batch::new(connection, sql);
    match (all.next()?, all.next()?) {
        (Some(only), None) => Ok(only),
        (None, _) => connection.prepare(""),
        _ => Err(rusqlite::Error::MultipleStatement),
    }
}

/// Binds the arguments and steps through all rows; keeps their values if there is a place for them.
pub(super) fn run(
    connection: &Connection,
    statement: &mut Statement<'_>,
    args: &Args,
    kept: Option<&mut Rows>,
) -> Result<Reply, Fault> {
    let changes_before = connection.total_changes();
    let rows = bind_and_step(statement, args, kept)?;
    // `changes` keeps the count of the last statement that changed something.
    let affected = if connection.total_changes() == changes_before {
        0
    } else {
        connection.changes()
    };
    Ok(Reply { rows, affected })
}

fn bind_and_step(
    statement: &mut Statement<'_>,
    args: &Args,
    mut kept: Option<&mut Rows>,
) -> rusqlite::Result<u64> {
    check_count(args, statement.parameter_count())?;
    for (index, value) in args.values().iter().enumerate() {
        match value {
            Arg::Int(value) => statement.raw_bind_parameter(index + 1, value)?,
            Arg::Double(value) => statement.raw_bind_parameter(index + 1, value)?,
            Arg::Null => statement.raw_bind_parameter(index + 1, rusqlite::types::Null)?,
            Arg::Text(range) => {
                let text = std::str::from_utf8(args.text(range))
                    .map_err(|error| rusqlite::Error::Utf8Error(index, error))?;
                statement.raw_bind_parameter(index + 1, text)?;
            }
        }
    }
    let columns = statement.column_count();
    if let Some(kept) = &mut kept {
        kept.begin(columns);
    }
    let mut rows = statement.raw_query();
    let mut count = 0;
    while let Some(row) = rows.next()? {
        if let Some(kept) = &mut kept {
            keep(row, columns, kept)?;
        }
        count += 1;
    }
    Ok(count)
}

fn keep(row: &Row<'_>, columns: usize, kept: &mut Rows) -> rusqlite::Result<()> {
    for column in 0..columns {
        // Writing into a vector does not fail.
        match row.get_ref(column)? {
            ValueRef::Null => kept.push_null(),
            ValueRef::Integer(value) => kept.write(|text| drop(write!(text, "{value}"))),
            ValueRef::Real(value) => kept.write(|text| drop(write!(text, "{value}"))),
            ValueRef::Text(value) | ValueRef::Blob(value) => kept.push(value),
        }
    }
    Ok(())
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
