//! Drives that cannot be.

use super::*;
use crate::device::Kind as _;

#[test]
fn what_cannot_be_is_refused_by_name() {
    type Spoil = fn(&mut FlashParameters);
    let wrong: [(&str, Spoil); 12] = [
        ("read_us", |p| p.read_us = given(-1.0)),
        ("read_us", |p| p.read_us = given(f64::NAN)),
        ("read_spread_us", |p| p.read_spread_us = given(61.0)),
        ("channels", |p| p.channels = given(0)),
        ("queue_depth", |p| p.queue_depth = given(0)),
        ("interface_mb_per_s", |p| p.interface_mb_per_s = given(0.0)),
        ("over_provisioning", |p| p.over_provisioning = given(0.0)),
        ("filled", |p| p.filled = given(1.5)),
        ("mapping_bytes", |p| p.mapping_bytes = given(3000)),
        ("page_bytes", |p| p.page_bytes = given(5000)),
        ("write_buffer_bytes", |p| p.write_buffer_bytes = given(4096)),
        ("capacity_bytes", |p| p.capacity_bytes = given(MIB)),
    ];
    for (name, spoil) in wrong {
        let mut parameters = small();
        spoil(&mut parameters);
        let why = parameters.check().expect_err(name);
        assert!(why.starts_with(name), "{why}");
    }
    let mut huge = small();
    huge.capacity_bytes = given(1 << 44);
    assert!(
        huge.check()
            .expect_err("too many units")
            .contains("raise mapping_bytes")
    );
}
