//! Device files: a disk's parameters, each with its source, and the published figures it is held against.

mod catalogue;
mod changed;
mod figure;
mod kind;
mod model;
mod named;
mod promise;
mod published;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use named::{Origin, look_up};

pub use catalogue::{BUILT_IN, names, open};
pub use figure::Figure;
pub(crate) use figure::{Number, assumed, switched, thousandths, within};
pub use kind::{Kind, Properties, check_capacity};
pub use model::{Build, Model};
pub use promise::Promise;
pub use published::{Measure, Pattern, Probe, Published};

/// A device file that cannot be used; the message says what is wrong, where, and what to do.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct DeviceError(pub String);

/// One `devices/NAME.toml`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// Maker, model and kind, as on the box.
    pub title: String,
    /// What the device stands for, which parameters were fitted to which figures, and what it
    /// cannot show.
    pub description: String,
    /// The model and its parameters: exactly one of the kinds below.
    pub device: Model,
    /// Figures that others measured on the real device.
    #[serde(default)]
    pub published: Vec<Published>,
}

impl Device {
    /// Reads a device from the text of its file; `origin` names the file in errors.
    ///
    /// # Errors
    ///
    /// If the text is not TOML, a key is unknown or missing, or a parameter is impossible.
    pub fn parse(text: &str, origin: &str) -> Result<Self, DeviceError> {
        Self::from_toml(text, origin)?.complete(Origin::Text(origin.to_owned()))
    }

    fn open(origin: Origin, changes: Option<&str>) -> Result<Self, DeviceError> {
        Self::as_in(&origin, changes)?.complete(origin)
    }

    /// Reads a device with the names of those that it is built of.
    fn as_in(origin: &Origin, changes: Option<&str>) -> Result<Self, DeviceError> {
        let (text, shown) = (origin.read()?, origin.to_string());
        match changes {
            Some(changes) => changed::read(&text, changes, &shown),
            None => Self::from_toml(&text, &shown),
        }
    }

    fn from_toml(text: &str, origin: &str) -> Result<Self, DeviceError> {
        toml::from_str(text).map_err(|error| DeviceError(format!("{origin}: {error}")))
    }

    /// Looks up the devices that it names and refuses what cannot be.
    fn complete(mut self, origin: Origin) -> Result<Self, DeviceError> {
        let words = origin.to_string();
        look_up(&mut self.device, &mut vec![origin], &mut 0)?;
        self.device
            .check()
            .and_then(|()| self.published.iter().try_for_each(Published::check))
            .map_err(|why| DeviceError(format!("{words}: {why}")))?;
        Ok(self)
    }
}
