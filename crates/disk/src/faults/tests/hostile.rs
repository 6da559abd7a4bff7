//! Schedules by hostile authors: words or a schedule that works, never a panic and never a long wait.
//!
//! `PROPTEST_CASES` sets the number of cases.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::super::*;

const SECTOR_BYTES: u64 = 512;
const SIZE_BYTES: u64 = 1 << 30;

fn value() -> impl Strategy<Value = Value> {
    let words = [
        "error",
        "no-space",
        "slow",
        "stall",
        "corrupt",
        "read",
        "write",
        "flush",
        "discard",
        "",
        "\u{1b}[2J",
    ];
    prop_oneof![
        4 => prop::sample::select(words.to_vec()).prop_map(Value::from),
        2 => (0..64_u32).prop_map(|bit| json!(1_u64 << bit)),
        2 => (0..10_000_u64).prop_map(|number| json!(number * SECTOR_BYTES)),
        1 => Just(json!(u64::MAX)),
        1 => Just(json!(-1)),
        2 => any::<f64>().prop_map(|number| json!(number)),
        2 => (0.0..1.0_f64).prop_map(|number| json!(number)),
        1 => Just(Value::Null),
        1 => Just(json!([])),
        1 => Just(json!({"a": 1})),
        1 => any::<bool>().prop_map(Value::from),
    ]
}

fn fault() -> impl Strategy<Value = Value> {
    let keys = [
        "on",
        "offset_bytes",
        "length_bytes",
        "after_us",
        "for_us",
        "after_requests",
        "times",
        "chance",
        "factor",
        "add_us",
        "other",
    ];
    let key = prop::sample::select(keys.to_vec());
    (0..5_usize, prop::collection::vec((key, value()), 0..5)).prop_map(|(kind, others)| {
        let kinds = ["error", "no-space", "slow", "stall", "corrupt"];
        let mut fault = Map::new();
        fault.insert("fault".to_owned(), kinds[kind].into());
        for (key, value) in others {
            fault.insert(key.to_owned(), value);
        }
        Value::Object(fault)
    })
}

/// Puts it into effect and sends requests, early and late.
fn try_schedule(schedule: &Value, seed: u64) {
    let Ok(schedule) = serde_json::from_value::<Vec<Fault>>(schedule.clone()) else {
        return;
    };
    let Ok(mut faults) = Faults::new(schedule, seed, SECTOR_BYTES, 1 << 40) else {
        return;
    };
    for (nth, now) in [1 << 40, (1 << 40) + 1, 1 << 50, 1 << 62]
        .into_iter()
        .enumerate()
    {
        let at = [0, 512, SIZE_BYTES / 2, SIZE_BYTES - 4096][nth];
        for request in [
            Request::read(at, 4096),
            Request::write(at, 4096),
            Request::flush(),
        ] {
            let befalls = faults.befalls(request, true, now);
            assert!(befalls.delay.answered(now, 1_000_000) >= now);
            for flip in befalls.flips {
                assert!((at..at + 4096).contains(&flip.offset_bytes));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hostile_schedules(faults in prop::collection::vec(fault(), 0..6), seed in any::<u64>()) {
        try_schedule(&Value::Array(faults), seed);
    }

    #[test]
    fn hostile_values(value in value(), seed in any::<u64>()) {
        try_schedule(&value, seed);
    }
}
