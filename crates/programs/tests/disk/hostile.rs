//! Hostile surroundings: kills at any moment, files that are none, requests of all kinds.
//!
//! `PROPTEST_CASES` sets the number of cases and of kills.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::fs::{CWD, Mode, mkfifoat};
use rustix::mount::{UnmountFlags, unmount};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::served::{self, PATIENCE, Served, command, folder, is_mounted, program, serve};

/// Cases of what takes long, unless `PROPTEST_CASES` says otherwise.
fn cases(few: u32) -> u32 {
    std::env::var("PROPTEST_CASES").map_or(few, |cases| cases.parse().expect("a number"))
}

fn config(few: u32) -> ProptestConfig {
    ProptestConfig {
        cases: cases(few),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Runs the program to its end, which comes soon and in order.
fn run(mut command: Command) -> Output {
    let mut process = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    served::wait_for(&mut process);
    let output = process.wait_with_output().expect("it ended");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!stderr.contains("panicked"), "{stderr}");
    output
}

fn say(words: &[&OsStr]) -> Output {
    let mut command = Command::new(program());
    command.args(words);
    run(command)
}

/// A killed program ends, and its mount can be removed: it does not wait for its own answers.
#[test]
fn hostile_kills() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(13);
    for nth in 0..cases(12) {
        let folder = folder();
        let mount = folder.path().join("mount");
        let form = ["file", "directory"][random.random_range(0..2)];
        let signal = [Signal::KILL, Signal::KILL, Signal::TERM][random.random_range(0..3)];
        let mut process = command("null", folder.path(), &["--as", form, "--size", "8 MiB"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let begun = Instant::now();
        while nth % 2 == 0 && !is_mounted(&mount) && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(random.random_range(0..200)));
        // It may have ended.
        let _ = kill_process(Pid::from_child(&process), signal);
        served::wait_for(&mut process);
        let begun = Instant::now();
        // The probe dies a moment after its server.
        while is_mounted(&mount) {
            assert!(begun.elapsed() < PATIENCE, "{nth}: {form} {signal:?}");
            let _ = unmount(&mount, UnmountFlags::empty());
        }
    }
}

/// While the path is measured, a thread of the program that waits for the mount could never be killed.
#[test]
fn hostile_moments_find_no_file_of_its_own_open() {
    let folder = folder();
    let mount = folder.path().join("mount");
    let mut process = command("null", folder.path(), &["--size", "1 MiB"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let open = format!("/proc/{}/fd", process.id());
    let mut ready = BufReader::new(process.stdout.take().expect("piped"));
    let measured = std::thread::scope(|threads| {
        let line = threads.spawn(|| ready.read_line(&mut String::new()).expect("a line"));
        let mut looked = 0;
        while !line.is_finished() {
            // Before it mounts, it looks whether the directory is empty.
            if !is_mounted(&mount) {
                continue;
            }
            for file in fs::read_dir(&open).into_iter().flatten().flatten() {
                let file = fs::read_link(file.path()).unwrap_or_default();
                assert!(!file.starts_with(&mount), "{}", file.display());
            }
            looked += 1;
        }
        looked
    });
    assert!(measured > 0, "nobody looked in time");
    kill_process(Pid::from_child(&process), Signal::TERM).expect("it lives");
    served::wait_for(&mut process);
}

/// A log on the disk itself would wait for its own requests.
#[test]
fn hostile_logs_on_the_disk_itself() {
    let served = serve("null", &["--size", "1 MiB"]);
    let (mount, folder) = (served.mount(), served.folder.path());
    let link = folder.join("link");
    symlink(&mount, &link).expect("a link");
    symlink("link", folder.join("second")).expect("a link");
    symlink("/proc/self/cwd", folder.join("magic")).expect("a link");
    for (log, part) in [
        (mount.join("log"), "lies on this disk"),
        (mount.join("absent/log"), "lies on this disk"),
        (mount.join("../mount/log"), "lies on this disk"),
        (link.join("log"), "lies on this disk"),
        (folder.join("second/log"), "lies on this disk"),
        (mount.join("disk"), "lies on this disk"),
        (link.clone(), "exists"),
        (folder.join("absent/log"), "No such file"),
        (folder.join("slow/.."), "not the path of a file"),
        (Path::new("/").to_owned(), "not the path of a file"),
        (Path::new("").to_owned(), "not the path of a file"),
    ] {
        let reply = ask(&served, &json!({"do": "track", "on": true, "log": log}));
        let error = reply["error"].as_str().unwrap_or_default();
        assert!(error.contains(part), "{}: {reply}", log.display());
    }
    for (log, part) in [
        (mount.join("disk"), "lies on this disk"),
        (link.join("disk"), "lies on this disk"),
        (folder.to_owned(), "not a regular file"),
        (Path::new("/dev/zero").to_owned(), "not a regular file"),
    ] {
        let reply = ask(&served, &json!({"do": "replay", "log": log}));
        let error = reply["error"].as_str().unwrap_or_default();
        assert!(error.contains(part), "{}: {reply}", log.display());
    }
    // A way that only passes the mount is no harm, and neither is a link elsewhere.
    let elsewhere = folder.join("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder");
    symlink(&elsewhere, folder.join("away")).expect("a link");
    let log = folder.join("away/log");
    let reply = ask(&served, &json!({"do": "track", "on": true, "log": log}));
    assert_eq!(reply["ok"], true, "{reply}");
    assert!(elsewhere.join("log").exists());
}

#[test]
fn hostile_sockets_in_the_mount() {
    let folder = folder();
    let mount = folder.path().join("mount");
    symlink(&mount, folder.path().join("link")).expect("a link");
    for socket in [mount.join("socket"), folder.path().join("link/socket")] {
        let mut serve = Command::new(program());
        serve.args(["serve", "null", "--mount"]).arg(&mount);
        serve.arg("--socket").arg(&socket);
        let output = run(serve);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("would hide it"), "{said}");
        assert!(!is_mounted(&mount));
    }
}

#[test]
fn hostile_keys_are_refused_by_every_request() {
    let served = serve("null", &["--size", "1 MiB"]);
    for mut request in [
        json!({"do": "describe"}),
        json!({"do": "statistics"}),
        json!({"do": "reset"}),
        json!({"do": "timing", "on": true}),
        json!({"do": "snapshot", "name": "a"}),
        json!({"do": "restore"}),
        json!({"do": "forget", "name": "a"}),
        json!({"do": "track", "on": true}),
        json!({"do": "cut", "seed": 1}),
        json!({"do": "faults", "schedule": []}),
        json!({"do": "replay", "log": "/absent"}),
        json!({"do": "detach"}),
    ] {
        request["surplus"] = 1.into();
        let reply = ask(&served, &request);
        let error = reply["error"].as_str().unwrap_or_default();
        assert!(error.contains("`surplus`"), "{request}: {reply}");
    }
}

/// Pipes, devices and directories in the place of files are neither waited for nor read without end.
#[test]
fn hostile_files_that_are_none() {
    let folder = folder();
    let served = serve("null", &["--size", "1 MiB"]);
    let at = |name: &str| folder.path().join(name);
    mkfifoat(CWD, at("pipe.toml"), Mode::RUSR | Mode::WUSR).expect("a pipe");
    symlink("/dev/zero", at("zero.toml")).expect("a link");
    fs::create_dir(at("folder.toml")).expect("a folder");
    let huge = File::create(at("huge.toml")).expect("a file");
    huge.set_len(8 << 30).expect("a hole");
    for name in ["pipe.toml", "zero.toml", "folder.toml", "huge.toml"] {
        let file = at(name);
        let (file, mount) = (file.as_os_str(), at("mount"));
        let (socket, theirs) = (at("socket"), served.socket());
        let word = OsStr::new;
        let serve = |device: &'static str, option: &'static str| {
            let front = ["serve", device, "--mount"].map(OsStr::new);
            let back = [mount.as_os_str(), word("--socket"), socket.as_os_str()];
            [&front[..], &back, &[word(option), file]].concat()
        };
        let mut attempts = vec![
            vec![word("show"), file],
            vec![word("simulate"), file, word("--probes"), file],
            vec![word("simulate"), word("null"), word("--probes"), file],
            vec![word("simulate"), word("null"), word("--transactions"), file],
            vec![word("control"), theirs.as_os_str(), word("faults"), file],
            vec![word("control"), theirs.as_os_str(), word("replay"), file],
        ];
        if name != "huge.toml" {
            attempts.push(serve("null", "--image"));
        }
        for words in attempts {
            let output = say(&words);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
            assert!(said.starts_with("diskproof-disk: "), "{words:?}: {said}");
        }
    }
    assert!(!is_mounted(&at("mount")));
}

#[test]
fn hostile_marks_before_a_text_are_left_out() {
    let folder = folder();
    let schedule = folder.path().join("faults.json");
    fs::write(&schedule, "\u{feff}{\"schedule\": []}").expect("a file");
    let served = serve("null", &["--size", "1 MiB"]);
    let reply = served.control(&["faults", schedule.to_str().expect("plain")]);
    assert_eq!(reply["scheduled"], 0);
    let device = served::slow_device(folder.path(), 5);
    let text = fs::read_to_string(&device).expect("text");
    fs::write(&device, format!("\u{feff}{text}")).expect("a file");
    assert!(say(&["show", &device].map(OsStr::new)).status.success());
}

/// Somebody who has seen enough ends the program quietly; a full disk does not.
#[test]
fn hostile_readers() {
    let served = serve("null", &["--size", "1 MiB"]);
    let socket = served.socket();
    let socket = socket.to_str().expect("plain");
    let folder = folder();
    let probe = folder.path().join("probe");
    let one =
        r#"{"probe": {"pattern": "mixed", "block_bytes": 4096}, "seconds": 1, "requests": 10}"#;
    fs::write(&probe, one).expect("a file");
    let probe = probe.to_str().expect("plain");
    for words in [
        &["list"][..],
        &["list", "--json"],
        &["show", "null"],
        &["simulate", "null", "--probes", probe],
        &["control", socket, "describe"],
        &["control", socket, "absent"],
        &["floor"],
        &["--help"],
    ] {
        let (closed, output) = std::io::pipe().expect("a pipe");
        let (closed_too, errors) = std::io::pipe().expect("a pipe");
        drop((closed, closed_too));
        let mut process = Command::new(program())
            .args(words)
            .stdout(output)
            .stderr(errors)
            .spawn()
            .expect("the program starts");
        let code = served::wait_for(&mut process).code();
        let expected = if words.contains(&"absent") { 2 } else { 0 };
        assert_eq!(code, Some(expected), "{words:?}");
        if words.contains(&"absent") || words.contains(&"--help") {
            continue;
        }
        let full = File::create("/dev/full").expect("always full");
        let mut command = Command::new(program());
        let process = command.args(words).stdout(full).stderr(Stdio::piped());
        let output = process.spawn().expect("it starts").wait_with_output();
        let output = output.expect("it ends");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains("cannot write to standard output"), "{said}");
    }
}

/// No output has a character that commands a terminal or turns the direction of text.
fn check_harmless(output: &Output) {
    for bytes in [&output.stdout, &output.stderr] {
        let text = std::str::from_utf8(bytes).expect("text");
        let harms = |mark: char| {
            (mark.is_control() && mark != '\n') || "\u{200e}\u{202e}\u{2066}".contains(mark)
        };
        assert!(!text.contains(harms), "{text:?}");
    }
}

#[test]
fn hostile_characters_do_not_reach_a_terminal() {
    const HARM: &str = "\u{1b}[2J\u{9b}31m\u{7f}\r\u{202e}\u{2066}\u{200e}";
    let folder = folder();
    let device = served::slow_device(folder.path(), 5);
    let text = fs::read_to_string(&device).expect("text");
    let marks = HARM.chars().map(u32::from);
    let escaped: Vec<String> = marks.map(|mark| format!("\\u{mark:04x}")).collect();
    let escaped = escaped.concat();
    fs::write(&device, text.replace("\"Slow\"", &format!("\"{escaped}\""))).expect("a file");
    let shown = say(&["show", &device].map(OsStr::new));
    check_harmless(&shown);
    let shown: Value = serde_json::from_slice(&shown.stdout).expect("JSON");
    assert_eq!(shown["title"], HARM, "the title is what it was");
    let wrong = folder.path().join(format!("{HARM}.toml"));
    fs::write(&wrong, format!("title = {HARM}")).expect("a file");
    let invalid = OsStr::from_bytes(b"\xff\x1b[2J.toml");
    let mut served = command("null", folder.path(), &["--size", HARM]);
    served.arg("--seed").arg(HARM);
    for output in [
        say(&[OsStr::new("show"), wrong.as_os_str()]),
        say(&["show", HARM].map(OsStr::new)),
        say(&[OsStr::new("show"), invalid]),
        say(&["simulate", "null", "--probes", HARM].map(OsStr::new)),
        say(&[HARM].map(OsStr::new)),
        say(&["control", HARM, "describe"].map(OsStr::new)),
        run(served),
    ] {
        assert_eq!(output.status.code(), Some(2));
        check_harmless(&output);
        assert!(!output.stderr.is_empty());
    }
}

fn connect(served: &Served) -> UnixStream {
    let stream = UnixStream::connect(served.socket()).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
    stream.set_write_timeout(Some(PATIENCE)).expect("a limit");
    stream
}

fn ask(served: &Served, request: &Value) -> Value {
    let mut stream = connect(served);
    writeln!(stream, "{request}").expect("sent");
    let mut reply = String::new();
    BufReader::new(stream)
        .read_line(&mut reply)
        .expect("an answer");
    serde_json::from_str(&reply).expect(&reply)
}

/// Sends bytes and reads all that comes back: lines of JSON that say whether it was done.
fn converse(served: &Served, bytes: &[u8]) {
    let mut stream = connect(served);
    // A connection with a line that is too long is closed before all of it is read.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let mut replies = Vec::new();
    if let Err(error) = stream.read_to_end(&mut replies) {
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{error}");
    }
    for line in replies.split(|byte| *byte == b'\n') {
        if !line.is_empty() {
            let reply: Value = serde_json::from_slice(line).expect("JSON");
            assert!(reply["ok"].is_boolean(), "{reply}");
        }
    }
}

fn hostile_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        ".{0,20}".prop_map(Value::from),
        prop::sample::select(vec![
            "",
            "a",
            "/",
            "/dev/zero",
            "/dev/null",
            "/proc/self/fd/0",
            "/proc/self/mem",
            "..",
            "\u{0}",
            "/absent/log",
        ])
        .prop_map(Value::from),
        (1..300_usize).prop_map(|length| Value::from("n".repeat(length * length))),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,6}", inner, 0..4).prop_map(|map| json!(map)),
        ]
    })
}

