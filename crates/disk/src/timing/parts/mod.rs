//! What every device that is built of devices needs: parts with tags of their own, requests that wait
//! for their pieces, runs of neighbouring bytes, and moments at which something is to be done.

mod hash;
mod moving;
mod part;
mod runs;
mod whole;

pub(super) use super::agenda::Agenda;
pub(super) use hash::NumberMap;
pub(super) use moving::{Leisure, Moving};
pub(super) use part::{Part, Told, first};
pub(super) use runs::{Run, append_run};
pub(super) use whole::Wholes;
