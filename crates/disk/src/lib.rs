//! A virtual disk: a published disk's timing under an ordinary file system.
//!
//! Four things are kept apart, so that each can be tested alone and a power cut can be made of them:
//! *timing* says when a request is answered and when its bytes are stable, and knows neither bytes nor
//! clock; *contents* hold the bytes; *volatile* is the account of those that a power cut can take;
//! *serving* brings them to the kernel and keeps the time.

pub mod account;
pub mod cli;
pub mod contents;
pub mod device;
mod directory;
pub mod faults;
mod file;
pub mod ledger;
pub mod request;
pub mod serve;
pub mod simulate;
pub mod timing;
pub mod volatile;
