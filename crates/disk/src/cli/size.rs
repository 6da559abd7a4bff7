//! Sizes as people write them.

use anyhow::Context;

/// Longest unit first: a number that ends in `GiB` ends in `B` as well.
const UNITS: &[(&str, u64)] = &[
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("B", 1),
];

/// Reads `8589934592` or `8 GiB`; fractions are refused, because they may not be whole bytes.
pub(super) fn parse(text: &str) -> Result<u64, String> {
    let wrong = || {
        format!(
            "`{text}` is not a size; write a number of bytes, or a number with one of KiB, MiB, GiB, TiB, kB, MB, GB, TB"
        )
    };
    let (number, unit_bytes) = UNITS
        .iter()
        .find_map(|(unit, bytes)| Some((text.strip_suffix(unit)?, *bytes)))
        .unwrap_or((text, 1));
    let number: u64 = number.trim_end().parse().map_err(|_| wrong())?;
    number.checked_mul(unit_bytes).ok_or_else(wrong)
}

/// Memory that is available without swapping anything out.
pub(super) fn available_memory() -> anyhow::Result<u64> {
    let text = std::fs::read_to_string("/proc/meminfo")?;
    text.lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))
        .and_then(|rest| rest.trim().strip_suffix(" kB"))
        .and_then(|number| number.trim().parse::<u64>().ok())
        .map(|kib| kib * 1024)
        .context("/proc/meminfo does not report the available memory; give --memory-limit")
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn sizes_are_exact() {
        assert_eq!(parse("4096"), Ok(4096));
        assert_eq!(parse("8 GiB"), Ok(8 << 30));
        assert_eq!(parse("8GiB"), Ok(8 << 30));
        assert_eq!(parse("3 GB"), Ok(3_000_000_000));
        assert_eq!(parse("7 B"), Ok(7));
        for nonsense in [
            "",
            "GiB",
            "-1",
            "1.5 GiB",
            "8 gib",
            "99999999999 TiB",
            "8 G",
        ] {
            assert!(parse(nonsense).is_err(), "{nonsense}");
        }
    }
}
