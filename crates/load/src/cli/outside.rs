//! Messages to a run from outside: signals, and lines on standard input.

use std::io::{self, BufRead};
use std::sync::mpsc::Sender;
use std::thread;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::engine::{Failure, Message, Outside};

/// Sends every signal on; the second one ends the process at once.
pub(super) fn watch_signals(outbox: Sender<Message>) -> Result<(), Failure> {
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(Failure::internal)?;
    thread::spawn(move || {
        for (count, _) in signals.forever().enumerate() {
            if count > 0
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
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(Failure::internal)?;
    thread::spawn(move || {
        if signals.forever().next().is_some() {
            tell!("{word}");
            std::process::exit(130);
        }
    });
    Ok(())
}

/// Sends each line's arrival on, and the end of input.
pub(super) fn watch_input(outbox: Sender<Message>) {
    thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            let heard = match line {
                Ok(_) => outbox.send(Message::FromOutside(Outside::Line)),
                Err(_) => break,
            };
            if heard.is_err() {
                return;
            }
        }
        let _ = outbox.send(Message::FromOutside(Outside::InputClosed));
    });
}
