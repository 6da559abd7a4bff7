//! Finds out before the clients connect whether the tables are those that the run asks for.

use crate::driver::{Admin, Dialect, Driver};
use crate::engine::Failure;
use crate::workload::oltp::tables::{Found, highest_id, inspect};
use crate::workload::oltp::{OltpOptions, Schema};
use crate::workload::tables;

/// Checks every table; tells whether all of them know transactions (`None`: that makes no
/// difference here).
pub(super) fn check_tables<D: Driver>(
    driver: &D,
    options: &OltpOptions,
) -> Result<Option<bool>, Failure> {
    let connecting = |fault| Failure::from_fault("connecting", &fault);
    let mut admin = driver.admin().map_err(connecting)?;
    let mut transactional = None;
    for number in 1..=options.tables {
        let name = options.schema.table_name(number);
        let found = look(&mut *admin, driver.dialect(), &name, options.schema)?;
        compare(&name, found, options)?;
        warn_of_missing_rows(&mut *admin, &name, options.rows)?;
        if let Some(it_is) = found.transactional {
            transactional = Some(transactional.unwrap_or(true) && it_is);
        }
    }
    Ok(transactional)
}

fn look(
    admin: &mut dyn Admin,
    dialect: Dialect,
    name: &str,
    schema: Schema,
) -> Result<Found, Failure> {
    let looking = |fault| Failure::from_fault("looking at the tables", &fault);
    if tables::exists(admin, dialect, name).map_err(looking)? {
        return inspect(admin, dialect, name).map_err(looking);
    }
    let other = schema.other();
    let is_other = tables::exists(admin, dialect, &other.table_name(1)).map_err(looking)?;
    let remedy = if is_other {
        format!(
            "but {} does: were the tables prepared with --schema {}?",
            other.table_name(1),
            other.name()
        )
    } else {
        format!(
            "`diskproof-load prepare oltp --schema {}` makes it",
            schema.name()
        )
    };
    Err(Failure::new(
        "tables",
        format!("table {name} does not exist, {remedy}"),
    ))
}

fn compare(name: &str, found: Found, options: &OltpOptions) -> Result<(), Failure> {
    if !found.indexed {
        let message = format!(
            "table {name} has no index on column k (was its preparation cut short?); \
             make the tables anew with `diskproof-load cleanup oltp` and `prepare oltp`"
        );
        return Err(Failure::new("tables", message));
    }
    if options.mix.is_legacy() && found.unsigned == Some(false) {
        tell!(
            "warning: the numbers of {name} are signed, and {} was defined on unsigned ones; \
             prepare with --mix {0} to have them",
            options.mix.name()
        );
    }
    Ok(())
}

fn warn_of_missing_rows(admin: &mut dyn Admin, name: &str, rows: u64) -> Result<(), Failure> {
    let highest = highest_id(admin, name)
        .map_err(|fault| Failure::from_fault(&format!("reading table {name}"), &fault))?
        .unwrap_or(0);
    if highest < rows {
        tell!(
            "warning: {name} ends at id {highest}, so statements for ids up to --rows {rows} find nothing there"
        );
    }
    Ok(())
}
