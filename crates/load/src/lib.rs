//! diskproof-load: a load generator for databases.
//!
//! `cli` reads the arguments and assembles the parts: a `driver` for a database, a `workload` that
//! draws transactions, the `engine` that lets clients run them, `measure` that keeps the counts,
//! and `report` that prints the results.

// These panic if nobody reads the output any more; `cli`'s `tell!` does not.
#![cfg_attr(not(test), warn(clippy::print_stderr, clippy::print_stdout))]

pub mod cli;
pub mod driver;
pub mod engine;
mod failure;
mod file;
mod log;
pub mod measure;
mod plain;
mod recording;
pub mod report;
pub mod target;
pub mod workload;
