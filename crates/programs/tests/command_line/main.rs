//! Wrong command lines: refused before anything is started, in words that say what to write.

mod output;
mod refusals;
mod signals;

use std::process::{Command, Output};

/// Runs `diskproof-load` with these words, separated by blanks.
fn load(words: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_diskproof-load"))
        .args(words.split(' '))
        .output()
        .expect("the program starts")
}

/// What the program says to a command line that it must refuse.
fn refusal(words: &str) -> String {
    let output = load(words);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{words}: {said}");
    assert!(output.stdout.is_empty(), "{words}: {said}");
    assert!(!said.contains("panicked"), "{words}: {said}");
    said
}
