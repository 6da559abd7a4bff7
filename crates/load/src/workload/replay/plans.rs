//! How the server would run what a replay read: access types, keys and kinds of nodes, without values and estimates.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::driver::{Dialect, Driver, Fault};
use crate::workload::StatementType;
use crate::workload::sql::Words;

/// No question begins later: a client of the load may still hold a lock.
const LIMIT: Duration = Duration::from_secs(10);
/// A plan that is longer ends here: one of a thousand partitions has as many nodes.
const MOST_CHARS: usize = 2000;
/// Longer statements are not explained.
pub(super) const LONGEST_BYTES: usize = 64 << 10;

/// What is told of a node, of PostgreSQL and of the MySQL family.
const TOLD: &str = "Node Type,Strategy,Join Type,Index Name,Relation Name,table_name,access_type,key,index_name,\
    using_filesort,filesort,using_temporary_table,temporary_table,message";

/// The plans of statements by the names of their types. Those that the server refuses to explain have none.
pub(super) fn explained(
    driver: &impl Driver,
    mut examples: BTreeMap<usize, (u64, Vec<u8>)>,
    types: &[StatementType],
) -> Result<BTreeMap<String, String>, Fault> {
    let (how, form) = match driver.dialect() {
        Dialect::Mysql => ("", "FORMAT=JSON"),
        _ => ("CHARACTERISTICS AS ", "(FORMAT JSON)"),
    };
    let mut admin = driver.admin()?;
    // Whatever a statement calls, it writes nothing.
    admin.execute(&format!("SET SESSION {how}TRANSACTION READ ONLY"))?;
    // MySQL 9 may have another form; who has only one refuses this.
    let _ = admin.execute("SET SESSION explain_json_format_version = 1");
    let end = Instant::now() + LIMIT;
    let mut plans = BTreeMap::new();
    examples.retain(|_, (_, sql)| is_one(sql, driver.dialect()));
    for (number, (_, sql)) in examples {
        let sql = String::from_utf8_lossy(&sql);
        let said = match admin.query_value(&format!("EXPLAIN {form} {sql}")) {
            Ok(said) if Instant::now() < end => said.unwrap_or_default(),
            Err(Fault::Server(_)) => continue,
            _ => break,
        };
        let plan = nodes(&serde_json::from_str(&said).unwrap_or_default()).join(", ");
        let name = types[number].name.to_string();
        plans.insert(name, plan.chars().take(MOST_CHARS).collect());
    }
    Ok(plans)
}

/// Whether no other statement follows in the text, which PostgreSQL would run.
pub(super) fn is_one(sql: &[u8], dialect: Dialect) -> bool {
    let mut rest = Words::new(sql, dialect).skip_while(|word| !word.is(";"));
    rest.nth(1).is_none()
}

/// The nodes of a plan, each with those below it in parentheses.
pub(super) fn nodes(plan: &Value) -> Vec<String> {
    let below: Vec<_> = match plan {
        Value::Array(all) => all.iter().flat_map(nodes).collect(),
        Value::Object(parts) => parts.values().flat_map(nodes).collect(),
        _ => Vec::new(),
    };
    let told = |key: &'static str| match &plan[key] {
        Value::String(said) => Some(&**said).filter(|said| !["Plain", "Inner"].contains(said)),
        // MySQL has `using_filesort`, and MariaDB `filesort`.
        Value::Bool(true) | Value::Object(_) => key.split("using_").last(),
        _ => None,
    };
    let own: Vec<_> = TOLD.split(',').filter_map(told).collect();
    let own = own.join(" ");
    if own.is_empty() || below.is_empty() {
        return if own.is_empty() { below } else { vec![own] };
    }
    vec![format!("{own} ({})", below.join(", "))]
}
