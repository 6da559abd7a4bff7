//! Parameters as SQL text.

use std::io::Write;

use crate::driver::{Arg, Args};

/// Appends one parameter as a literal.
pub(super) fn push_literal(arg: &Arg, args: &Args, out: &mut Vec<u8>) {
    match arg {
        Arg::Int(value) => out.extend_from_slice(itoa::Buffer::new().format(*value).as_bytes()),
        // With its exponent, so that it is a double and no decimal; a vector takes what is written.
        Arg::Double(value) => drop(write!(out, "{value:e}")),
        Arg::Text(range) => push_quoted(args.text(range), out),
        Arg::Null => out.extend_from_slice(b"NULL"),
    }
}

fn push_quoted(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'\'');
    if text.iter().any(|byte| matches!(byte, b'\'' | b'\\')) {
        for &byte in text {
            if matches!(byte, b'\'' | b'\\') {
                // Both stand for themselves when doubled.
                out.push(byte);
            }
            out.push(byte);
        }
    } else {
        out.extend_from_slice(text);
    }
    out.push(b'\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_backslashes_are_doubled() {
        let mut args = Args::default();
        args.push_int(-7);
        args.push_text(|out| out.extend_from_slice(b"12-34"));
        args.push_text(|out| out.extend_from_slice(br"it's \ok"));
        let literals = args.values().iter().map(|arg| {
            let mut out = Vec::new();
            push_literal(arg, &args, &mut out);
            String::from_utf8(out).unwrap()
        });
        assert_eq!(
            literals.collect::<Vec<_>>(),
            ["-7", "'12-34'", r"'it''s \\ok'"]
        );
    }
}