/// A request that may nearly be one. Only an orderly `detach` is never asked.
fn hostile_request() -> impl Strategy<Value = Vec<u8>> {
    let verbs = [
        "describe",
        "statistics",
        "reset",
        "timing",
        "snapshot",
        "restore",
        "forget",
        "track",
        "cut",
        "faults",
        "replay",
        "explode",
        "",
    ];
    let keys = [
        "on", "name", "seed", "log", "keep", "schedule", "do", "surplus",
    ];
    let fields = (prop::sample::select(keys.to_vec()), hostile_value());
    let fields = prop::collection::vec(fields, 0..4);
    let request = (prop::sample::select(verbs.to_vec()), fields).prop_map(|(verb, fields)| {
        let mut request = json!({"do": verb});
        for (key, value) in fields {
            request[key] = value;
        }
        request.to_string().into_bytes()
    });
    prop_oneof![
        6 => request,
        1 => prop::collection::vec(any::<u8>(), 0..200),
        1 => hostile_value().prop_map(|value| value.to_string().into_bytes()),
        1 => (0..400_usize).prop_map(|deep| "[".repeat(deep * deep).into_bytes()),
        1 => Just(vec![b'x'; 70_000]),
        1 => Just(br#"{"do":"#.to_vec()),
    ]
}

#[test]
fn hostile_requests() {
    let mut served = serve("null", &["--size", "1 MiB", "--memory-limit", "1 MiB"]);
    let requests = prop::collection::vec((hostile_request(), prop::bool::weighted(0.9)), 0..8);
    let outcome = TestRunner::new(config(300)).run(&requests, |requests| {
        let mut bytes = Vec::new();
        for (request, ended) in requests {
            bytes.extend(request);
            bytes.extend(ended.then_some(b'\n'));
        }
        converse(&served, &bytes);
        Ok(())
    });
    assert!(outcome.is_ok(), "{outcome:?}");
    assert_eq!(served.statistics()["ok"], true);
    served.control(&["detach"]);
    assert_eq!(served.ended(), Some(0));
    served.check_clean();
}

/// Many connections that send half a line and stay.
#[test]
fn hostile_connections() {
    let served = serve("null", &["--size", "1 MiB"]);
    let halves: Vec<UnixStream> = (0..200)
        .map(|_| {
            let mut stream = connect(&served);
            let _ = stream.write_all(br#"{"do":"#);
            stream
        })
        .collect();
    drop(halves);
    let begun = Instant::now();
    while served.try_control(&["reset"]).is_err() {
        assert!(begun.elapsed() < PATIENCE, "it never listens again");
    }
}

/// Files that name each other twice are as many devices as two to the power of their number.
#[test]
fn hostile_files_that_name_each_other_twice() {
    let folder = TempDir::new().expect("a folder");
    let cache = |disk: &str| {
        format!(
            "title = \"Twice\"\ndescription = \"\"\n[device.cache]\n\
             line_bytes = {{ value = 4096, source = \"\" }}\n\
             front = {{ named = \"{disk}\" }}\nback = {{ named = \"{disk}\" }}\n"
        )
    };
    for nth in 0..40 {
        let file = folder.path().join(format!("{nth}.toml"));
        fs::write(file, cache(&format!("{}.toml", nth + 1))).expect("a file");
    }
    let last = "title = \"Last\"\ndescription = \"\"\n[device.null]\ncapacity_bytes = { value = 1048576, source = \"\" }\n";
    fs::write(folder.path().join("40.toml"), last).expect("a file");
    let output = say(&[OsStr::new("show"), folder.path().join("0.toml").as_os_str()]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("more than 1024 devices"), "{said}");
    let output = say(&[
        OsStr::new("show"),
        folder.path().join("35.toml").as_os_str(),
    ]);
    assert!(output.status.success(), "32 are no harm");
}
