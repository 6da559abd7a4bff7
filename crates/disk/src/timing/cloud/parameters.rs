//! Parameters of a cloud volume.

use serde::{Deserialize, Serialize};

use super::Cloud;
use crate::device::{
    Build, Figure, Kind, Number, Properties, assumed, check_capacity, switched, within,
};
use crate::timing::Timing;

const GIB: u64 = 1 << 30;

/// A volume across a network, limited by its provider.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CloudParameters {
    pub capacity_bytes: Figure<u64>,
    /// Median of the log-normal round trip of a read.
    pub read_median_us: Figure<f64>,
    pub write_median_us: Figure<f64>,
    /// Standard deviation of the round trip's natural logarithm: its mean is the median x e^(sigma^2 / 2).
    pub sigma: Figure<f64>,
    /// Time of a flush; 0 if the volume has no volatile cache to empty.
    #[serde(default = "assumed::<_, 0>")]
    pub flush_us: Figure<f64>,
    /// I/Os that a flush counts as under the limit: none at the known providers, one under Linux's `io.max`.
    #[serde(default = "assumed::<_, 0>")]
    pub flush_ios: Figure<u64>,
    /// Requests under way at a time; the others wait outside.
    pub concurrency: Figure<u32>,
    /// Whether requests are taken in batches, as by the host of a virtual machine. The host wakes a round
    /// trip after the first request. It serves all that wait by then one after the other, and answers them
    /// together. A request takes the time of its I/Os, and after that the time of its bytes.
    #[serde(default = "switched::<false>")]
    pub batches: Figure<bool>,
    pub iops: IopsLimit,
    pub mib_per_s: Figure<f64>,
    /// Writes a second, if not as many as `iops`. Flushes that count are limited like writes. Reads and
    /// writes share the time, and credits do not change it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_iops: Option<Figure<f64>>,
    /// The same of writes, if not `mib_per_s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_mib_per_s: Option<Figure<f64>>,
    /// Most bytes of one I/O. A longer request counts as several; adjacent requests that wait count
    /// as one up to this size, if no flush is between them. In batches none are joined.
    pub io_bytes: Figure<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<Burst>,
}

/// The I/Os a second that the volume may do for ever.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum IopsLimit {
    Fixed(Figure<f64>),
    /// It grows with the volume.
    BySize {
        per_gib: Figure<f64>,
        least: Figure<f64>,
        most: Figure<f64>,
    },
}

/// Credits: they grow with the I/Os a second that the volume has for ever, up to a most; each I/O takes one.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Burst {
    /// While there are credits; a volume that has more for ever keeps that.
    pub iops: Figure<f64>,
    pub most_credits: Figure<f64>,
    /// When the volume is attached.
    pub credits: Figure<f64>,
}

impl Kind for CloudParameters {
    fn check(&self) -> Result<(), String> {
        within!(self;
            0.0, 1e7 => read_median_us, write_median_us, flush_us; 0.0, 3.0 => sigma; 0, 16 => flush_ios;
            1, 65_536 => concurrency; 0.1, 1e6 => mib_per_s; 512, 16_777_216 => io_bytes);
        if let Some(iops) = &self.write_iops {
            iops.within("write_iops", 1.0, 1e8)?;
        }
        if let Some(rate) = &self.write_mib_per_s {
            rate.within("write_mib_per_s", 0.1, 1e6)?;
        }
        check_capacity(self.capacity_bytes.value, 512)?;
        match &self.iops {
            IopsLimit::Fixed(iops) => iops.within("iops.fixed", 1.0, 1e8)?,
            IopsLimit::BySize {
                per_gib,
                least,
                most,
            } => {
                per_gib.within("iops.by_size.per_gib", 0.0, 1e6)?;
                least.within("iops.by_size.least", 1.0, 1e8)?;
                most.within("iops.by_size.most", least.value, 1e8)?;
            }
        }
        if let Some(burst) = &self.burst {
            burst.iops.within("burst.iops", 1.0, 1e8)?;
            burst.most_credits.within("burst.most_credits", 1.0, 1e12)?;
            burst
                .credits
                .within("burst.credits", 0.0, burst.most_credits.value)?;
        }
        Ok(())
    }

    fn build(&self, build: Build) -> Box<dyn Timing> {
        Box::new(Cloud::new(self, build.seed))
    }

    fn properties(&self) -> Properties {
        Properties::solid_state()
    }
}

impl CloudParameters {
    /// I/Os a second for ever.
    pub fn base_iops(&self) -> f64 {
        match &self.iops {
            IopsLimit::Fixed(iops) => iops.value,
            IopsLimit::BySize {
                per_gib,
                least,
                most,
            } => {
                let gib = self.capacity_bytes.value as f64 / GIB as f64;
                (per_gib.value * gib).clamp(least.value, most.value)
            }
        }
    }
}
