//! Ctrl-C, wherever it comes.

use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Starts a run, gives it time to be in the midst of it, and interrupts it.
fn interrupt(words: &str, after: Duration) -> Child {
    let child = Command::new(env!("CARGO_BIN_EXE_diskproof-load"))
        .args(words.split(' '))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    sleep(after);
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-s", "INT", &pid]).status();
    assert!(
        sent.expect("kill starts").success(),
        "{words}: over already"
    );
    child
}

#[test]
fn every_phase_can_be_interrupted() {
    for words in [
        "run oltp --url null: --warm-up 60",
        "run oltp --url null: --seconds 60",
        "run oltp --url null: --seconds 60 --json",
        // Before the first stage of a job: a table is filled, row by row.
        "run slap --url null: --write-number 1000000000",
    ] {
        let start = Instant::now();
        let mut child = interrupt(words, Duration::from_millis(500));
        while child.try_wait().expect("a child").is_none() {
            assert!(
                start.elapsed() < Duration::from_secs(30),
                "{words}: goes on"
            );
            sleep(Duration::from_millis(10));
        }
        let code = child.wait().expect("a child").code();
        assert_eq!(code, Some(130), "{words}");
    }
}

#[test]
fn an_interrupted_preparation_says_how_to_drop_what_is_left() {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", directory.path().join("x.db").display());
    let words = format!("prepare oltp --tables 2 --rows 100000000 --url {url}");
    let mut child = Command::new(env!("CARGO_BIN_EXE_diskproof-load"))
        .args(words.split(' '))
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    sleep(Duration::from_millis(800));
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-s", "INT", &pid]).status();
    assert!(sent.expect("kill starts").success());
    assert_eq!(child.wait().expect("a child").code(), Some(130));
    let said = std::io::read_to_string(child.stderr.take().expect("its words")).unwrap();
    let hint = "drop them with `diskproof-load cleanup oltp --tables 2`";
    assert!(said.contains(hint), "{said}");
}
