//! The one place where the program writes: what others wrote cannot command a terminal.

use std::io::{self, Write as _};

use anyhow::Context;
use serde_json::Value;
use thiserror::Error;

/// Nobody reads standard output any more.
#[derive(Debug, Error)]
#[error("nobody reads the output")]
pub(super) struct Unread;

/// Prints words to standard output.
pub(super) fn print(words: &str) -> anyhow::Result<()> {
    write(&harmless(words, |mark| mark.escape_unicode().to_string()))
}

/// Prints JSON on one line.
pub(super) fn print_line(value: &Value) -> anyhow::Result<()> {
    write_json(&value.to_string())
}

/// Prints JSON for a person.
pub(super) fn print_json(value: &Value) -> anyhow::Result<()> {
    write_json(&serde_json::to_string_pretty(value)?)
}

/// Says something to a person on standard error. If nobody reads that, there is nobody to tell.
pub(super) fn tell(words: &str) {
    write_error(&format!("diskproof-disk: {words}\n"));
}

pub(super) fn write_error(words: &str) {
    let clean = harmless(words, |mark| mark.escape_unicode().to_string());
    let _ = io::stderr().write_all(clean.as_bytes());
}

/// JSON has such characters in its strings only, and an escape means the same there.
fn write_json(text: &str) -> anyhow::Result<()> {
    write(&harmless(text, |mark| {
        format!("\\u{:04x}", u32::from(mark))
    }))
}

fn write(text: &str) -> anyhow::Result<()> {
    match writeln!(io::stdout(), "{text}") {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Unread.into()),
        outcome => outcome.context("cannot write to standard output"),
    }
}

/// Replaces control characters, but for ends of lines and tabs, and the marks that turn the direction of
/// text.
fn harmless(text: &str, escape: impl Fn(char) -> String) -> String {
    let mut clean = String::with_capacity(text.len());
    for mark in text.chars() {
        let turns = matches!(mark, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if turns || (mark.is_control() && !matches!(mark, '\n' | '\t')) {
            clean.push_str(&escape(mark));
        } else {
            clean.push(mark);
        }
    }
    clean
}
