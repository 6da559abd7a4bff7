//! Where the program's words go, and what it does where nobody takes them.

use std::fs::OpenOptions;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::load;

/// A run that would go on for long after it has been heard out.
fn long_run(arguments: &[&str], output: Stdio, errors: Stdio) -> Child {
    Command::new(env!("CARGO_BIN_EXE_diskproof-load"))
        .args("run oltp --url null: --seconds 60 --report-interval 0.05".split(' '))
        .args(arguments)
        .stdout(output)
        .stderr(errors)
        .spawn()
        .expect("the program starts")
}

/// The exit code of a program that ends soon.
fn code(mut child: Child) -> Option<i32> {
    let deadline = Instant::now() + Duration::from_secs(20);
    while child.try_wait().expect("a child").is_none() {
        assert!(Instant::now() < deadline, "still running");
        std::thread::sleep(Duration::from_millis(10));
    }
    child.wait().expect("a child").code()
}

#[test]
fn a_reader_that_has_had_enough_ends_the_run_without_a_word() {
    for arguments in [&[][..], &["--json"]] {
        let mut run = long_run(arguments, Stdio::piped(), Stdio::piped());
        drop(run.stdout.take());
        let errors = run.stderr.take().expect("a pipe");
        assert_eq!(code(run), Some(1), "{arguments:?}");
        let said = std::io::read_to_string(errors).expect("text");
        assert_eq!(said, "", "{arguments:?}");
    }
}

#[test]
fn a_full_disk_is_told() {
    for arguments in [&[][..], &["--json"]] {
        let full = OpenOptions::new().write(true).open("/dev/full");
        let output = Stdio::from(full.expect("a full device"));
        let mut run = long_run(arguments, output, Stdio::piped());
        let errors = run.stderr.take().expect("a pipe");
        assert_eq!(code(run), Some(1), "{arguments:?}");
        let said = std::io::read_to_string(errors).expect("text");
        assert!(said.contains("to standard output"), "{said}");
        assert!(said.contains("No space left"), "{said}");
    }
}

#[test]
fn warnings_that_nobody_reads_do_no_harm() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let url = format!("sqlite:{}/x.db", directory.path().display());
    for (words, expected) in [
        ("prepare oltp --rows 10", 0),
        ("run oltp --rows 20 --mix point-select --seconds 0.1", 0),
        ("run oltp --tables 2", 1),
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_diskproof-load"))
            .args(words.split(' '))
            .args(["--url", &url])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        drop(child.stderr.take());
        assert_eq!(code(child), Some(expected), "{words}");
    }
}

#[test]
fn what_cannot_be_made_is_not_looked_for() {
    let output = load("prepare oltp --url sqlite:/nowhere/x.db");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("cannot create /nowhere/x.db"), "{said}");
}
