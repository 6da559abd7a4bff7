//! Tables with our prefix: found before a run, which refuses them, and dropped after it.

use super::schema::PREFIX;
use crate::driver::{Admin, Dialect, Fault};

/// Tables named at a time, of perhaps ten thousand.
const NAMES_AT_ONCE: usize = 1000;
/// Tables dropped by one statement: `PostgreSQL` holds a lock on each until its end, and has room
/// for 64 to a connection by default.
const DROPPED_AT_ONCE: usize = 50;

/// Some of the tables with our prefix; none only where there are none.
pub fn find(admin: &mut dyn Admin, dialect: Dialect) -> Result<Vec<String>, Fault> {
    let ours = |column| format!("SUBSTR({column},1,{})='{PREFIX}'", PREFIX.len());
    let sql = match dialect {
        Dialect::Mysql => {
            admin.execute("SET SESSION group_concat_max_len=1000000")?;
            format!(
                "SELECT GROUP_CONCAT(name) FROM (SELECT table_name AS name FROM information_schema.tables \
                 WHERE table_schema=DATABASE() AND {} LIMIT {NAMES_AT_ONCE}) AS found",
                ours("table_name")
            )
        }
        Dialect::Postgres => format!(
            "SELECT string_agg(relname,',') FROM (SELECT relname FROM pg_class \
             WHERE relkind='r' AND pg_table_is_visible(oid) AND {} LIMIT {NAMES_AT_ONCE}) AS found",
            ours("relname::text")
        ),
        Dialect::Sqlite => format!(
            "SELECT group_concat(name) FROM (SELECT name FROM sqlite_master \
             WHERE type='table' AND {} LIMIT {NAMES_AT_ONCE})",
            ours("name")
        ),
    };
    let names = admin.query_value(&sql)?.unwrap_or_default();
    Ok(names
        .split(',')
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect())
}

/// Drops every table with our prefix; returns how many there were.
pub fn drop_all(admin: &mut dyn Admin, dialect: Dialect) -> Result<usize, Fault> {
    let at_once = match dialect {
        Dialect::Mysql | Dialect::Postgres => DROPPED_AT_ONCE,
        Dialect::Sqlite => 1,
    };
    let mut dropped = 0;
    loop {
        let names = find(admin, dialect)?;
        if names.is_empty() {
            return Ok(dropped);
        }
        for some in names.chunks(at_once) {
            admin.execute(&format!("DROP TABLE {}", some.join(",")))?;
        }
        dropped += names.len();
    }
}
