//! How the server would run what a replay read: access types, keys and kinds of nodes, without values and estimates.

use flate2::Crc;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use super::certificate::Counts;
use crate::driver::{Dialect, Driver, Fault};
use crate::workload::StatementType;
use crate::workload::sql::Words;

/// A plan that is longer ends here: one of a thousand partitions has as many nodes.
const MOST_CHARS: usize = 2000;
/// Longer statements are not explained.
pub(super) const LONGEST_BYTES: usize = 64 << 10;

/// The keys of a node that are kept, in the JSON of PostgreSQL and of the MySQL family: neither costs nor values.
const TOLD: &str = "Node Type,Strategy,Join Type,Index Name,Relation Name,table_name,access_type,key,index_name,\
    using_filesort,filesort,using_temporary_table,temporary_table,message";

/// Tells the plans of statements by the names of their types. Those that the server refuses to explain, or whose
/// plan is not understood, have none.
pub(super) fn explain(
    driver: &impl Driver,
    counts: Counts,
    types: &[StatementType],
    mut tell: impl FnMut((String, String)),
) -> Result<(), Fault> {
    let (how, form) = match driver.dialect() {
        Dialect::Mysql => ("", "FORMAT=JSON"),
        _ => ("CHARACTERISTICS AS ", "(FORMAT JSON)"),
    };
    let mut admin = driver.admin()?;
    // Whatever a statement calls, it writes nothing.
    admin.execute(&format!("SET SESSION {how}TRANSACTION READ ONLY"))?;
    // MySQL 9 may have another form; who has only one refuses this.
    let _ = admin.execute("SET SESSION explain_json_format_version = 1");
    let examples = counts.examples.into_iter();
    for (number, (_, sql)) in examples.filter(|(_, (_, sql))| is_one(sql, driver.dialect())) {
        let sql = String::from_utf8_lossy(&sql);
        let said = match admin.query_value(&format!("EXPLAIN {form} {sql}")) {
            Err(Fault::Server(_)) => continue,
            said => said?,
        };
        if let Some(plan) = said.and_then(|said| plan(&said)) {
            tell((types[number].name.to_string(), plan));
        }
    }
    Ok(())
}

/// The plan in an answer of the server; `None` if it names no node.
pub(super) fn plan(said: &str) -> Option<String> {
    let plan = nodes(&serde_json::from_str(said).ok()?).join(", ");
    let Some((end, _)) = plan.char_indices().nth(MOST_CHARS) else {
        return Some(plan).filter(|plan| !plan.is_empty());
    };
    // Two that differ behind the end are not the same.
    let mut sum = Crc::new();
    sum.update(plan.as_bytes());
    Some(format!("{}… {:08x}", &plan[..end], sum.sum()))
}

#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Json {
    Flag(bool),
    Text(String),
    Array(Vec<Json>),
    /// With all that have the same key: so did MariaDB name the tables of a join.
    #[serde(deserialize_with = "pairs")]
    Object(Vec<(String, Json)>),
    Other(IgnoredAny),
}

fn pairs<'de, D: Deserializer<'de>>(object: D) -> Result<Vec<(String, Json)>, D::Error> {
    object.deserialize_map(Pairs)
}

struct Pairs;

impl<'de> Visitor<'de> for Pairs {
    type Value = Vec<(String, Json)>;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut parts: A) -> Result<Self::Value, A::Error> {
        std::iter::from_fn(|| parts.next_entry().transpose()).collect()
    }
}

/// Whether no other statement follows in the text, which PostgreSQL would run.
pub(super) fn is_one(sql: &[u8], dialect: Dialect) -> bool {
    let mut rest = Words::new(sql, dialect).skip_while(|word| !word.is(";"));
    rest.nth(1).is_none()
}

/// The nodes of a plan, each with those below it in parentheses.
fn nodes(plan: &Json) -> Vec<String> {
    let parts = match plan {
        Json::Array(all) => return all.iter().flat_map(nodes).collect(),
        Json::Object(parts) => parts,
        _ => return Vec::new(),
    };
    let below: Vec<_> = parts.iter().flat_map(|(_, part)| nodes(part)).collect();
    let told = |key: &'static str| match &parts.iter().find(|(own, _)| own == key)?.1 {
        Json::Text(said) => Some(&**said).filter(|said| !["Plain", "Inner"].contains(said)),
        // MySQL has `using_filesort`, and MariaDB `filesort`.
        Json::Flag(true) | Json::Object(_) => key.split("using_").last(),
        _ => None,
    };
    let own: Vec<_> = TOLD.split(',').filter_map(told).collect();
    let own = own.join(" ");
    if own.is_empty() || below.is_empty() {
        return if own.is_empty() { below } else { vec![own] };
    }
    vec![format!("{own} ({})", below.join(", "))]
}
