//! The conditions workload's options: what cannot be is refused before anything starts.

use std::process::Command;

fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_diskproof-load"))
        .args(["run", "conditions", "--url", "null:"])
        .args(arguments)
        .output()
        .expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

#[test]
fn what_cannot_be_is_refused() {
    for (arguments, words) in [
        (
            &["--tables", "5", "--tables-per-visit", "6"][..],
            "is more than --tables",
        ),
        (&["--rows", "3", "--elements", "4"], "need at least"),
        (&["--rows", "100000", "--days", "1"], "more days"),
        (&["--days", "13001"], "13000"),
        (&["--days", "0"], "--days"),
        (&["--hot-percent", "101"], "from 0 to 100"),
        (&["--hot-percent", "nan"], "from 0 to 100"),
        (&["--appends", "1.5"], "from 0 to 1"),
        (&["--appends=-0.1"], "from 0 to 1"),
        (&["--payload-bytes", "60001"], "60000"),
        (&["--payload-bytes", "0"], "--payload-bytes"),
        (&["--hot-hours", "0"], "--hot-hours"),
        (&["--elements", "32768"], "32767"),
    ] {
        let (code, said, complaint) = run(arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {complaint}");
        assert!(complaint.contains(words), "{arguments:?}: {complaint}");
        assert!(said.is_empty(), "{said}");
    }
}

#[test]
fn extremes_run() {
    for arguments in [
        &["--appends", "1"][..],
        &["--hot-percent", "0"],
        &["--hot-percent", "100", "--hot-hours", "876000"],
        &["--tables", "1", "--rows", "1", "--days", "1"],
        &["--payload-bytes", "60000", "--appends", "0.5"],
        &[
            "--days",
            "13000",
            "--rows",
            "2147483647",
            "--elements",
            "32767",
        ],
    ] {
        for stay in [&["--stay"][..], &[]] {
            let (code, _, complaint) =
                run(&[arguments, &["--transactions", "40", "--clients", "2"], stay].concat());
            assert_eq!(code, Some(0), "{arguments:?}: {complaint}");
        }
    }
}
