//! A virtual disk: a published disk's timing under an ordinary file system.
//!
//! Three things are kept apart, so that each can be tested alone and a power cut can be made of them:
//! *timing* says when a request is answered and when its bytes are stable, and knows neither bytes nor
//! clock; *contents* hold the bytes; *serving* brings both to the kernel and keeps the time.

pub mod cli;
pub mod contents;
pub mod device;
mod directory;
pub mod ledger;
pub mod request;
pub mod serve;
pub mod simulate;
pub mod timing;
