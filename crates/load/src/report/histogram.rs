//! The distribution of latencies, drawn: for eyes that know sysbench's `--histogram`.

use std::io::{self, Write};

use crate::measure::Bar;

/// Stars of the fullest row.
const LONGEST_BAR: u64 = 50;

/// Writes the rows of a distribution.
pub(super) fn write(bars: &[Bar], out: &mut impl Write) -> io::Result<()> {
    let fullest = bars.iter().map(|bar| bar.count).max().unwrap_or(0).max(1);
    writeln!(
        out,
        "\n  transactions by latency\n  {:>12} {:>11} {:>9}",
        "up to ms", "count", "below %"
    )?;
    for bar in bars {
        // A row with one transaction has a star.
        let stars = (bar.count * LONGEST_BAR).div_ceil(fullest);
        writeln!(
            out,
            "  {:>12.3} {:>11} {:>9.3} |{}",
            bar.up_to_us / 1e3,
            bar.count,
            bar.cumulative_percent,
            "*".repeat(usize::try_from(stars).unwrap_or(0))
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fullest_row_has_the_longest_bar_and_a_single_one_a_star() {
        let bar = |up_to_us, count, cumulative_percent| Bar {
            up_to_us,
            count,
            cumulative_percent,
        };
        let mut out = Vec::new();
        let rows = [
            bar(100.0, 1000, 99.9),
            bar(133.4, 0, 99.9),
            bar(177.8, 1, 100.0),
        ];
        write(&rows, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let rows: Vec<_> = text.lines().skip(3).collect();
        let stars = "*".repeat(50);
        assert_eq!(
            rows,
            [
                format!("         0.100        1000    99.900 |{stars}"),
                "         0.133           0    99.900 |".to_owned(),
                "         0.178           1   100.000 |*".to_owned(),
            ]
        );
    }
}
