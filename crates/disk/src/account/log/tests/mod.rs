//! Hostile input.

mod hostile;
