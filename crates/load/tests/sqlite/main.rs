//! The SQLite driver on real files.

mod oltp;
#[path = "../support/program.rs"]
mod program;
mod statements;
mod target;
