//! What every kind of device provides: checks of its parameters, its running model, and its properties.

use serde::Serialize;
use serde_json::Value;

use super::model::{Build, Model};
use super::promise::Promise;
use crate::timing::Timing;

/// The parameters of one kind of device, as a device file gives them.
pub trait Kind {
    /// Refuses parameters that are impossible or contradict each other.
    ///
    /// # Errors
    ///
    /// The parameter, its value and the values that it may have.
    fn check(&self) -> Result<(), String>;

    /// Makes the running model of parameters that `check` accepts.
    fn build(&self, build: Build) -> Box<dyn Timing>;

    fn properties(&self) -> Properties;
}

/// A single device holds no more, so that sums over many devices stay numbers.
const CAPACITY_BYTES_MOST: u64 = 1 << 50;

/// Refuses a capacity that is not a whole number of grains.
///
/// # Errors
///
/// The capacity, and what it may be.
pub fn check_capacity(capacity_bytes: u64, grain_bytes: u64) -> Result<(), String> {
    if (grain_bytes..=CAPACITY_BYTES_MOST).contains(&capacity_bytes)
        && capacity_bytes.is_multiple_of(grain_bytes)
    {
        return Ok(());
    }
    Err(format!(
        "capacity_bytes is {capacity_bytes}; it must be a multiple of {grain_bytes}, at most {CAPACITY_BYTES_MOST}"
    ))
}

/// Properties of a device that are not times: how to attach it, and how to read what is measured on it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a property of its own"
)]
pub struct Properties {
    /// The device reads and writes whole physical sectors of this size.
    pub sector_bytes: u64,
    /// The device serves one request at a time, so it can do no more once it is always busy.
    pub one_at_a_time: bool,
    /// Every part that holds data has platters.
    pub rotational: bool,
    /// One revolution of each speed in the device, ascending; empty if nothing turns.
    pub turns_us: Vec<f64>,
    /// The device takes writes that are durable without a flush (FUA).
    pub fua: bool,
    /// Bytes that are stable outlive the power.
    pub survives_without_power: bool,
}

impl Properties {
    /// A device without moving parts that serves requests in parallel.
    pub fn solid_state() -> Self {
        Self {
            sector_bytes: 512,
            one_at_a_time: false,
            rotational: false,
            turns_us: Vec::new(),
            fua: false,
            survives_without_power: true,
        }
    }

    /// A device that spreads its data over others. No FUA passes through a bus or a composed
    /// device.
    pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a Model>) -> Self {
        let parts: Vec<Self> = parts.into_iter().map(Model::as_described).collect();
        let mut turns_us: Vec<f64> = parts
            .iter()
            .flat_map(|part| part.turns_us.clone())
            .collect();
        turns_us.sort_by(f64::total_cmp);
        turns_us.dedup();
        let sectors = parts.iter().map(|part| part.sector_bytes);
        Self {
            sector_bytes: sectors.max().unwrap_or(512),
            one_at_a_time: false,
            rotational: parts.iter().all(|part| part.rotational),
            turns_us,
            fua: false,
            survives_without_power: parts.iter().all(|part| part.survives_without_power),
        }
    }

    /// Adds them to what is said of a device.
    pub fn add_to(&self, said: &mut Value) {
        let Ok(Value::Object(properties)) = serde_json::to_value(self) else {
            unreachable!("a struct is an object");
        };
        for (name, value) in properties {
            said[name] = value;
        }
    }

    /// With what is promised of the device's cache: power-loss protection saves everything.
    pub(super) fn promised(self, promise: Promise) -> Self {
        let protected = promise == Promise::PowerLossProtected;
        Self {
            survives_without_power: self.survives_without_power || protected,
            ..self
        }
    }
}
