//! The same disk with flushes that do nothing, or with capacitors.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::process::Command;

use serde_json::{Value, json};

use crate::served::{Served, program, serve};

/// A disk with platters and a volatile cache of 16 MiB.
const DEVICE: &str = "fujitsu-mbc2073rc";

/// Scattered so widely that the disk takes seconds to bring a thousand of them to its platters.
fn write(file: &File, count: u64) {
    for number in 0..count {
        let block = number * 6_700_417 % 1_000_000;
        let at = block * 4096;
        file.write_all_at(&[1; 4096], at).expect("written");
    }
}

fn unstable_bytes(served: &Served) -> u64 {
    let statistics = served.statistics();
    statistics["unstable_bytes"].as_u64().expect("a count")
}

/// What a disk says of its promises when it is ready, and afterwards.
fn said(served: &Served) -> Value {
    let described = served.control(&["describe"]);
    let fields = ["flushes", "power_loss", "survives_without_power"];
    for field in fields {
        assert_eq!(served.ready[field], described[field], "{field}");
    }
    json!(fields.map(|field| described[field].clone()))
}

#[test]
fn an_honest_flush_leaves_nothing_at_risk() {
    let served = serve(DEVICE, &[]);
    assert_eq!(said(&served), json!([null, null, true]));
    let file = served.open();
    write(&file, 30);
    file.sync_all().expect("flushed");
    assert_eq!(unstable_bytes(&served), 0);
}

#[test]
fn an_ignored_flush_leaves_everything_at_risk() {
    let served = serve(DEVICE, &["--flushes", "ignored"]);
    assert_eq!(said(&served), json!(["ignored", null, true]));
    served.control(&["snapshot", "empty"]);
    for seed in [None, Some("7")] {
        let file = served.open();
        write(&file, 1000);
        file.sync_all().expect("answered");
        assert!(unstable_bytes(&served) > 0, "with {seed:?}");
        drop(file);
        // The model that comes with a restore ignores them, too.
        let mut words = vec!["restore", "empty"];
        words.extend(seed.iter().flat_map(|seed| ["--seed", seed]));
        served.control(&words);
        assert_eq!(unstable_bytes(&served), 0);
    }
}

#[test]
fn with_capacitors_an_answer_is_a_promise() {
    let served = serve(DEVICE, &["--power-loss", "protected"]);
    assert_eq!(said(&served), json!([null, "protected", true]));
    write(&served.open(), 100);
    assert_eq!(unstable_bytes(&served), 0);
}

#[test]
fn main_memory_is_gone_with_the_power_unless_it_is_protected() {
    let served = serve("dram", &["--below-floor"]);
    assert_eq!(said(&served), json!([null, null, false]));
    let served = serve("dram", &["--below-floor", "--power-loss", "protected"]);
    assert_eq!(said(&served), json!([null, "protected", true]));
}

#[test]
fn a_simulation_flushes_as_it_is_told() {
    let probes = tempfile::NamedTempFile::new().expect("a file");
    let synced = r#"{"probe": {"pattern": "synced-write", "block_bytes": 4096}, "seconds": 10, "requests": 100000}"#;
    std::fs::write(&probes, synced).expect("written");
    let flush_us = |options: &[&str], figure: &str| {
        let output = Command::new(program())
            .args(["simulate", DEVICE, "--probes"])
            .arg(probes.path())
            .args(options)
            .output()
            .expect("the program starts");
        let said: Value = serde_json::from_slice(&output.stdout).expect("a line of JSON");
        said[figure].as_f64().expect("flushes")
    };
    for figure in ["flush_mean_us", "flush_median_us"] {
        let honest = flush_us(&[], figure);
        for options in [["--flushes", "ignored"], ["--power-loss", "protected"]] {
            let free = flush_us(&options, figure);
            assert!(free < honest / 10.0, "{options:?}: {free} of {honest} us");
        }
    }
}
