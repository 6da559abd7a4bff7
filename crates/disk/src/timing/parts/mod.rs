//! What every device that is built of devices needs: parts with tags of their own, and moments at which something is to be done.

mod agenda;
mod part;

pub(super) use agenda::Agenda;
pub(super) use part::{Part, Told, first};
