//! Which rows are hot: the distribution and its parameters.

use clap::Args;

use crate::cli::Stop;
use crate::cli::within::Within;
use crate::workload::distribution::{Choice, Law, Special};

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct DistributionArgs {
    /// Which rows are hot (and, when preparing, which values column k holds)
    #[arg(long, default_value = "special")]
    pub(super) distribution: Choice,

    /// special: the hot rows' share of the table in percent (sysbench: --rand-spec-pct) [default: 1]
    #[arg(long, value_name = "PERCENT", within(1..=100u32))]
    special_window: Option<u32>,

    /// special: the share of accesses that go to the hot rows in percent (sysbench:
    /// --rand-spec-res) [default: 75]
    #[arg(long, value_name = "PERCENT", within(0..=99u32))]
    special_hot: Option<u32>,

    /// special, gaussian: number of uniform draws to average (sysbench: --rand-spec-iter) [default:
    /// 12]
    #[arg(long, value_name = "DRAWS", within(1..=1000u32))]
    bell_draws: Option<u32>,

    /// pareto: the share h of the rows that takes 1 - h of the accesses (sysbench: --rand-pareto-h)
    /// [default: 0.2]
    #[arg(long, value_name = "H", value_parser = pareto_h)]
    pareto_h: Option<f64>,

    /// zipfian: the exponent (sysbench: --rand-zipfian-exp) [default: 0.8]
    #[arg(long, value_name = "EXPONENT", within(0.0..=STEEPEST))]
    zipfian_exponent: Option<f64>,
}

impl DistributionArgs {
    /// The law; refuses a parameter that it does not have.
    pub(super) fn law(&self) -> Result<Law, Stop> {
        let mut law = Law::from(self.distribution);
        let is_special = matches!(law, Law::Special(_) | Law::Special1020(_));
        let has_bell = is_special || matches!(law, Law::Gaussian { .. });
        for (option, given, takes, belongs_to) in [
            (
                "--special-window",
                self.special_window.is_some(),
                is_special,
                "special",
            ),
            (
                "--special-hot",
                self.special_hot.is_some(),
                is_special,
                "special",
            ),
            (
                "--bell-draws",
                self.bell_draws.is_some(),
                has_bell,
                "special or gaussian",
            ),
            (
                "--pareto-h",
                self.pareto_h.is_some(),
                matches!(law, Law::Pareto { .. }),
                "pareto",
            ),
            (
                "--zipfian-exponent",
                self.zipfian_exponent.is_some(),
                matches!(law, Law::Zipfian { .. }),
                "zipfian",
            ),
        ] {
            if given && !takes {
                return Err(Stop::Arguments(format!(
                    "{option} needs --distribution {belongs_to}"
                )));
            }
        }
        match &mut law {
            Law::Uniform => {}
            Law::Special(special) | Law::Special1020(special) => self.shape(special),
            Law::Zipfian { exponent } => *exponent = self.zipfian_exponent.unwrap_or(*exponent),
            Law::Pareto { h } => *h = self.pareto_h.unwrap_or(*h),
            Law::Gaussian { draws } => *draws = self.bell_draws.unwrap_or(*draws),
        }
        Ok(law)
    }

    fn shape(&self, special: &mut Special) {
        special.window_percent = self.special_window.unwrap_or(special.window_percent);
        special.hot_percent = self.special_hot.unwrap_or(special.hot_percent);
        special.draws = self.bell_draws.unwrap_or(special.draws);
    }
}

fn pareto_h(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(h) if h > 0.0 && h < 1.0 => Ok(h),
        _ => Err("must be a number above 0 and below 1".into()),
    }
}

/// Beyond this nearly every draw is row 1.
const STEEPEST: f64 = 10.0;
