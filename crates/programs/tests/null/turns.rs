//! Programs that take turns.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;

use crate::Program;

fn start(turn: &str) -> Program {
    Program::start(&[
        "--json",
        "--lockstep",
        "--seconds",
        "0.2",
        "--turn",
        turn,
        "--window",
        "0.1",
        "--report-interval",
        "1",
    ])
}

/// When each window began, in seconds since 1970, and the summary.
fn follow(mut program: Program) -> (Vec<f64>, Value) {
    let mut began_s = Vec::new();
    let mut measuring_s = 0.0;
    loop {
        let event = program.event();
        match event["event"].as_str() {
            Some("measuring") => measuring_s = event["unix_s"].as_f64().expect("a time"),
            Some("interval") => {
                began_s.push(measuring_s + event["start_s"].as_f64().expect("a time"));
            }
            Some("idle") => program.say_go_on(),
            Some("summary") => {
                assert!(program.end().success());
                return (began_s, event);
            }
            _ => {}
        }
    }
}

#[test]
fn programs_that_begin_at_one_moment_take_turns() {
    let mut programs = [start("1/2"), start("2/2")];
    let now = Duration::try_from(clock_gettime(ClockId::Monotonic)).expect("a time");
    let at = now + Duration::from_millis(400);
    for program in &mut programs {
        program.expect("ready");
        program.say(&at.as_nanos().to_string());
    }
    let [(first_s, first), (second_s, second)] = programs.map(follow);
    let after_s: Vec<_> = [second_s[0], second_s[1], first_s[1]]
        .iter()
        .map(|at_s| at_s - first_s[0])
        .collect();
    for (found_s, expected_s) in after_s.iter().zip([0.12, 0.24, 0.36]) {
        // A busy machine gives a program's calendar and its clock at two moments.
        assert!((found_s - expected_s).abs() < 0.05, "{after_s:?}");
    }
    for summary in [first, second] {
        assert!(summary["seconds"].as_f64() > Some(0.15), "{summary}");
        assert_eq!(summary["windows"]["runs"], 2);
        assert_eq!(summary["windows"]["seconds"], 0.1);
    }
}

#[test]
fn a_moment_that_has_passed_is_refused() {
    let mut program = start("1/2");
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
