//! Finds out before the clients connect whether the tables are those that the run asks for.

use super::args::LedgerArgs;
use crate::cli::tables::{Found, Owned};
use crate::driver::Driver;
use crate::engine::Failure;
use crate::workload::ledger::tables::{ACCOUNTS, ENTRIES, INDEXED_COLUMN, NAMES, columns};

/// Checks both tables; `untouched`: no transfer may have been made yet.
pub(super) fn check_tables<D: Driver>(
    driver: &D,
    args: &LedgerArgs,
    untouched: bool,
) -> Result<(), Failure> {
    let LedgerArgs {
        accounts,
        filler_bytes,
        ..
    } = args;
    let owned = owned(format!(
        "--accounts {accounts} --filler-bytes {filler_bytes}"
    ));
    let mut found = owned.open(driver)?;
    for name in NAMES {
        found.require(name)?;
        found.require_columns(name, columns(name))?;
        if found.is_transactional(name)? == Some(false) {
            return Err(found.remake(&format!(
                "table {name} has a storage engine without transactions"
            )));
        }
    }
    check_accounts(&mut found, args)?;
    check_entries(&mut found, untouched)
}

/// Refuses to drop tables that bear our names and are not ours: a database may well have a ledger of its own.
pub(super) fn refuse_foreign<D: Driver>(driver: &D) -> Result<(), Failure> {
    let mut found = owned(String::new()).open(driver)?;
    for name in NAMES {
        if found.exists(name)? {
            found.require_columns(name, columns(name))?;
        }
    }
    Ok(())
}

fn owned(made_by: String) -> Owned {
    Owned {
        workload: "ledger",
        which: String::new(),
        made_by,
    }
}

/// The range of ids and the length of one filler show what `prepare` was asked for, without a scan.
fn check_accounts(found: &mut Found, args: &LedgerArgs) -> Result<(), Failure> {
    let first = found.number(&format!("SELECT MIN(id) FROM {ACCOUNTS}"))?;
    let last = found.number(&format!("SELECT MAX(id) FROM {ACCOUNTS}"))?;
    let (first, last) = (first.unwrap_or(0), last.unwrap_or(0));
    if (first, last) != (1, args.accounts) {
        return Err(found.remake(&format!(
            "table {ACCOUNTS} has ids from {first} to {last}, but the run has --accounts {}",
            args.accounts
        )));
    }
    let filler = format!("SELECT LENGTH(filler) FROM {ACCOUNTS} WHERE id=1");
    let filler_bytes = found.number(&filler)?.unwrap_or(0);
    if filler_bytes != u64::from(args.filler_bytes) {
        return Err(found.remake(&format!(
            "table {ACCOUNTS} has fillers of {filler_bytes} bytes, but the run has --filler-bytes {}",
            args.filler_bytes
        )));
    }
    Ok(())
}

fn check_entries(found: &mut Found, untouched: bool) -> Result<(), Failure> {
    found.require_index(ENTRIES, INDEXED_COLUMN)?;
    let any = format!("SELECT 1 FROM {ENTRIES} LIMIT 1");
    if untouched && found.value(&any)?.is_some() {
        return Err(found.remake(&format!(
            "table {ENTRIES} holds entries of an earlier run, and this run's --acknowledgements would repeat \
             their numbers"
        )));
    }
    Ok(())
}
