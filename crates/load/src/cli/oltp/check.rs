//! Finds out before the clients connect whether the tables are those that the run asks for.

use super::which_tables;
use crate::cli::tables::{Found, Owned, unfit};
use crate::driver::{Dialect, Driver};
use crate::engine::Failure;
use crate::workload::oltp::{OltpOptions, Schema};

const INDEXED_COLUMN: &str = "k";

/// Checks every table; returns whether all of them know transactions (`None`: that makes no
/// difference here).
pub(super) fn check_tables<D: Driver>(
    driver: &D,
    options: &OltpOptions,
) -> Result<Option<bool>, Failure> {
    let owned = Owned {
        workload: "oltp",
        which: which_tables(options.schema, options.tables),
        made_by: made_by(options),
    };
    let mut found = owned.open(driver)?;
    refuse_other_schema(&mut found, options.schema)?;
    let mut transactional = None;
    let mut too_small = TooSmall::default();
    for number in 1..=options.tables {
        let name = options.schema.table_name(number);
        found.require(&name)?;
        found.require_index(&name, INDEXED_COLUMN)?;
        warn_of_signed_numbers(&mut found, &name, options)?;
        if let Some(it_is) = found.is_transactional(&name)? {
            transactional = Some(transactional.unwrap_or(true) && it_is);
        }
        too_small.look(&mut found, name, options.rows)?;
    }
    too_small.warn(options.rows);
    Ok(transactional)
}

/// The options by which `prepare` makes the tables that the run asks for.
fn made_by(options: &OltpOptions) -> String {
    let tables = which_tables(options.schema, options.tables);
    let rows = options.rows;
    if options.mix.is_legacy() && options.schema == Schema::Numbered {
        return format!("{tables} --rows {rows} --mix {}", options.mix.name());
    }
    format!("{tables} --rows {rows}")
}

fn refuse_other_schema(found: &mut Found, schema: Schema) -> Result<(), Failure> {
    let (first, others) = (schema.table_name(1), schema.other().table_name(1));
    if found.exists(&first)? || !found.exists(&others)? {
        return Ok(());
    }
    Err(unfit(format!(
        "table {first} does not exist, but {others} does; if the tables were prepared with --schema {0}, run \
         with --schema {0}",
        schema.other().name()
    )))
}

/// sysbench's older mixes were defined on unsigned numbers (MySQL family only).
fn warn_of_signed_numbers(
    found: &mut Found,
    name: &str,
    options: &OltpOptions,
) -> Result<(), Failure> {
    if !options.mix.is_legacy() || found.dialect() != Dialect::Mysql {
        return Ok(());
    }
    let column_type = found.value(&format!(
        "SELECT column_type FROM information_schema.columns \
         WHERE table_schema = DATABASE() AND table_name = '{name}' AND column_name = 'id'"
    ))?;
    if column_type.is_some_and(|text| !text.to_ascii_lowercase().contains("unsigned")) {
        tell!(
            "warning: the numbers of {name} are signed, but --mix {0} was defined on unsigned ones; \
             prepare the tables with --mix {0}",
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
    fn look(&mut self, found: &mut Found, name: String, rows: u64) -> Result<(), Failure> {
        let highest = found.number(&format!("SELECT MAX(id) FROM {name}"))?;
        let highest = highest.unwrap_or(0);
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
