//! The program without a database: the command line, the phases, the accounts.

mod conditions;
mod hostile_scripts;
mod ledger;
mod lua;
mod moments;
mod oltp;
#[path = "../support/program.rs"]
#[allow(dead_code, reason = "what only tests with a database need")]
mod program;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The program with its streams in our hands.
struct Program {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Program {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_diskproof-load"))
            .args(["run", "oltp", "--url", "null:"])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let stdout = child.stdout.take().expect("a pipe");
        Self {
            stdin: child.stdin.take(),
            child,
            lines: BufReader::new(stdout).lines(),
        }
    }

    fn event(&mut self) -> Value {
        let line = self.lines.next().expect("a line").expect("text");
        serde_json::from_str(&line).expect(&line)
    }

    fn expect(&mut self, event: &str) -> Value {
        let found = self.event();
        assert_eq!(found["event"], event, "{found}");
        found
    }

    fn say_go_on(&mut self) {
        self.say("");
    }

    fn say(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().expect("open"), "{line}").expect("the program listens");
    }

    fn interrupt(&self) {
        let pid = self.child.id().to_string();
        let status = Command::new("kill").args(["-s", "INT", &pid]).status();
        assert!(status.expect("kill starts").success());
    }

    /// Waits for the end, which must come soon.
    fn end(mut self) -> ExitStatus {
        let deadline = Instant::now() + Duration::from_secs(5);
        loop {
            if let Some(status) = self.child.try_wait().expect("a child of ours") {
                return status;
            }
            if Instant::now() > deadline {
                let _ = self.child.kill();
                panic!("the program did not end");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn lockstep_waits_twice() {
    let arguments = [
        "--json",
        "--lockstep",
        "--seconds",
        "0.2",
        "--warm-up",
        "0.1",
    ];
    let mut program = Program::start(
        &[
            &arguments[..],
            &["--report-interval", "0.1", "--mix", "complex"],
        ]
        .concat(),
    );
    let ready = program.expect("ready");
    assert_eq!(
        (&ready["mix"], &ready["protocol"]),
        (&"complex".into(), &1.into())
    );
    assert_eq!(ready["statements"].as_array().map(Vec::len), Some(11));
    program.say_go_on();
    program.expect("warming");
    let mut phases = Vec::new();
    let mut measured_s = Value::Null;
    let last = loop {
        let event = program.event();
        match event["event"].as_str() {
            Some("measuring") => assert!(event["unix_s"].as_f64() > Some(1.7e9), "{event}"),
            Some("interval") => phases.push(event["phase"].as_str().expect("a phase").to_owned()),
            Some("measured") => measured_s = event["seconds"].clone(),
            _ => break event,
        }
    };
    assert_eq!(phases, ["warm-up", "measure", "measure"]);
    assert_eq!(measured_s, 0.2);
    assert_eq!(last["event"], "idle");
    program.say_go_on();
    let summary = program.expect("summary");
    assert!(
        summary["latency_us"]["histogram"]
            .as_str()
            .unwrap()
            .starts_with("HISTFAAA")
    );
    assert_eq!(
        summary["client"]["delay_us"],
        Value::Null,
        "nothing is announced"
    );
    assert_eq!(program.end().code(), Some(0));
}

#[test]
fn the_end_of_input_ends_the_program() {
    for after_start in [false, true] {
        let mut program = Program::start(&["--json", "--lockstep", "--seconds", "600"]);
        program.expect("ready");
        if after_start {
            program.say_go_on();
            program.expect("measuring");
        }
        program.stdin = None;
        assert_eq!(program.end().code(), Some(1));
    }
}

#[test]
fn an_interrupt_ends_the_measured_phase_and_keeps_it() {
    let mut program = Program::start(&["--json", "--seconds", "600", "--report-interval", "0.1"]);
    program.expect("ready");
    program.expect("measuring");
    let first = program.expect("interval");
    program.interrupt();
    let mut transactions = first["transactions"].as_u64().unwrap();
    let summary = loop {
        let event = program.event();
        match event["event"].as_str() {
            Some("interval") => transactions += event["transactions"].as_u64().unwrap(),
            Some("measured" | "idle") => {}
            _ => break event,
        }
    };
    assert_eq!(summary["event"], "summary");
    assert_eq!(summary["interrupted"], true);
    assert_eq!(summary["transactions"], transactions);
    assert!(
        (0.1..60.0).contains(&summary["seconds"].as_f64().unwrap()),
        "{summary}"
    );
    assert_eq!(program.end().code(), Some(130));
}

#[test]
fn an_interrupt_before_the_measured_phase_leaves_nothing_to_say() {
    let mut program = Program::start(&["--json", "--seconds", "1", "--warm-up", "600"]);
    program.expect("ready");
    program.expect("warming");
    program.interrupt();
    assert!(program.lines.next().is_none());
    assert_eq!(program.end().code(), Some(130));
}

#[test]
fn output_that_no_one_reads_ends_the_program() {
    let mut program = Program::start(&["--seconds", "600", "--report-interval", "0.05"]);
    assert!(program.lines.next().is_some());
    let Program {
        child,
        stdin,
        lines,
    } = program;
    drop(lines);
    let (reader, _writer) = std::io::pipe().expect("a pipe");
    let program = Program {
        child,
        stdin,
        lines: BufReader::new(std::process::ChildStdout::from(std::os::fd::OwnedFd::from(
            reader,
        )))
        .lines(),
    };
    assert_eq!(program.end().code(), Some(1));
}

#[test]
fn a_number_of_transactions_is_exact() {
    let arguments = [
        "--json",
        "--transactions",
        "1001",
        "--clients",
        "5",
        "--workers",
        "2",
    ];
    let mut program = Program::start(&arguments);
    program.expect("ready");
    assert_eq!(program.expect("measuring")["seconds"], Value::Null);
    program.expect("measured");
    program.expect("idle");
    let summary = program.expect("summary");
    assert_eq!(summary["transactions"], 1001);
    assert_eq!(summary["statements"], 20 * 1001);
    assert_eq!(summary["reads"], 14 * 1001);
    assert_eq!(program.end().code(), Some(0));
}

#[test]
fn a_person_sees_intervals_and_a_block() {
    let output = Command::new(env!("CARGO_BIN_EXE_diskproof-load"))
        .args([
            "run",
            "oltp",
            "--url",
            "null:",
            "--seconds",
            "0.2",
            "--report-interval",
            "0.1",
        ])
        .args(["--percentiles", "50,99.9", "--clients", "2"])
        .output()
        .expect("the program starts");
    let text = String::from_utf8(output.stdout).unwrap();
    for part in [
        "tps",
        "p99.9",
        "point_select",
        "transactions",
        "reconnects",
        "client.cpu_user_s",
    ] {
        assert!(text.contains(part), "no {part} in:\n{text}");
    }
    assert_eq!(output.status.code(), Some(0));
}

/// What the program prints for a person.
fn text(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_diskproof-load"))
        .args(["run", "oltp", "--url", "null:"])
        .args(arguments)
        .output()
        .expect("the program starts");
    assert_eq!(output.status.code(), Some(0));
    String::from_utf8(output.stdout).expect("text")
}

/// A figure of the open loop.
fn figure<'a>(text: &'a str, name: &str) -> &'a str {
    let name = format!("rate.{name} ");
    let line = text
        .lines()
        .find(|line| line.trim_start().starts_with(&name));
    line.and_then(|line| line.split_whitespace().last())
        .expect(text)
}

#[test]
fn an_open_loop_in_words() {
    let arguments = ["--seconds", "0.5", "--report-interval", "0.1"];
    // The verdict tolerates a share of the phase: half a second's is shorter than a pause of a
    // busy core.
    let even = "--seconds 3 --report-interval 0.1 --rate 20 --arrivals even --clients 4";
    let held = text(&even.split(' ').collect::<Vec<_>>());
    assert!(held.contains(" s behind"), "{held}");
    assert_eq!(
        ["asked_per_s", "arrivals", "held"].map(|name| figure(&held, name)),
        ["20.000", "\"even\"", "true"]
    );
    let flooded = text(&[&arguments[..], &["--rate", "1e7"]].concat());
    assert_eq!(
        ["arrivals", "held"].map(|name| figure(&flooded, name)),
        ["\"poisson\"", "false"]
    );
    assert!(!text(&["--seconds", "0.1"]).contains("behind"));
}

#[test]
fn percentiles_with_little_behind_them_are_marked() {
    let arguments = [
        "--mix",
        "point-select",
        "--skip-trx",
        "--transactions",
        "500",
    ];
    let marked = text(&[&arguments[..], &["--percentiles", "50,98,99"]].concat());
    let row = marked
        .lines()
        .find(|line| line.contains("transaction  "))
        .expect(&marked);
    assert_eq!(
        row.matches('~').count(),
        1,
        "of 500, five lie beyond the 99th: {row}"
    );
    let last = row.split_whitespace().last();
    assert!(last.is_some_and(|p99| p99.starts_with('~')), "{row}");
    assert!(marked.contains("fewer than ten lie beyond it"), "{marked}");
    let firm = text(&[&arguments[..], &["--percentiles", "50,98"]].concat());
    assert!(!firm.contains('~'), "{firm}");
}

#[test]
fn an_interrupt_is_heard_while_the_server_says_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("socket");
    let _silent = std::os::unix::net::UnixListener::bind(&path).expect("a listener");
    let url = format!("mysql://root@localhost/test?socket={}", path.display());
    let child = Command::new(env!("CARGO_BIN_EXE_diskproof-load"))
        .args(["run", "oltp", "--url", &url, "--json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = child.expect("the program starts");
    let stdout = child.stdout.take().expect("a pipe");
    let program = Program {
        child,
        stdin: None,
        lines: BufReader::new(stdout).lines(),
    };
    std::thread::sleep(Duration::from_millis(500));
    program.interrupt();
    // Before the run has begun, a signal does what it does to every program.
    assert!(matches!(program.end().code(), None | Some(130)));
}

#[test]
fn wrong_arguments_are_refused_before_anything_starts() {
    let refused = |arguments: &[&str], words: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_diskproof-load"))
            .args(["run", "oltp", "--json"])
            .args(arguments)
            .output()
            .expect("the program starts");
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {complaint}");
        assert!(complaint.contains(words), "{arguments:?}: {complaint}");
        let said: Value = serde_json::from_slice(&output.stdout).expect("one line");
        assert_eq!(
            (&said["event"], &said["code"]),
            (&"failed".into(), &"arguments".into())
        );
    };
    refused(
        &["--url", "mysql://root:secret@localhost/db"],
        "DISKPROOF_PASSWORD",
    );
    refused(&["--url", "mysql://root@localhost/db?sokcet=/x"], "sokcet");
    refused(&["--url", "oracle://root@localhost/db"], "oracle");
    refused(&["--url", "null:", "--mix", "complx"], "complex");
    refused(&["--url", "null:", "--clients", "0"], "--clients");
    refused(&["--url", "null:", "--seconds", "0"], "more than 0");
    refused(&["--url", "null:", "--report-interval", "0.01"], "0.05");
    refused(&["--url", "null:", "--percentiles", "50,101"], "101");
    refused(
        &["--url", "null:", "--clients", "2", "--workers", "3"],
        "is more than --clients 2",
    );
    refused(&["--url", "null:", "--password-file", "/gone"], "/gone");
    for (rate, words) in [
        ("0", "from 0.001"),
        ("1e9", "10000000"),
        ("x", "not a number"),
    ] {
        refused(&["--url", "null:", "--rate", rate], words);
    }
    refused(&["--url", "null:", "--arrivals", "even"], "--rate");
    refused(
        &["--url", "null:", "--rate", "9", "--arrivals", "odd"],
        "even",
    );
    refused(&["--url", "null:", "--retry", "40P01"], "such as 1213");
    refused(&["--url", "null:", "--retry", "none,1213"], "\"none\"");
    refused(&["--url", "null:", "--retry", ""], "such as 1213");
    refused(&[], "--url");
}
