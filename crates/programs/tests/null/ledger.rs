//! The ledger's options, and its file, where no database is in the way.

use std::fs;
use std::path::Path;
use std::process::Command;

fn run(arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_diskproof-load"))
        .args(["run", "ledger", "--url", "null:", "--transactions", "1000"])
        .args(arguments)
        .output()
        .expect("the program starts");
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), complaint)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in letters")
}

#[test]
fn what_cannot_be_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let there = directory.path().join("there");
    fs::write(&there, "0 1 5\n").unwrap();
    let nowhere = directory.path().join("no/such/folder");
    let folder = text(directory.path());
    for (arguments, words) in [
        (&["--accounts", "1"][..], "--accounts"),
        (&["--accounts", "10000001"], "--accounts"),
        (&["--filler-bytes", "4001"], "--filler-bytes"),
        (&["--acknowledgements", text(&there)], "exists already"),
        (&["--acknowledgements", text(&nowhere)], "cannot be created"),
        (&["--acknowledgements", folder], "exists already"),
        (
            &["--acknowledgements", "x", "--retry", "none"],
            "cannot be used with",
        ),
    ] {
        let (code, complaint) = run(arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {complaint}");
        assert!(complaint.contains(words), "{arguments:?}: {complaint}");
    }
    assert_eq!(
        fs::read_to_string(&there).unwrap(),
        "0 1 5\n",
        "left as it was"
    );
}

#[test]
fn every_transaction_is_a_line() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("acknowledged");
    for clients in ["1", "7"] {
        let (code, complaint) = run(&[
            "--clients",
            clients,
            "--accounts",
            "2",
            "--filler-bytes",
            "4000",
            "--acknowledgements",
            text(&file),
        ]);
        assert_eq!(code, Some(0), "{complaint}");
        assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), 1000);
        fs::remove_file(&file).unwrap();
    }
}

#[test]
fn an_acknowledgement_that_cannot_be_written_ends_the_run() {
    // The limit of a file's size is the shell's own, in blocks of 512 or 1024 bytes.
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("acknowledged");
    let program = env!("CARGO_BIN_EXE_diskproof-load");
    let output = Command::new("sh")
        .args([
            "-c",
            "trap '' XFSZ; ulimit -f 1; exec \"$@\"",
            "sh",
            program,
        ])
        .args(["run", "ledger", "--url", "null:", "--transactions", "1000"])
        .args(["--acknowledgements", text(&file)])
        .output()
        .expect("the shell starts");
    assert_eq!(output.status.code(), Some(1));
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(complaint.contains("cannot be written down"), "{complaint}");
}
