//! What queueing theory says of the same clients.

use super::*;
use crate::device::{self, Build};
use crate::timing::Memory;

fn load(clients: u32, cores: u32) -> Load {
    serde_json::from_value(serde_json::json!({
        "clients": clients, "cores": cores, "cpu_us": 1000.0, "data_bytes": 1 << 30,
        "disk_bytes": 4_u64 << 30, "warm_up_s": 2.0, "measure_s": 60.0, "transactions": 100_000,
        "bursts": 4,
    }))
    .expect("the fields are those of a load")
}

fn on_null(load: &Load) -> Outcome {
    run(&mut Memory::without_delay(8 << 30), load).expect("the load is possible")
}

fn close(found: f64, expected: f64, within: f64) {
    assert!(
        (found / expected - 1.0).abs() < within,
        "{found} instead of {expected}"
    );
}

#[test]
fn full_cores_give_what_they_can_serve() {
    let outcome = on_null(&load(20, 2));
    close(outcome.per_s, 2000.0, 0.02);
    close(outcome.mean_us, 10_000.0, 0.03);
    close(outcome.cpu_share, 1.0, 0.01);
}

#[test]
fn a_single_client_never_waits() {
    let outcome = on_null(&load(1, 2));
    close(outcome.per_s, 1000.0, 0.02);
    close(outcome.cpu_share, 0.5, 0.02);
}

#[test]
fn clients_share_flushes_of_a_turning_disk() {
    let disk = device::open("desktop-7200").expect("it comes with the program");
    let at = |clients| {
        let load = Load {
            commits: 1.0,
            logs: vec![Log {
                bytes: 500,
                grows: false,
                alone: false,
            }],
            cpu_us: 100.0,
            ..load(clients, 2)
        };
        let mut timing = disk.device.build(Build::seeded(1));
        run(timing.as_mut(), &load).expect("the load is possible")
    };
    let (alone, many) = (at(1), at(16));
    close(alone.flushes, 1.0, 0.01);
    // 7,200 turns a minute: at most one flush a turn.
    assert!((60.0..=121.0).contains(&alone.per_s), "{}", alone.per_s);
    assert!(many.group > 6.0, "{}", many.group);
    assert!(many.per_s > 5.0 * alone.per_s, "{}", many.per_s);
    close(many.log_us + many.cpu_us, many.mean_us, 0.02);
}

#[test]
fn commits_that_go_alone_share_nothing() {
    let disk = device::open("desktop-7200").expect("it comes with the program");
    let load = Load {
        commits: 1.0,
        logs: vec![Log {
            bytes: 500,
            grows: false,
            alone: true,
        }],
        cpu_us: 100.0,
        ..load(16, 2)
    };
    let mut timing = disk.device.build(Build::seeded(1));
    let outcome = run(timing.as_mut(), &load).expect("the load is possible");
    close(outcome.group, 1.0, 0.001);
    assert!(outcome.per_s < 121.0, "{}", outcome.per_s);
}

#[test]
fn half_of_the_transactions_read() {
    let disk = device::open("desktop-7200").expect("it comes with the program");
    let load = Load {
        reads: 0.5,
        ..load(1, 1)
    };
    let mut timing = disk.device.build(Build::seeded(1));
    let outcome = run(timing.as_mut(), &load).expect("the load is possible");
    close(outcome.reads_us, 0.5 * outcome.read_us, 0.05);
    assert!(outcome.read_us > 3000.0, "{}", outcome.read_us);
}

#[test]
fn locks_take_their_share() {
    let outcome = on_null(&Load {
        lock_share: 0.5,
        ..load(1, 1)
    });
    close(outcome.mean_us, 1500.0, 0.03);
}

#[test]
fn pages_are_written_behind() {
    let outcome = on_null(&Load {
        page_writes: 0.7,
        doublewrite: true,
        ..load(8, 2)
    });
    close(outcome.page_writes, 0.7, 0.02);
    assert!(outcome.pages_owed < 16.0);
}

#[test]
fn pages_are_not_written_while_the_log_has_room() {
    let outcome = on_null(&Load {
        page_writes: 0.7,
        page_writes_after: 1e9,
        ..load(8, 2)
    });
    assert!(outcome.page_writes < 1e-9, "{}", outcome.page_writes);
}

#[test]
fn the_same_seed_gives_the_same_figures() {
    let outcomes = [(); 2].map(|()| on_null(&load(4, 2)).per_s);
    assert!((outcomes[0] - outcomes[1]).abs() < f64::EPSILON);
}

#[test]
fn what_cannot_be_is_refused() {
    let none = Load {
        clients: 0,
        ..load(1, 1)
    };
    assert!(none.check().unwrap_err().contains("clients is 0"));
    let no_number = Load {
        cpu_us: f64::NAN,
        ..load(1, 1)
    };
    assert!(no_number.check().unwrap_err().contains("cpu_us"));
    assert!(run(&mut Memory::without_delay(1 << 20), &load(1, 1)).is_err());
}
