//! A parameter and where it comes from, side by side, so that neither goes without the other.

use std::fmt::Display;

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

/// A number, or a figure's.
pub(crate) trait Number<T> {
    /// Refuses a value out of bounds; `name` is its key.
    fn within(&self, name: &str, least: T, most: T) -> Result<(), String>;
}

impl<T: Copy + PartialOrd + Display> Number<T> for T {
    fn within(&self, name: &str, least: T, most: T) -> Result<(), String> {
        if *self >= least && *self <= most {
            return Ok(());
        }
        Err(format!("{name} is {self}; it may be {least} to {most}"))
    }
}

impl<T: Copy + PartialOrd + Display> Number<T> for Figure<T> {
    fn within(&self, name: &str, least: T, most: T) -> Result<(), String> {
        self.value.within(name, least, most)
    }
}

/// `within!(self; 0.0, 1.0 => filled; 1, 256 => channels, dies)`: refuses a field out of its bounds.
macro_rules! within {
    ($of:expr; $($least:expr, $most:expr => $($name:ident),+);+ $(;)?) => {
        $($($crate::device::Number::within(&$of.$name, stringify!($name), $least, $most)?;)+)+
    };
}
pub(crate) use within;
