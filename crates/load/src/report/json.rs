//! One JSON object per line, flushed at once: a program reads along.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

use super::{Event, Report};
use crate::plain::is_obeyed;

/// Escapes what a terminal would obey, in case a person looks at the lines. A reader of JSON gets
/// the same text.
struct Plain;

impl Formatter for Plain {
    fn write_string_fragment<W>(&mut self, out: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + Write,
    {
        for part in fragment.split_inclusive(is_obeyed) {
            match part.chars().next_back().filter(|&last| is_obeyed(last)) {
                Some(last) => {
                    let text = &part[..part.len() - last.len_utf8()];
                    write!(out, "{text}\\u{:04x}", u32::from(last))?;
                }
                None => out.write_all(part.as_bytes())?,
            }
        }
        Ok(())
    }
}

/// Writes every event as one line.
pub struct JsonReport<W> {
    out: W,
}

impl<W: Write> JsonReport<W> {
    pub fn new(out: W) -> Self {
        Self { out }
    }
}

impl<W: Write> Report for JsonReport<W> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        if matches!(event, Event::BrokenOff(_)) {
            return Ok(());
        }
        let mut line = Vec::new();
        event.serialize(&mut Serializer::with_formatter(&mut line, Plain))?;
        line.push(b'\n');
        self.out.write_all(&line)?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_obeys_no_line() {
        let message = "ä\u{1b}\u{9b}31m\u{202e}\n\u{7f}b";
        let mut out = Vec::new();
        let failed = Event::Failed {
            code: "x".into(),
            message: message.into(),
        };
        JsonReport::new(&mut out).event(&failed).unwrap();
        let line = String::from_utf8(out).unwrap();
        assert!(!line.contains(is_obeyed), "{line:?}");
        let read: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(read["message"], message);
    }
}
