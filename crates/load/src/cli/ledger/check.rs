//! Finds out before the clients connect whether the tables are those that the run asks for.

use super::args::LedgerArgs;
use super::unfit;
use crate::driver::{Admin, Dialect, Driver, Fault};
use crate::engine::Failure;
use crate::workload::ledger::tables::{ACCOUNTS, ENTRIES, INDEXED_COLUMN, NAMES, columns};
use crate::workload::tables::{exists, has_index_on, is_transactional};

/// Checks both tables; `untouched`: no transfer may have been made yet.
pub(super) fn check_tables<D: Driver>(
    driver: &D,
    args: &LedgerArgs,
    untouched: bool,
) -> Result<(), Failure> {
    let dialect = driver.dialect();
    let mut admin = driver
        .admin()
        .map_err(|fault| Failure::from_fault("connecting", &fault))?;
    let admin = &mut *admin;
    for name in NAMES {
        if !exists(admin, dialect, name).map_err(|fault| looking(&fault))? {
            return Err(unfit(format!(
                "table {name} does not exist; `diskproof-load prepare ledger {}` makes it",
                as_given(args)
            )));
        }
        check_columns(admin, name)?;
        if is_transactional(admin, dialect, name).map_err(|fault| looking(&fault))? == Some(false) {
            return Err(remake(
                args,
                &format!("table {name} has a storage engine without transactions"),
            ));
        }
    }
    check_accounts(admin, args)?;
    check_entries(admin, dialect, args, untouched)
}

/// Refuses to drop tables that bear our names and are not ours.
pub(super) fn refuse_foreign<D: Driver>(driver: &D) -> Result<(), Failure> {
    let mut admin = driver
        .admin()
        .map_err(|fault| Failure::from_fault("connecting", &fault))?;
    for name in NAMES {
        if exists(&mut *admin, driver.dialect(), name).map_err(|fault| looking(&fault))? {
            check_columns(&mut *admin, name)?;
        }
    }
    Ok(())
}

/// A database may well have a ledger of its own.
fn check_columns(admin: &mut dyn Admin, name: &str) -> Result<(), Failure> {
    let columns = columns(name).join(", ");
    match admin.query_value(&format!("SELECT {columns} FROM {name} LIMIT 1")) {
        Ok(_) => Ok(()),
        Err(Fault::Server(error)) => Err(unfit(format!(
            "table {name} has not the columns {columns}: it is none of this workload's, and is left alone \
             ({error}); choose another database"
        ))),
        Err(fault) => Err(looking(&fault)),
    }
}

/// The ids' limits and the length of a filler, which no one has to look for, tell whether accounts and fillers are as asked for.
fn check_accounts(admin: &mut dyn Admin, args: &LedgerArgs) -> Result<(), Failure> {
    let mut value = |what: &str, of: &str| {
        let sql = format!("SELECT {what} FROM {ACCOUNTS}{of}");
        let text = admin.query_value(&sql).map_err(|fault| looking(&fault))?;
        let number = text.and_then(|number| number.parse::<u64>().ok());
        Ok::<_, Failure>(number.unwrap_or(0))
    };
    let (first, last) = (value("MIN(id)", "")?, value("MAX(id)", "")?);
    if (first, last) != (1, args.accounts) {
        return Err(remake(
            args,
            &format!(
                "table {ACCOUNTS} has ids from {first} to {last}, where --accounts {} is asked for",
                args.accounts
            ),
        ));
    }
    let filler_bytes = value("LENGTH(filler)", " WHERE id=1")?;
    if filler_bytes != u64::from(args.filler_bytes) {
        return Err(remake(
            args,
            &format!(
                "table {ACCOUNTS} has fillers of {filler_bytes} bytes, where --filler-bytes {} is asked for",
                args.filler_bytes
            ),
        ));
    }
    Ok(())
}

fn check_entries(
    admin: &mut dyn Admin,
    dialect: Dialect,
    args: &LedgerArgs,
    untouched: bool,
) -> Result<(), Failure> {
    if !has_index_on(admin, dialect, ENTRIES, INDEXED_COLUMN).map_err(|fault| looking(&fault))? {
        return Err(remake(
            args,
            &format!("table {ENTRIES} has no index on column {INDEXED_COLUMN}"),
        ));
    }
    let sql = format!("SELECT 1 FROM {ENTRIES} LIMIT 1");
    if untouched
        && admin
            .query_value(&sql)
            .map_err(|fault| looking(&fault))?
            .is_some()
    {
        return Err(remake(
            args,
            &format!(
                "table {ENTRIES} holds entries of an earlier run, whose numbers those of --acknowledgements would repeat"
            ),
        ));
    }
    Ok(())
}

fn looking(fault: &Fault) -> Failure {
    Failure::from_fault("looking at the tables", fault)
}

fn remake(args: &LedgerArgs, what: &str) -> Failure {
    unfit(format!(
        "{what}; make the tables anew with `diskproof-load cleanup ledger` and `prepare ledger {}`",
        as_given(args)
    ))
}

/// The options by which `prepare` makes the tables that the run asks for.
fn as_given(args: &LedgerArgs) -> String {
    let LedgerArgs {
        accounts,
        filler_bytes,
        ..
    } = args;
    format!("--accounts {accounts} --filler-bytes {filler_bytes}")
}
