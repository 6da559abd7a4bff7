//! The report of an open loop for a person: whether the rate was held, and how far behind it fell.

use std::io::{self, Write};

use super::{BacklogSummary, RateSummary};

/// Writes the summary's lines.
pub(super) fn write(rate: &RateSummary, out: &mut impl Write) -> io::Result<()> {
    const INDENT: &str = "                 ";
    let BacklogSummary {
        arrived,
        waiting,
        behind_s,
        most_waiting,
        most_behind_s,
    } = rate.backlog;
    writeln!(
        out,
        "  rate           asked {:.2} per s ({}), achieved {:.2} per s; {arrived} arrived",
        rate.asked_per_s, rate.arrivals, rate.achieved_per_s
    )?;
    let held = if rate.held { "held" } else { "NOT HELD" };
    writeln!(
        out,
        "{INDENT}{held}: at most {most_waiting} waited for a client, {most_behind_s:.3} s behind; \
         at the end {waiting}, {behind_s:.3} s behind"
    )?;
    let Some(delay) = &rate.start_delay_us else {
        return Ok(());
    };
    writeln!(
        out,
        "{INDENT}begun {:.1} us after their time on average, {:.0} us at most, \
         if a client was idle",
        delay.mean, delay.max
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::DelaySummary;

    fn rate(held: bool) -> RateSummary {
        RateSummary {
            asked_per_s: 1000.0,
            arrivals: "poisson",
            achieved_per_s: 812.5,
            backlog: BacklogSummary {
                arrived: 10_012,
                waiting: 1_880,
                behind_s: 1.8765,
                most_waiting: 2_001,
                most_behind_s: 2.0625,
            },
            held,
            start_delay_us: held.then_some(DelaySummary {
                mean: 61.25,
                max: 1234.0,
            }),
        }
    }

    fn lines(rate: &RateSummary) -> String {
        let mut out = Vec::new();
        write(rate, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_rate_that_was_not_held_is_plainly_said() {
        let text = lines(&rate(false));
        assert!(
            text.contains("asked 1000.00 per s (poisson), achieved 812.50 per s; 10012 arrived"),
            "{text}"
        );
        let told = "NOT HELD: at most 2001 waited for a client, 2.062 s behind; at the end 1880, 1.877 s behind";
        assert!(text.contains(told), "{text}");
        assert_eq!(text.lines().count(), 2);
    }

    #[test]
    fn a_rate_that_was_held() {
        let text = lines(&rate(true));
        assert!(text.contains("held: at most 2001 waited"), "{text}");
        assert!(
            text.contains("begun 61.2 us after their time on average, 1234 us at most"),
            "{text}"
        );
    }
}
