//! The PostgreSQL driver against a real server, and against one that talks nonsense.

mod database;
mod drive;
mod fake;
mod login;
mod oltp;
#[path = "../support/program.rs"]
mod program;
mod server;
mod statements;
