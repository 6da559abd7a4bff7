//! The log of requests: what a cut left is made again from it, byte for byte, in another process too.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::fs::{FallocateFlags, fallocate};
use serde_json::Value;

use crate::served::{Served, serve};

const CACHED: &str = "fujitsu-mbc2073rc";
/// Not a whole number of blocks.
const SIZE_BYTES: u64 = 8 * 1024 * 1024 + 512;
const SIZE: &str = "8389120";

/// Requests of all kinds and sizes, aligned to nothing; the same for the same seed.
fn work(file: &File, seed: u64, requests: u32) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    for _ in 0..requests {
        let from = random.random_range(0..SIZE_BYTES);
        let longest = [600, 9_000, 200_000][random.random_range(0..3)];
        let length = random.random_range(1..=longest).min(SIZE_BYTES - from);
        match random.random_range(0..20) {
            0 => file.sync_data().expect("flushed"),
            1..3 => {
                let mode = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                fallocate(file, mode, from, length).expect("discarded");
            }
            3..6 => {
                let mut bytes = vec![0; usize::try_from(length).expect("small")];
                file.read_exact_at(&mut bytes, from).expect("read");
            }
            _ => {
                let bytes: Vec<u8> = (0..length).map(|_| random.random()).collect();
                file.write_all_at(&bytes, from).expect("written");
            }
        }
    }
}

/// Cuts a disk amid writes: they end when it refuses one, so a machine however busy cuts before all is in its place.
fn cut_amid_writes(served: &Served, seed: u64, keep: &str) -> Value {
    let file = served.open();
    let (begun, wait) = mpsc::channel();
    let writer = thread::spawn(move || {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut written = 0_u32;
        for number in (0..=255).cycle() {
            let at = random.random_range(0..SIZE_BYTES - 5_000);
            if file.write_all_at(&[number; 5_000], at).is_err() {
                break;
            }
            written += 1;
            if written == 200 {
                begun.send(()).expect("waited for");
            }
        }
    });
    wait.recv().expect("begun");
    let answer = served.control(&["cut", "--seed", &seed.to_string(), "--keep", keep]);
    writer.join().expect("ended");
    answer
}

fn bytes_of(path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).expect("read");
    assert_eq!(bytes.len() as u64, SIZE_BYTES);
    bytes
}

/// Replays a log on a disk of another process, which begins with an image.
fn replay(log: &Path, image: Option<&Path>) -> (Result<Value, String>, Served) {
    let mut arguments = vec!["--size", SIZE];
    if let Some(image) = image {
        arguments.extend(["--image", image.to_str().expect("plain")]);
    }
    let other = serve(CACHED, &arguments);
    let replayed = other.try_control(&["replay", log.to_str().expect("plain")]);
    (replayed, other)
}

/// A disk that was cut while it was tracked with a log.
struct Cut {
    served: Served,
    log: PathBuf,
    before: PathBuf,
    answer: Value,
    survivors: Vec<u8>,
}

fn cut(seed: u64, keep: &str) -> Cut {
    let served = serve(CACHED, &["--size", SIZE]);
    let path = |name: &str| served.folder.path().join(name);
    let (log, before) = (path("log"), path("before"));
    let file = served.open();
    served.control(&["timing", "off"]);
    work(&file, seed, 40);
    fs::copy(served.mount().join("disk"), &before).expect("copied");
    served.control(&["snapshot", "before"]);
    served.control(&["timing", "on"]);
    served.control(&["track", "on", "--log", log.to_str().expect("plain")]);
    work(&file, seed + 1, 60);
    let answer = cut_amid_writes(&served, seed, keep);
    served.control(&["restore"]);
    let survivors = bytes_of(&served.mount().join("disk"));
    Cut {
        served,
        log,
        before,
        answer,
        survivors,
    }
}

#[test]
fn a_replay_in_another_process_leaves_the_same_bytes() {
    let mut torn = 0;
    for (seed, keep) in [(1, "subset"), (2, "prefix"), (3, "nothing"), (4, "random")] {
        let cut = cut(seed, keep);
        assert!(
            cut.answer["at_risk_writes"].as_u64() > Some(1),
            "{}",
            cut.answer
        );
        torn += cut.answer["torn_writes"].as_u64().expect("a number");
        for _ in 0..2 {
            let (replayed, other) = replay(&cut.log, Some(&cut.before));
            let replayed = replayed.expect("replayed");
            for field in [
                "digest",
                "kept",
                "lost_bytes",
                "torn_writes",
                "at_risk_bytes",
            ] {
                assert_eq!(replayed[field], cut.answer[field], "{field}");
            }
            let left = bytes_of(&other.mount().join("disk"));
            assert!(left == cut.survivors, "{seed} {keep}");
        }
        // On the same disk as well.
        cut.served.control(&["restore", "before"]);
        let replayed = cut
            .served
            .control(&["replay", cut.log.to_str().expect("plain")]);
        assert_eq!(replayed["digest"], cut.answer["digest"]);
        assert!(bytes_of(&cut.served.mount().join("disk")) == cut.survivors);
    }
    assert!(torn > 0, "nothing was torn in any of them");
}

