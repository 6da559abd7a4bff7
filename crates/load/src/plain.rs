//! Text for a terminal: whatever a server or a file holds, it is shown and not obeyed.

use std::borrow::Cow;
use std::io::{self, Write};

/// Whether a terminal would take the character for a command, or would turn the text around it.
/// Lines end as they are.
pub(crate) fn is_obeyed(character: char) -> bool {
    match character {
        '\n' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            true
        }
        other => other.is_control(),
    }
}

/// The text with such characters as escapes: `\u{1b}`.
fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_obeyed(character) {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    shown.into()
}

/// Everything that a person reads is written through this. Each write holds whole characters.
pub(crate) struct Plain<W>(pub(crate) W);

impl<W: Write> Write for Plain<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        self.0.write_all(shown(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_to_a_terminal_are_shown() {
        let mut out = Vec::new();
        let text = "a\u{1b}[2J\u{9b}\r\u{202e}b\nä\u{2066}\u{7f}";
        Plain(&mut out).write_all(text.as_bytes()).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "a\\u{1b}[2J\\u{9b}\\u{d}\\u{202e}b\nä\\u{2066}\\u{7f}"
        );
    }
}
