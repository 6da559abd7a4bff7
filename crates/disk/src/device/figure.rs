//! A parameter and where it comes from, side by side, so that neither goes without the other.

use serde::{Deserialize, Serialize};

/// `{ value = 15_000, source = "data sheet" }`. A source that begins with "assumed" marks a guess.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a value and its source: `{ value = ..., source = \"...\" }`"
)]
pub struct Figure<T> {
    pub value: T,
    pub source: String,
}

impl<T> Figure<T> {
    /// A default for a parameter that a file may leave out; its source says so.
    pub fn assumed(value: T) -> Self {
        Self {
            value,
            source: "assumed: the model's default".to_owned(),
        }
    }
}

/// Defaults in the words of `serde`, as numbers, shares and switches.
pub(crate) fn assumed<T: From<u32>, const VALUE: u32>() -> Figure<T> {
    Figure::assumed(VALUE.into())
}

pub(crate) fn thousandths<const VALUE: u32>() -> Figure<f64> {
    Figure::assumed(f64::from(VALUE) / 1000.0)
}

pub(crate) fn switched<const ON: bool>() -> Figure<bool> {
    Figure::assumed(ON)
}

impl<T: Copy + PartialOrd + std::fmt::Display> Figure<T> {
    /// Refuses a value out of bounds; `name` is its key.
    pub fn within(&self, name: &str, least: T, most: T) -> Result<(), String> {
        if self.value >= least && self.value <= most {
            return Ok(());
        }
        let value = &self.value;
        Err(format!("{name} is {value}; it may be {least} to {most}"))
    }
}
