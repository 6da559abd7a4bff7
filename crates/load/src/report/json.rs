//! One JSON object per line, flushed at once: a program reads along.

use std::io::{self, Write};

use super::{Event, Report};

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
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        self.out.write_all(&line)?;
        self.out.flush()
    }
}
