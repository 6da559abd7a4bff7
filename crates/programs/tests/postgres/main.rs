//! The PostgreSQL driver against a real server, and against one that talks nonsense.

#[path = "../support/certificates.rs"]
mod certificates;
mod conditions;
#[path = "../support/conditions.rs"]
mod conditions_support;
mod database;
mod drive;
mod fake;
#[path = "../support/golden.rs"]
mod golden;
mod ledger;
#[path = "../support/ledger_servers.rs"]
mod ledger_servers;
#[path = "../support/ledger.rs"]
mod ledger_support;
mod login;
mod lua;
#[path = "../support/lua.rs"]
mod lua_support;
mod nonsense;
mod oltp;
#[path = "../support/program.rs"]
mod program;
mod script;
#[path = "../support/script.rs"]
mod script_support;
mod server;
mod slap;
#[path = "../support/slap.rs"]
mod slap_support;
mod sqlbench;
#[path = "../support/sqlbench.rs"]
mod sqlbench_support;
mod statements;
mod tls;
