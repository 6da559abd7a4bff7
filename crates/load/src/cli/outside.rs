//! Messages to a run from outside: signals, and lines on standard input.

use std::io::{self, Read};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::engine::{Failure, Message, Outside};

/// Two signals within this time are one.
const SAME: Duration = Duration::from_millis(100);

/// Sends every signal on; the second one ends the process at once.
pub(super) fn watch_signals(outbox: Sender<Message>) -> Result<(), Failure> {
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(Failure::internal)?;
    thread::spawn(move || {
        let mut first: Option<Instant> = None;
        for _ in signals.forever() {
            // Ctrl-C reaches a process beside this one, too, which passes it on.
            if first.is_some_and(|first| first.elapsed() < SAME) {
                continue;
            }
            if first.replace(Instant::now()).is_some()
                || outbox
                    .send(Message::FromOutside(Outside::Interrupt))
                    .is_err()
            {
                std::process::exit(130);
            }
        }
    });
    Ok(())
}

/// Says a last word at the first signal and ends the process.
pub(super) fn say_when_interrupted(word: String) -> Result<(), Failure> {
    when_interrupted(move || tell!("{word}"))
}

/// Does something at the first signal and ends the process.
pub(super) fn when_interrupted(last: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(Failure::internal)?;
    thread::spawn(move || {
        if signals.forever().next().is_some() {
            last();
            std::process::exit(130);
        }
    });
    Ok(())
}

/// Two lines are waited for. So many are no lockstep, and are the end of it.
const MOST_INPUT_BYTES: u64 = 64 << 10;

/// Sends each line's arrival on, and the end of input.
pub(super) fn watch_input(outbox: Sender<Message>) {
    thread::spawn(move || {
        let input = io::stdin().lock().take(MOST_INPUT_BYTES);
        let mut number = None;
        for byte in input.bytes().map_while(Result::ok) {
            if byte.is_ascii_digit() {
                let before = number.unwrap_or(0_u64).saturating_mul(10);
                number = Some(before.saturating_add(u64::from(byte - b'0')));
            }
            let line = Message::FromOutside(Outside::Line(number));
            if byte == b'\n' {
                number = None;
                if outbox.send(line).is_err() {
                    return;
                }
            }
        }
        let _ = outbox.send(Message::FromOutside(Outside::InputClosed));
    });
}
