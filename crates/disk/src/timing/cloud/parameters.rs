//! What a device file says of a cloud volume.

use serde::{Deserialize, Serialize};

use crate::device::Figure;

const GIB: u64 = 1 << 30;

/// A volume across a network, limited by its provider.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CloudParameters {
    pub capacity_bytes: Figure<u64>,
    /// Of the log-normal round trip.
    pub read_median_us: Figure<f64>,
    pub write_median_us: Figure<f64>,
    /// Standard deviation of the round trip's natural logarithm: its mean is the median x e^(sigma^2 / 2).
    pub sigma: Figure<f64>,
    /// The volume answers a flush at once where it has no volatile cache to empty; else after this.
    #[serde(default = "nothing")]
    pub flush_us: Figure<f64>,
    /// Requests under way at a time; the others wait outside.
    pub concurrency: Figure<u32>,
    pub iops: IopsLimit,
    /// 2^20 bytes a second.
    pub mib_per_s: Figure<f64>,
    /// What counts as one I/O at most: longer requests count as several, and requests that follow one
    /// another are counted together up to this, while they wait for their turn and no flush is between.
    pub io_bytes: Figure<u64>,
    #[serde(default)]
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

fn nothing() -> Figure<f64> {
    Figure::assumed(0.0)
}

impl CloudParameters {
    /// I/Os a second for ever.
    #[must_use]
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

    /// Refuses what cannot be.
    ///
    /// # Errors
    ///
    /// The parameter, its value and what it may be.
    pub fn check(&self) -> Result<(), String> {
        within("read_median_us", self.read_median_us.value, 0.0, 1e7)?;
        within("write_median_us", self.write_median_us.value, 0.0, 1e7)?;
        within("sigma", self.sigma.value, 0.0, 3.0)?;
        within("flush_us", self.flush_us.value, 0.0, 1e7)?;
        within(
            "concurrency",
            f64::from(self.concurrency.value),
            1.0,
            65_536.0,
        )?;
        within("mib_per_s", self.mib_per_s.value, 0.1, 1e6)?;
        within("io_bytes", self.io_bytes.value as f64, 512.0, 16_777_216.0)?;
        let capacity = self.capacity_bytes.value;
        if capacity == 0 || !capacity.is_multiple_of(512) {
            return Err(format!(
                "capacity_bytes = {capacity}: a multiple of 512 is wanted"
            ));
        }
        match &self.iops {
            IopsLimit::Fixed(iops) => within("iops.fixed", iops.value, 1.0, 1e8)?,
            IopsLimit::BySize {
                per_gib,
                least,
                most,
            } => {
                within("iops.by_size.per_gib", per_gib.value, 0.0, 1e6)?;
                within("iops.by_size.least", least.value, 1.0, 1e8)?;
                within("iops.by_size.most", most.value, least.value, 1e8)?;
            }
        }
        if let Some(burst) = &self.burst {
            within("burst.iops", burst.iops.value, 1.0, 1e8)?;
            within("burst.most_credits", burst.most_credits.value, 1.0, 1e12)?;
            within(
                "burst.credits",
                burst.credits.value,
                0.0,
                burst.most_credits.value,
            )?;
        }
        Ok(())
    }
}

fn within(name: &str, value: f64, least: f64, most: f64) -> Result<(), String> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        Err(format!("{name} = {value}: {least} to {most} is wanted"))
    }
}
