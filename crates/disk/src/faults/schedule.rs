//! A schedule of faults, as its author writes it.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::device::Number;
use crate::request::{Kind, NANOS_PER_US, Nanos, Request};

/// The effect of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// A request fails with EIO.
    Error,
    /// A write fails with ENOSPC.
    NoSpace,
    /// Answers come later.
    Slow,
    /// Requests that arrive meanwhile are not answered before the end.
    Stall,
    /// One bit of a sector flips silently.
    Corrupt,
    /// A write is answered and not done.
    Lost,
    /// A write is answered, and only its first sectors are done.
    Torn,
    /// A flush is answered and not done.
    Ignored,
}

/// One entry of a schedule. A field that is left out does not narrow it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    pub fault: What,
    /// Only requests of this kind.
    pub on: Option<Kind>,
    /// Only requests that touch this part of the disk; its length, where absent, is to the end.
    pub offset_bytes: Option<u64>,
    pub length_bytes: Option<u64>,
    /// Start of the fault, from when the schedule was given.
    #[serde(default)]
    pub after_us: u64,
    /// Duration; without end if absent.
    pub for_us: Option<u64>,
    /// Matching requests that are spared first.
    #[serde(default)]
    pub after_requests: u64,
    /// Most requests that it affects.
    pub times: Option<u64>,
    /// Probability for each matching request, from 0 to 1.
    #[serde(default = "always")]
    pub chance: f64,
    /// `slow`: by how much the latency is multiplied, and what is added to it.
    pub factor: Option<f64>,
    pub add_us: Option<f64>,
}

/// The requests that a fault affected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Befallen {
    pub fault: What,
    /// Their number.
    pub requests: u64,
    /// The first of them.
    pub first: Vec<Hit>,
}

/// A request that a fault affected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Hit {
    pub request: Kind,
    pub offset_bytes: u64,
    pub length_bytes: u64,
    /// When it came, since the schedule was put to work.
    pub after_us: u64,
}

fn always() -> f64 {
    1.0
}

/// A disk that is slower than by this factor, or by a day, is to stall.
const FACTOR_AT_MOST: f64 = 1e6;
const ADD_US_AT_MOST: f64 = 86_400e6;

impl What {
    fn name(self) -> String {
        let name = serde_json::to_value(self).expect("a word");
        name.as_str().expect("a word").to_owned()
    }

    /// Whether it changes what is read, or what a write leaves.
    pub(super) fn changes_bytes(self) -> bool {
        matches!(self, Self::Corrupt | Self::Lost | Self::Torn)
    }

    fn befalls(self) -> &'static [Kind] {
        match self {
            Self::Error | Self::Slow | Self::Stall => {
                &[Kind::Read, Kind::Write, Kind::Flush, Kind::Discard]
            }
            Self::NoSpace | Self::Lost | Self::Torn => &[Kind::Write],
            Self::Corrupt => &[Kind::Read, Kind::Write],
            Self::Ignored => &[Kind::Flush],
        }
    }
}

impl Fault {
    /// Refuses what cannot be, or what does nothing.
    ///
    /// # Errors
    ///
    /// The key, its value and what it may be.
    pub fn check(&self, sector_bytes: u64) -> Result<(), String> {
        self.check_place(sector_bytes)?;
        self.check_moment()?;
        self.check_delay()
    }

    fn check_place(&self, sector_bytes: u64) -> Result<(), String> {
        let name = self.fault.name();
        if let Some(kind) = self.on
            && !self.fault.befalls().contains(&kind)
        {
            let kinds = self.fault.befalls().iter().map(|kind| word(*kind));
            let kinds: Vec<String> = kinds.collect();
            return Err(format!(
                "on = {}: the fault `{name}` can only affect {}",
                word(kind),
                kinds.join(", ")
            ));
        }
        if self.length_bytes.is_some() && self.offset_bytes.is_none() {
            return Err("length_bytes needs offset_bytes".to_owned());
        }
        if self.offset_bytes.is_some() && self.on == Some(Kind::Flush) {
            return Err("offset_bytes: a flush has no offset; leave it out".to_owned());
        }
        let whole =
            |bytes: Option<u64>| bytes.is_none_or(|bytes| bytes.is_multiple_of(sector_bytes));
        if !whole(self.offset_bytes) || !whole(self.length_bytes) || self.length_bytes == Some(0) {
            return Err(format!(
                "offset_bytes and length_bytes must be whole sectors of {sector_bytes} bytes, at least one"
            ));
        }
        let end = self
            .offset_bytes
            .unwrap_or(0)
            .checked_add(self.length_bytes.unwrap_or(0));
        end.map(|_| ()).ok_or_else(|| {
            "offset_bytes and length_bytes lie beyond the end of any disk".to_owned()
        })
    }

    fn check_moment(&self) -> Result<(), String> {
        if !(0.0..=1.0).contains(&self.chance) || self.chance == 0.0 {
            return Err(format!(
                "chance = {}: must be more than 0 and at most 1",
                self.chance
            ));
        }
        if self.for_us == Some(0) || self.times == Some(0) {
            return Err("for_us and times must be at least 1, or left out".to_owned());
        }
        if self.fault == What::Stall && self.for_us.is_none() {
            return Err(
                "`stall` needs for_us, after which the stalled requests are answered".to_owned(),
            );
        }
        let end_us = self.after_us.checked_add(self.for_us.unwrap_or(0));
        let end = end_us.and_then(|us| us.checked_mul(NANOS_PER_US));
        if end.is_none_or(|end| end > Nanos::MAX / 2) {
            return Err("after_us and for_us are longer than any disk is served".to_owned());
        }
        Ok(())
    }

    fn check_delay(&self) -> Result<(), String> {
        if self.fault != What::Slow {
            return match (self.factor, self.add_us) {
                (None, None) => Ok(()),
                _ => Err(format!(
                    "factor and add_us belong to `slow`, not to `{}`",
                    self.fault.name()
                )),
            };
        }
        if self.factor.is_none() && self.add_us.is_none() {
            return Err("`slow` needs factor or add_us".to_owned());
        }
        if let Some(factor) = self.factor {
            factor.within("factor", 1.0, FACTOR_AT_MOST)?;
        }
        if let Some(us) = self.add_us {
            us.within("add_us", 0.0, ADD_US_AT_MOST)?;
        }
        Ok(())
    }

    pub(super) fn region(&self) -> Range<u64> {
        let start = self.offset_bytes.unwrap_or(0);
        start..self.length_bytes.map_or(u64::MAX, |length| start + length)
    }

    pub(super) fn may_befall(&self, kind: Kind) -> bool {
        match self.on {
            Some(only) => only == kind,
            None => self.fault.befalls().contains(&kind),
        }
    }

    /// Whether a request lies in the fault's part of the disk. A flush has no place: it matches a
    /// fault without one.
    pub(super) fn touches(&self, request: Request) -> bool {
        if request.kind == Kind::Flush {
            return self.offset_bytes.is_none();
        }
        let region = self.region();
        request.offset_bytes < region.end && region.start < request.end_bytes()
    }

    pub(super) fn is_due(&self, since: Nanos) -> bool {
        since >= self.after_us * NANOS_PER_US && self.end().is_none_or(|end| since < end)
    }

    /// Its last moment, since the schedule was given.
    pub(super) fn end(&self) -> Option<Nanos> {
        self.for_us
            .map(|for_us| (self.after_us + for_us) * NANOS_PER_US)
    }
}

fn word(kind: Kind) -> String {
    format!("{kind:?}").to_lowercase()
}
