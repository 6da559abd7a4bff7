//! The words of an expression: from a place in the script to the end of its line.

use std::sync::LazyLock;

use regex::Regex;

use crate::workload::sql::Mistake;

/// More than a person writes on one line; keeps evaluation, which recurses, off the stack's end.
const MOST_TOKENS: usize = 1000;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Token<'a> {
    /// At most 2^63, which only a minus before it makes an integer.
    Int(u64),
    Double(f64),
    /// `:name`
    Variable(&'a str),
    /// A function or a keyword.
    Word(&'a str),
    Symbol(&'static str),
    /// The end of the line.
    End,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Placed<'a> {
    pub(super) token: Token<'a>,
    pub(super) at: usize,
}

/// The longer ones first.
const SYMBOLS: [&str; 20] = [
    "<>", "!=", "<=", ">=", "<<", ">>", "=", "<", ">", "|", "#", "&", "~", "+", "-", "*", "/", "%",
    "(", ")",
];

/// The tokens of the line that begins at `start`, the last one being its end, which a backslash
/// at the end of a line puts off.
pub(super) fn tokens(text: &str, start: usize) -> Result<Vec<Placed<'_>>, Mistake> {
    let mut tokens = Vec::new();
    let mut at = start;
    loop {
        at += space_bytes(&text[at..]);
        let (token, length) = next_token(&text[at..]).map_err(|what| Mistake::new(at, what))?;
        tokens.push(Placed { token, at });
        if token == Token::End {
            return Ok(tokens);
        }
        if tokens.len() > MOST_TOKENS {
            return Err(Mistake::new(
                at,
                format!("an expression has more than {MOST_TOKENS} words"),
            ));
        }
        at += length;
    }
}

/// White space inside a line; a backslash before the line's end makes that a space.
pub(super) fn space_bytes(text: &str) -> usize {
    let mut bytes = 0;
    loop {
        let rest = &text[bytes..];
        bytes += match rest.as_bytes() {
            [b' ' | b'\t' | b'\r' | 0x0B | 0x0C, ..] => 1,
            [b'\\', b'\n', ..] => 2,
            [b'\\', b'\r', b'\n', ..] => 3,
            _ => return bytes,
        };
    }
}

/// A name's bytes at the start of the text: letters of any language, digits and underscores, the
/// first of them no digit. 0: none.
pub(super) fn name_bytes(text: &str) -> usize {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    if text.starts_with(|c: char| c.is_numeric() || !is_part(c)) {
        return 0;
    }
    text.find(|c| !is_part(c)).unwrap_or(text.len())
}

fn next_token(text: &str) -> Result<(Token<'_>, usize), String> {
    let Some(first) = text.chars().next().filter(|&c| c != '\n') else {
        return Ok((Token::End, 0));
    };
    if first.is_ascii_digit() || first == '.' {
        return number(text);
    }
    if first == ':' {
        return match name_bytes(&text[1..]) {
            0 => Err("a variable's name is missing after the colon".into()),
            length => Ok((Token::Variable(&text[1..=length]), 1 + length)),
        };
    }
    if first == ',' {
        return Ok((Token::Symbol(","), 1));
    }
    if let Some(symbol) = SYMBOLS.iter().find(|symbol| text.starts_with(**symbol)) {
        return Ok((Token::Symbol(symbol), symbol.len()));
    }
    match name_bytes(text) {
        0 => Err(format!("{first:?} has no meaning in an expression")),
        length => Ok((Token::Word(&text[..length]), length)),
    }
}

fn number(text: &str) -> Result<(Token<'_>, usize), String> {
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^([0-9]+)?(\.[0-9]*)?([eE][+-]?[0-9]+)?").expect("it was tried")
    });
    let found = NUMBER.captures(text).ok_or("no number")?;
    let (number, end) = (&found[0], found[0].len());
    if number.starts_with('.') && !number[1..].starts_with(|c: char| c.is_ascii_digit()) {
        return Err("a point without digits is not a number".into());
    }
    if found.get(2).is_none() && found.get(3).is_none() {
        return match number.parse() {
            Ok(value) if value <= i64::MIN.unsigned_abs() => Ok((Token::Int(value), end)),
            _ => Err(format!("{number} is larger than a 64-bit integer can be")),
        };
    }
    match number.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((Token::Double(value), end)),
        _ => Err(format!("{number} is larger than a double can be")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<Token<'_>> {
        let placed = tokens(text, 0).expect(text);
        placed.into_iter().map(|placed| placed.token).collect()
    }

    #[test]
    fn words_of_every_kind() {
        assert_eq!(
            of(" abs(:größe_1)<>-1.5e3 \\\n % .5, 07 << 1e2\nnext"),
            [
                Token::Word("abs"),
                Token::Symbol("("),
                Token::Variable("größe_1"),
                Token::Symbol(")"),
                Token::Symbol("<>"),
                Token::Symbol("-"),
                Token::Double(1500.0),
                Token::Symbol("%"),
                Token::Double(0.5),
                Token::Symbol(","),
                Token::Int(7),
                Token::Symbol("<<"),
                Token::Double(100.0),
                Token::End,
            ]
        );
        assert_eq!(of("1 e"), [Token::Int(1), Token::Word("e"), Token::End]);
        assert_eq!(of(""), [Token::End]);
    }

    #[test]
    fn nonsense_has_a_place() {
        for (text, at) in [
            ("1 + ;", 4),
            (": x", 0),
            (":1", 0),
            ("1 + 9223372036854775809", 4),
            ("1e999", 0),
            ("2 * . ", 4),
            ("'a'", 0),
            ("1 \\ 2", 2),
        ] {
            assert_eq!(tokens(text, 0).expect_err(text).at, at, "{text}");
        }
        assert!(tokens(&"1+".repeat(MOST_TOKENS), 0).is_err());
    }
}
