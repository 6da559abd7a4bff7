//! The SQLite driver on real files.

mod conditions;
#[path = "../support/conditions.rs"]
mod conditions_support;
mod job;
mod ledger;
#[path = "../support/ledger.rs"]
mod ledger_support;
mod lua;
#[path = "../support/lua.rs"]
mod lua_support;
mod oltp;
#[path = "../support/program.rs"]
mod program;
mod script;
#[path = "../support/script.rs"]
mod script_support;
mod slap;
#[path = "../support/slap.rs"]
mod slap_support;
mod sqlbench;
#[path = "../support/sqlbench.rs"]
mod sqlbench_support;
mod statements;
mod target;
