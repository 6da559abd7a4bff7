//! Device files by hostile authors: words or a device that works, never a panic and never a long wait.
//!
//! `PROPTEST_CASES` sets the number of cases.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use serde_json::Value;

use super::super::{BUILT_IN, Build, Device, Pattern, Probe, Promise};
use crate::request::NANOS_PER_S;
use crate::simulate::{self, Length};

/// A busy machine reads slowly; what takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(10);
/// Flash drives are filled when they are built, which takes memory and seconds if the map is large.
const MAP_ENTRIES_AT_MOST: u64 = 1 << 22;

const NUMBERS: &[&str] = &[
    "0",
    "-1",
    "1",
    "2",
    "511",
    "512",
    "4096",
    "0.0",
    "-0.0",
    "0.5",
    "1e-300",
    "1e300",
    "1e6",
    "nan",
    "inf",
    "-inf",
    "255",
    "65535",
    "65536",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "\"\"",
    "true",
    "[]",
    "{}",
    // Sixty-fourths of what is there.
    "*1",
    "*8",
    "*32",
    "*128",
    "*512",
    "*6400",
];

/// Reads a text; if it is a device, lets it work a little.
fn try_device(text: &str) -> TestCaseResult {
    let begun = Instant::now();
    match Device::parse(text, "hostile") {
        Err(why) => prop_assert!(!why.to_string().is_empty()),
        Ok(device) => work(&device),
    }
    prop_assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    Ok(())
}

fn work(device: &Device) {
    serde_json::to_string(device).expect("JSON");
    let _ = device.device.properties(Promise::AsDescribed);
    if is_large(&serde_json::to_value(&device.device).expect("JSON")) {
        return;
    }
    for pattern in [Pattern::Mixed, Pattern::SyncedAppend] {
        let mut timing = device.device.build(Build::seeded(1));
        let probe = Probe {
            pattern,
            block_bytes: 4096,
            depth: 4,
            span_bytes: None,
        };
        let length = Length {
            warm_up: 0,
            measure: NANOS_PER_S,
            requests: 20,
            fio_window: 0,
        };
        simulate::run(timing.as_mut(), &probe, length, 1);
    }
}

/// Whether there is a flash drive with a large map in it.
fn is_large(model: &Value) -> bool {
    let Value::Object(keys) = model else {
        return model
            .as_array()
            .is_some_and(|parts| parts.iter().any(is_large));
    };
    let number = |key: &str| model[key]["value"].as_u64();
    match (number("capacity_bytes"), number("mapping_bytes")) {
        (Some(capacity), Some(mapping)) => capacity / mapping > MAP_ENTRIES_AT_MOST,
        _ => keys.values().any(is_large),
    }
}

/// The places of the numbers in a text that stand for a parameter.
fn numbers(text: &str) -> Vec<std::ops::Range<usize>> {
    let starts = text.match_indices("= ").map(|(at, sign)| at + sign.len());
    starts
        .filter_map(|start| {
            let rest = &text[start..];
            let end = rest.find(|mark: char| !(mark.is_ascii_digit() || "._e".contains(mark)))?;
            (end > 0).then_some(start..start + end)
        })
        .collect()
}

fn built_in() -> impl Strategy<Value = &'static str> {
    (0..BUILT_IN.len()).prop_map(|number| BUILT_IN[number].1)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hostile_bytes(text in ".{0,400}") {
        try_device(&text)?;
    }

    #[test]
    fn hostile_tokens(tokens in prop::collection::vec(prop::sample::select(&[
        "[", "]", "{", "}", "=", "\n", ".", ",", "\"", "'''", "device", "null", "title", "description",
        "named", "value", "source", "published", "capacity_bytes", "1", "nan", "\u{0}", "\u{feff}", "\u{1b}[2J",
    ][..]), 0..200)) {
        try_device(&tokens.concat())?;
    }

    #[test]
    fn hostile_numbers(
        text in built_in(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(NUMBERS)), 1..4),
    ) {
        let mut text = text.to_owned();
        for (place, change) in changes {
            let places = numbers(&text);
            let Some(last) = places.len().checked_sub(1) else { break };
            let place = places[place.index(last + 1)].clone();
            let number = text[place.clone()].replace('_', "");
            let changed = match (change.strip_prefix('*'), number.parse::<u64>()) {
                (None, _) => change.to_owned(),
                (Some(factor), Ok(whole)) => {
                    (u128::from(whole) * factor.parse::<u128>().expect("whole") / 64).to_string()
                }
                (Some(factor), Err(_)) => {
                    let number: f64 = number.parse().unwrap_or(1.0);
                    format!("{:?}", number * factor.parse::<f64>().expect("whole") / 64.0)
                }
            };
            text.replace_range(place, &changed);
        }
        try_device(&text)?;
    }

    #[test]
    fn hostile_lines(
        text in built_in(),
        moves in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..3), 1..4),
    ) {
        let mut lines: Vec<&str> = text.lines().collect();
        for (from, to, kind) in moves {
            let (from, to) = (from.index(lines.len()), to.index(lines.len()));
            match kind {
                0 => lines.insert(to, lines[from]),
                1 if lines.len() > 1 => drop(lines.remove(from)),
                _ => lines.swap(from, to),
            }
        }
        try_device(&lines.join("\n"))?;
    }
}

/// What once broke something, or was feared to.
#[test]
fn hostile_files_of_old() {
    let deep = format!("x = {}1{}", "[".repeat(500), "]".repeat(500));
    let tables = format!("x = {}1{}", "{a = ".repeat(500), "}".repeat(500));
    let dotted = format!("{}a = 1", "a.".repeat(50_000));
    let header = format!("[{}a]\nb = 1", "a.".repeat(50_000));
    let many: Vec<String> = (0..200_000).map(|key| format!("k{key}=1")).collect();
    let many = many.join("\n");
    for text in [&deep, &tables, &dotted, &header, &many] {
        try_device(text).expect("words");
    }
}
