//! Disks that cannot be are refused, in words that help.

use super::*;
use crate::device::Kind as _;

fn refusal(change: impl FnOnce(&mut SpinningParameters)) -> String {
    let mut parameters = ordinary();
    change(&mut parameters);
    parameters.check().expect_err("refused")
}

#[test]
fn an_ordinary_disk_is_accepted() {
    ordinary().check().expect("it is");
    bare().check().expect("it is");
}

#[test]
fn what_is_out_of_range_is_named_with_its_range() {
    let text = refusal(|disk| disk.rpm.value = 0);
    assert_eq!(text, "rpm is 0; it may be 60 to 100000");
    for (name, text) in [
        ("queue_depth", refusal(|disk| disk.queue_depth.value = 0)),
        ("ageing", refusal(|disk| disk.ageing.value = 0.0)),
        (
            "read_segments",
            refusal(|disk| disk.read_segments.value = 0),
        ),
        (
            "write_cache_commands",
            refusal(|disk| disk.write_cache_commands.value = 0),
        ),
        (
            "write_back_share",
            refusal(|disk| disk.write_back_share.value = 1.5),
        ),
        (
            "write_settle_us",
            refusal(|disk| disk.write_settle_us.value = -1.0),
        ),
        (
            "command_overhead_us",
            refusal(|disk| disk.command_overhead_us.value = f64::NAN),
        ),
        (
            "outer_mb_per_s",
            refusal(|disk| disk.outer_mb_per_s.value = f64::INFINITY),
        ),
        (
            "sector_bytes",
            refusal(|disk| disk.sector_bytes.value = 520),
        ),
        (
            "capacity_bytes",
            refusal(|disk| disk.capacity_bytes.value = 0),
        ),
    ] {
        assert!(text.starts_with(&format!("{name} is ")), "{text}");
    }
}

#[test]
fn geometry_that_contradicts_itself_is_refused() {
    let text = refusal(|disk| disk.inner_mb_per_s.value = 131.0);
    assert!(text.contains("more than outer_mb_per_s (130)"), "{text}");
    let text = refusal(|disk| disk.capacity_bytes.value = MIB);
    assert!(text.contains("less than four tracks"), "{text}");
    let text = refusal(|disk| disk.capacity_bytes.value += 1);
    assert!(text.contains("multiple of 512"), "{text}");
    let text = refusal(|disk| disk.interface_mb_per_s.value = 40.0);
    assert!(text.contains("[device.bridge]"), "{text}");
}

#[test]
fn a_seek_curve_that_cannot_be_is_refused_with_what_could() {
    let text = refusal(|disk| disk.average_seek_us.value = 20_000.0);
    assert!(
        text.contains("between track_to_track_seek_us (800)"),
        "{text}"
    );
    for impossible in [6000.0, 14_000.0] {
        let text = refusal(|disk| disk.average_seek_us.value = impossible);
        assert!(text.contains("may be 6533.3 to 13413.3"), "{text}");
    }
    for possible in [6534.0, 13_413.0] {
        let mut disk = ordinary();
        disk.average_seek_us.value = possible;
        disk.check().expect("at the edge");
    }
}

#[test]
fn a_cache_larger_than_itself_is_refused() {
    let text = refusal(|disk| disk.write_cache_bytes.value = 9 * MIB);
    assert!(text.contains("more than all of the cache"), "{text}");
    let text = refusal(|disk| disk.write_cache_bytes.value = 0);
    assert!(text.contains("write_cache = { value = false"), "{text}");
}

#[test]
fn an_unknown_parameter_is_refused() {
    let text = r#"
title = "x"
description = "x"
[device.spinning]
heads = { value = 4, source = "x" }
"#;
    let error = crate::device::Device::parse(text, "x.toml").expect_err("refused");
    assert!(
        error.to_string().contains("unknown field `heads`"),
        "{error}"
    );
}
