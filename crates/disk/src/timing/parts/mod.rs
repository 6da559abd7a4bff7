//! Shared by devices that are built of devices: parts with their own tags, requests that wait for
//! their pieces, runs of neighbouring bytes, and alarms.

mod part;
mod runs;
mod whole;

pub(super) use super::agenda::{Agenda, first};
pub(super) use part::{Part, Told};
pub(super) use runs::{Run, append_run};
pub(super) use whole::Wholes;
