//! The SQLite driver on real files.

mod job;
mod oltp;
#[path = "../support/program.rs"]
mod program;
mod script;
#[path = "../support/script.rs"]
mod script_support;
mod statements;
mod target;
