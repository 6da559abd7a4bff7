//! The kinds of device that a file may describe, and how a file becomes a running model.

use serde::{Deserialize, Serialize};

use super::figure::Figure;
use crate::timing::{Null, Timing};

/// How a device is to be built, beyond what its file says.
#[derive(Clone, Copy, Debug)]
pub struct Build {
    /// Seed of every draw in the model.
    pub seed: u64,
}

/// One device: exactly one kind, with its parameters. Devices may be built of devices.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Model {
    Null(NullParameters),
}

/// A device without any delay.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NullParameters {
    pub capacity_bytes: Figure<u64>,
}

impl Model {
    /// Refuses what cannot be: geometry, rates and sizes that contradict each other.
    ///
    /// # Errors
    ///
    /// The parameter, its value and what it may be.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Self::Null(_) => Ok(()),
        }
    }

    /// Makes the running model.
    #[must_use]
    pub fn build(&self, _build: Build) -> Box<dyn Timing> {
        match self {
            Self::Null(parameters) => Box::new(Null::new(parameters.capacity_bytes.value)),
        }
    }
}
