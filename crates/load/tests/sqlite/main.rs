//! The SQLite driver on real files.

mod job;
mod oltp;
#[path = "../support/program.rs"]
mod program;
mod statements;
mod target;
