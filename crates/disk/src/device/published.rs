//! Published figures of a device, and the probes that make them again.

use serde::{Deserialize, Serialize};

use super::within;

/// The requests of a probe. Simulation, profile and verification share these words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    RandomRead,
    RandomWrite,
    SequentialRead,
    SequentialWrite,
    /// Three random reads to two random writes, without flushes.
    Mixed,
    /// sysbench's fileio `rndrw`: as `mixed`, and after every 100 requests each of 128 files is synced.
    Fileio,
    /// A write and a flush, one after the other.
    SyncedWrite,
    /// The same, each write following the last.
    SyncedAppend,
}

/// One probe: a pattern in blocks of one size, at one depth, within the first bytes of the disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    pub pattern: Pattern,
    pub block_bytes: u64,
    #[serde(default = "one")]
    pub depth: u32,
    /// Bytes from the start of the disk that the probe touches; the whole disk where absent.
    pub span_bytes: Option<u64>,
}

impl Probe {
    /// Refuses what `simulate` would refuse.
    pub(crate) fn check(&self) -> Result<(), String> {
        within!(self; 512, 16 << 20 => block_bytes; 1, 65_536 => depth);
        Ok(())
    }
}

fn one() -> u32 {
    1
}

/// A measured figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Requests a second, without the flushes.
    Iops(f64),
    /// 10^6 bytes a second.
    MegabytesPerS(f64),
    MeanUs(f64),
    MedianUs(f64),
    P95Us(f64),
    P99Us(f64),
    MaxUs(f64),
    /// Flushes a second.
    FlushesPerS(f64),
}

impl Measure {
    fn value(self) -> f64 {
        match self {
            Self::Iops(value)
            | Self::MegabytesPerS(value)
            | Self::MeanUs(value)
            | Self::MedianUs(value)
            | Self::P95Us(value)
            | Self::P99Us(value)
            | Self::MaxUs(value)
            | Self::FlushesPerS(value) => value,
        }
    }
}

/// A figure that somebody measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    pub probe: Probe,
    pub measure: Measure,
    /// Who measured it, and on which device if not on this very one.
    pub source: String,
    /// Whether parameters were fitted to this figure. Only figures without fitted parameters are
    /// evidence.
    pub fitted: bool,
}

impl Published {
    /// Refuses what is no figure of its own.
    ///
    /// # Errors
    ///
    /// The measure, the pattern and what to give instead.
    pub(super) fn check(&self) -> Result<(), String> {
        match (self.probe.pattern, self.measure) {
            (Pattern::Fileio, Measure::FlushesPerS(_)) => Err(
                "published: on every disk, `flushes_per_s` of `fileio` is 1.28 times its `iops`, so it is not a \
                 second figure; give `iops`"
                    .to_owned(),
            ),
            (_, measure) => {
                if !measure.value().is_finite() {
                    return Err(format!("published: {measure:?} is no figure"));
                }
                self.probe.check().map_err(|why| format!("published: {why}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn published(pattern: Pattern, measure: Measure) -> Published {
        Published {
            probe: Probe {
                pattern,
                block_bytes: 16_384,
                depth: 1,
                span_bytes: None,
            },
            measure,
            source: "somebody".to_owned(),
            fitted: false,
        }
    }

    #[test]
    fn one_figure_does_not_count_twice() {
        let flushes = Measure::FlushesPerS(174.5);
        let why = published(Pattern::Fileio, flushes).check();
        assert!(why.expect_err("the same once more").contains("`iops`"));
        for (pattern, measure) in [
            (Pattern::Fileio, Measure::Iops(136.5)),
            (Pattern::SyncedAppend, flushes),
        ] {
            assert_eq!(published(pattern, measure).check(), Ok(()));
        }
    }
}
