//! The MySQL driver against real servers.

mod conditions;
#[path = "../support/conditions.rs"]
mod conditions_support;
mod fake;
#[path = "../support/golden.rs"]
mod golden;
mod kind;
mod ledger;
#[path = "../support/ledger_servers.rs"]
mod ledger_servers;
#[path = "../support/ledger.rs"]
mod ledger_support;
mod limits;
mod login;
mod lua;
#[path = "../support/lua.rs"]
mod lua_support;
mod oltp;
#[path = "../support/program.rs"]
mod program;
mod releases;
mod schemas;
mod script;
#[path = "../support/script.rs"]
mod script_support;
mod server;
mod sessions;
mod slap;
#[path = "../support/slap.rs"]
mod slap_support;
mod sqlbench;
#[path = "../support/sqlbench.rs"]
mod sqlbench_support;
mod trouble;
