//! The MySQL driver against a real MariaDB.

mod oltp;
#[path = "../support/program.rs"]
mod program;
mod schemas;
mod server;
mod trouble;