#[test]
fn a_log_that_is_not_as_it_was_written_is_refused() {
    let cut = cut(6, "subset");
    let whole = fs::read(&cut.log).expect("read");
    let folder = cut.served.folder.path();
    let refused = |name: &str, bytes: &[u8], part: &str| {
        let log = folder.join(name);
        fs::write(&log, bytes).expect("written");
        let log = log.to_str().expect("plain");
        let said = cut.served.try_control(&["replay", log]).expect_err(name);
        assert!(said.contains(part), "{name}: {said}");
    };
    let end = whole[..whole.len() - 1]
        .iter()
        .rposition(|byte| *byte == b'\n');
    let end = end.expect("a last line") + 1;
    refused("without its end", &whole[..end], "cut short");
    refused("in the middle", &whole[..whole.len() / 2], "cut short");
    refused("empty", b"", "cut short");
    refused(
        "another file",
        b"{\"log\":\"of wood\"}\n",
        "does not start with a log header",
    );
    refused(
        "longer",
        &[&whole[..], b"x"].concat(),
        "after the end record",
    );
    let mut changed = whole.clone();
    // Within the bytes of some write, most likely; a digest finds it wherever it is.
    let middle = whole.len() / 2;
    changed[middle] ^= 1;
    let log = folder.join("changed");
    fs::write(&log, &changed).expect("written");
    let refusal = |log: &Path| {
        let log = log.to_str().expect("plain");
        cut.served.try_control(&["replay", log]).expect_err(log)
    };
    refusal(&log);
    let said = refusal(&folder.join("none"));
    assert!(said.contains("none"), "{said}");
    assert!(
        bytes_of(&cut.served.mount().join("disk")) == cut.survivors,
        "it was changed"
    );
}

#[test]
fn other_bytes_than_those_with_which_it_began_are_found_out() {
    let cut = cut(7, "nothing");
    let log = cut.log.to_str().expect("plain");
    cut.served.control(&["restore", "before"]);
    let file = cut.served.open();
    file.write_all_at(&vec![1; 1 << 20], 0).expect("written");
    let before = bytes_of(&cut.served.mount().join("disk"));
    let refused = || {
        let said = cut.served.try_control(&["replay", log]);
        let said = said.expect_err("other bytes");
        assert!(
            said.contains("not those from which the log began"),
            "{said}"
        );
    };
    let now = || cut.served.control(&["describe"]);
    refused();
    assert!(bytes_of(&cut.served.mount().join("disk")) == before);
    // Its account, its log and its power are those that it had.
    let path = |name: &str| format!("{log}-{name}");
    cut.served
        .control(&["track", "on", "--log", &path("goes-on")]);
    work(&file, 1, 60);
    let described = now();
    assert_eq!(described["logged"], true);
    refused();
    assert_eq!(now(), described);
    let second = cut
        .served
        .control(&["cut", "--seed", "1", "--keep", "nothing"]);
    assert_eq!(now()["power"], false);
    refused();
    assert_eq!(now()["power"], false);
    let base = path("base");
    fs::write(&base, &before).expect("written");
    let (replayed, _) = replay(Path::new(&path("goes-on")), Some(Path::new(&base)));
    let replayed = replayed.expect("replayed");
    assert_eq!(replayed["digest"], second["digest"]);
    let other = serve(CACHED, &["--size", "1 MiB"]);
    let said = other.try_control(&["replay", log]).expect_err("smaller");
    assert!(said.contains("1048576"), "{said}");
}

#[test]
fn a_log_without_a_cut_and_one_whose_program_was_killed_say_so() {
    let mut served = serve(CACHED, &["--size", SIZE]);
    let path = |name: &str| served.folder.path().join(name);
    let (restored, killed) = (path("restored"), path("killed"));
    let track = |log: &Path| {
        served.control(&["track", "on", "--log", log.to_str().expect("plain")]);
    };
    let file = served.open();
    served.control(&["snapshot", "empty"]);
    track(&restored);
    assert_eq!(served.control(&["describe"])["logged"], true);
    work(&file, 1, 20);
    served.control(&["restore", "empty"]);
    assert_eq!(served.control(&["describe"])["logged"], false);
    let (said, _) = replay(&restored, None);
    let said = said.expect_err("no cut");
    assert!(said.contains("no cut"), "{said}");
    track(&killed);
    // A log is never written over another.
    let again = served.try_control(&["track", "on", "--log", killed.to_str().expect("plain")]);
    assert!(again.expect_err("is there").contains("cannot be made"));
    work(&file, 1, 20);
    drop(file);
    served.signal(rustix::process::Signal::KILL);
    served.ended();
    let (said, _) = replay(&killed, None);
    let said = said.expect_err("killed");
    assert!(said.contains("cut short"), "{said}");
}

/// One that fails by a fault, and one that finds no room for all of it.
#[test]
fn requests_that_fail_are_in_the_log_and_do_not_hinder_a_replay() {
    let served = serve("null", &["--size", SIZE, "--memory-limit", "64 KiB"]);
    let log = served.folder.path().join("log");
    let faults = served.folder.path().join("faults");
    let schedule = r#"{"schedule": [{"fault": "error", "on": "read", "times": 1}]}"#;
    fs::write(&faults, schedule).expect("written");
    served.control(&["faults", faults.to_str().expect("plain")]);
    served.control(&["track", "on", "--log", log.to_str().expect("plain")]);
    let file = served.open();
    file.read_exact_at(&mut [0; 512], 512).expect_err("a fault");
    file.write_all_at(&vec![1; 12 * 4096 + 100], 0)
        .expect("room");
    file.write_all_at(&vec![2; 8 * 4096], 1 << 20)
        .expect_err("no room");
    file.write_all_at(&[3; 512], 4096).expect("room");
    let answer = served.control(&["cut", "--seed", "1"]);
    let text = String::from_utf8_lossy(&fs::read(&log).expect("read")).into_owned();
    for part in [
        r#"{"failed":{"request":"read","number":0,"offset_bytes":512,"length_bytes":512,"#,
        r#"{"failed":{"request":"write","number":2,"offset_bytes":1048576,"length_bytes":32768,"#,
    ] {
        assert!(text.contains(part), "{part}");
    }
    let (replayed, _) = replay(&log, None);
    let replayed = replayed.expect("replayed");
    assert_eq!(replayed["digest"], answer["digest"]);
}
