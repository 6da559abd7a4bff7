//! The tables that the tests make, by their names: a run refuses those that are there before it,
//! and drops its own. Other tables with our prefix are the user's.

use super::atis;
use super::schema::PREFIX;
use crate::driver::{Admin, Dialect, Fault};

/// The names of the tests' tables after the prefix, without those of ATIS.
const NAMES: [&str; 10] = [
    "bench",
    "bench1",
    "bench2",
    "bench3",
    "bench4",
    "many_keys",
    "onek",
    "tenk1",
    "tenk2",
    "bprime",
];
/// Those that have a number behind them: of `create`'s many tables, and of its clients.
const NUMBERED: [&str; 2] = ["many_", "bench_"];
/// Tables named at a time, of perhaps ten thousand.
const NAMES_AT_ONCE: usize = 1000;
/// Tables dropped by one statement: `PostgreSQL` holds a lock on each until its end, and has room
/// for 64 to a connection by default.
const DROPPED_AT_ONCE: usize = 50;

/// Some of the tables with names that the tests use; none only if there are none.
pub fn find(admin: &mut dyn Admin, dialect: Dialect) -> Result<Vec<String>, Fault> {
    let sql = match dialect {
        Dialect::Mysql => {
            admin.execute("SET SESSION group_concat_max_len=1000000")?;
            format!(
                "SELECT GROUP_CONCAT(name) FROM (SELECT table_name AS name FROM information_schema.tables \
                 WHERE table_schema=DATABASE() AND table_name REGEXP '{}' LIMIT {NAMES_AT_ONCE}) AS found",
                pattern()
            )
        }
        Dialect::Postgres => format!(
            "SELECT string_agg(relname,',') FROM (SELECT relname FROM pg_class \
             WHERE relkind='r' AND pg_table_is_visible(oid) AND relname ~ '{}' LIMIT {NAMES_AT_ONCE}) AS found",
            pattern()
        ),
        Dialect::Sqlite => format!(
            "SELECT group_concat(name) FROM (SELECT name FROM sqlite_master \
             WHERE type='table' AND ({}) LIMIT {NAMES_AT_ONCE})",
            condition_without_patterns()
        ),
    };
    let names = admin.query_value(&sql)?.unwrap_or_default();
    Ok(names
        .split(',')
        .filter(|name| is_ours(name))
        .map(str::to_owned)
        .collect())
}

/// Whether a test would give a table this name.
pub(super) fn is_ours(name: &str) -> bool {
    let Some(name) = name.strip_prefix(PREFIX) else {
        return false;
    };
    let is_number = |digits: &str| digits.parse::<u64>().is_ok_and(|n| n.to_string() == digits);
    let mut numbers = NUMBERED.iter().filter_map(|stem| name.strip_prefix(stem));
    names().any(|known| known == name) || numbers.any(is_number)
}

fn names() -> impl Iterator<Item = &'static str> {
    NAMES.into_iter().chain(atis::table_names())
}

/// As a regular expression, which may take in more than is ours: servers compare letters without
/// their case.
fn pattern() -> String {
    let names: Vec<_> = names().map(str::to_owned).collect();
    let numbered = NUMBERED.map(|stem| format!("{stem}(0|[1-9][0-9]*)"));
    format!("^{PREFIX}({}|{})$", names.join("|"), numbered.join("|"))
}

/// The same without regular expressions.
fn condition_without_patterns() -> String {
    let names: Vec<_> = names().map(|name| format!("'{PREFIX}{name}'")).collect();
    let numbered = NUMBERED.map(|stem| {
        let name = format!("{PREFIX}{stem}");
        format!("name='{name}0' OR (name GLOB '{name}[1-9]*' AND name NOT GLOB '{name}*[^0-9]*')")
    });
    format!("name IN ({}) OR {}", names.join(","), numbered.join(" OR "))
}

/// Drops every table that is named as the tests name theirs; returns the names.
pub fn drop_all(admin: &mut dyn Admin, dialect: Dialect) -> Result<Vec<String>, Fault> {
    let at_once = match dialect {
        Dialect::Mysql | Dialect::Postgres => DROPPED_AT_ONCE,
        Dialect::Sqlite => 1,
    };
    let mut dropped = Vec::new();
    loop {
        let names = find(admin, dialect)?;
        if names.is_empty() {
            return Ok(dropped);
        }
        for some in names.chunks(at_once) {
            admin.execute(&format!("DROP TABLE {}", some.join(",")))?;
        }
        dropped.extend(names);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_users_table_with_our_prefix_is_not_ours() {
        for name in [
            "bench1",
            "many_0",
            "many_9999",
            "bench_7",
            "flight_fare",
            "onek",
        ] {
            assert!(is_ours(&format!("{PREFIX}{name}")), "{name}");
        }
        for name in [
            "results",
            "bench5",
            "many_",
            "many_07",
            "many_x",
            "bench_1_old",
            "Bench1",
        ] {
            assert!(!is_ours(&format!("{PREFIX}{name}")), "{name}");
        }
        assert!(!is_ours("bench1"));
    }
}
