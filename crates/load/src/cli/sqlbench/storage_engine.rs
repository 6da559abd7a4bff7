//! Which storage engine the tables get, and whether it has transactions.

use crate::cli::Stop;
use crate::driver::{Admin, Dialect};
use crate::engine::Failure;
use crate::workload::sqlbench::Engine;

/// Asks the server; `None` if the family has no storage engines.
pub(super) fn find(
    admin: &mut dyn Admin,
    dialect: Dialect,
    asked: Option<&str>,
) -> Result<Option<Engine>, Stop> {
    if dialect != Dialect::Mysql {
        return match asked {
            None => Ok(None),
            Some(_) => Err(Stop::Arguments(
                "--engine: only the MySQL family has a choice of storage engines; leave it out"
                    .into(),
            )),
        };
    }
    // The name has been checked to be a word.
    let which = asked.map_or("support='DEFAULT'".to_owned(), |name| {
        format!("engine='{name}' AND support IN ('YES','DEFAULT')")
    });
    let mut ask = |column: &str, which: &str| {
        let sql = format!("SELECT {column} FROM information_schema.engines WHERE {which}");
        let asked = admin.query_value(&sql);
        asked.map_err(|fault| Failure::from_fault("asking for storage engines", &fault))
    };
    let Some(name) = ask("engine", &which)? else {
        let known = ask("GROUP_CONCAT(engine)", "support IN ('YES','DEFAULT')")?;
        return Err(Stop::Arguments(format!(
            "--engine {}: this server has no such storage engine; it has {}",
            asked.unwrap_or("(its default)"),
            known.unwrap_or_default().replace(',', ", ")
        )));
    };
    let transactional = ask("transactions", &which)?.as_deref() == Some("YES");
    Ok(Some(Engine {
        name,
        transactional,
    }))
}
