//! Programs that begin at a named moment.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::Program;

#[test]
fn a_moment_that_has_passed_is_refused() {
    let mut program = Program::start(&["--json", "--lockstep", "--seconds", "0.2"]);
    program.expect("ready");
    program.say("1");
    let failed = program.expect("failed");
    assert_eq!(failed["code"], "late");
    assert_eq!(program.end().code(), Some(1));
}

#[test]
fn a_run_alone_begins_at_the_named_moment() {
    let mut program = Program::start(&[
        "--json",
        "--lockstep",
        "--warm-up",
        "0.1",
        "--seconds",
        "0.1",
    ]);
    program.expect("ready");
    let now = Duration::try_from(clock_gettime(ClockId::Monotonic)).expect("a time");
    let at = now + Duration::from_millis(300);
    program.say(&at.as_nanos().to_string());
    program.expect("warming");
    let began = Duration::try_from(clock_gettime(ClockId::Monotonic)).expect("a time");
    assert!(began >= at, "{began:?} {at:?}");
    let measured_at = (at + Duration::from_millis(100)).as_nanos();
    let told = program.expect("measuring")["monotonic_ns"]
        .as_u64()
        .expect("a time");
    // It reads its two clocks one after the other.
    assert!(
        u128::from(told).abs_diff(measured_at) < 1_000_000,
        "{told} {measured_at}"
    );
}
