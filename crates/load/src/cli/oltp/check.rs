//! Finds out before the clients connect whether the tables are those that the run asks for.

use super::which_tables;
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
    let mut too_small = TooSmall::default();
    for number in 1..=options.tables {
        let name = options.schema.table_name(number);
        let found = look(&mut *admin, driver.dialect(), &name, options)?;
        compare(&name, found, options)?;
        too_small.look(&mut *admin, name, options.rows)?;
        if let Some(it_is) = found.transactional {
            transactional = Some(transactional.unwrap_or(true) && it_is);
        }
    }
    too_small.warn(options.rows);
    Ok(transactional)
}

fn look(
    admin: &mut dyn Admin,
    dialect: Dialect,
    name: &str,
    options: &OltpOptions,
) -> Result<Found, Failure> {
    let looking = |fault| Failure::from_fault("looking at the tables", &fault);
    if tables::exists(admin, dialect, name).map_err(looking)? {
        return inspect(admin, dialect, name).map_err(looking);
    }
    let other = options.schema.other();
    let is_other = tables::exists(admin, dialect, &other.table_name(1)).map_err(looking)?;
    let remedy = if is_other {
        format!(
            "but {} does: were the tables prepared with --schema {}?",
            other.table_name(1),
            other.name()
        )
    } else {
        format!(
            "`diskproof-load prepare oltp {}` makes it",
            as_given(options)
        )
    };
    Err(Failure::new(
        "tables",
        format!("table {name} does not exist, {remedy}"),
    ))
}

/// The options by which `prepare` makes the tables that the run asks for.
fn as_given(options: &OltpOptions) -> String {
    let tables = which_tables(options.schema, options.tables);
    let rows = options.rows;
    if options.mix.is_legacy() && options.schema == Schema::Numbered {
        return format!("{tables} --rows {rows} --mix {}", options.mix.name());
    }
    format!("{tables} --rows {rows}")
}

fn compare(name: &str, found: Found, options: &OltpOptions) -> Result<(), Failure> {
    if !found.indexed {
        let message = format!(
            "table {name} has no index on column k (was its preparation cut short?); \
             make the tables anew with `diskproof-load cleanup oltp {}` and `prepare oltp {}`",
            which_tables(options.schema, options.tables),
            as_given(options)
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

/// Tables that end before the highest id which statements ask for.
#[derive(Default)]
struct TooSmall {
    /// The first of them, and where it ends.
    first: Option<(String, u64)>,
    count: usize,
}

impl TooSmall {
    fn look(&mut self, admin: &mut dyn Admin, name: String, rows: u64) -> Result<(), Failure> {
        let highest = highest_id(admin, &name)
            .map_err(|fault| Failure::from_fault(&format!("reading table {name}"), &fault))?
            .unwrap_or(0);
        if highest < rows {
            self.count += 1;
            self.first.get_or_insert((name, highest));
        }
        Ok(())
    }

    /// Says it once, however many tables there are.
    fn warn(&self, rows: u64) {
        let Some((name, highest)) = &self.first else {
            return;
        };
        let others = match self.count - 1 {
            0 => String::new(),
            1 => " (and another table is too small)".to_owned(),
            count => format!(" (and {count} other tables are too small)"),
        };
        tell!(
            "warning: {name} ends at id {highest}{others}, so statements for ids up to --rows {rows} \
             find nothing there"
        );
    }
}
