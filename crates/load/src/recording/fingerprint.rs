//! Statements without their values, and what a statement does to its transaction.

use crate::driver::{Dialect, Kind};
use crate::workload::sql::{WRITING, What, Word, Words, kind_of};

/// Longer fingerprints end here: what differs only behind it is alike.
const LONGEST_BYTES: usize = 2048;

/// The effect of a statement on the transaction around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Begins,
    Commits,
    RollsBack,
    /// `SET autocommit`.
    Autocommit(bool),
    /// Of the session alone: SET, USE, SHOW.
    Session,
    /// It changes data, or locks them.
    Writes,
    Reads,
}

/// What is known of a statement from its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Nature {
    pub(crate) kind: Kind,
    pub(crate) effect: Effect,
    /// It has marks for values that are not there.
    pub(crate) lacks_values: bool,
    /// Rows would have to follow it.
    pub(crate) copies: bool,
}

/// Reads statements; the fingerprint of the last one is kept in `text`.
pub(crate) struct Reader {
    dialect: Dialect,
    pub(crate) text: Vec<u8>,
    /// The first words, in capitals.
    firsts: Vec<String>,
}

impl Reader {
    pub(crate) fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            text: Vec::new(),
            firsts: Vec::new(),
        }
    }

    pub(crate) fn read(&mut self, sql: &[u8]) -> Nature {
        self.text.clear();
        self.firsts.clear();
        let (mut writes, mut locks, mut to_savepoint) = (false, false, false);
        let (mut several, mut lacks_values, mut copies) = (false, false, false);
        let mut before: Option<Word<'_>> = None;
        for word in Words::new(sql, self.dialect) {
            if let What::Plain(name) = word.what {
                if self.firsts.len() < 4 {
                    let name = String::from_utf8_lossy(name);
                    self.firsts.push(name.to_ascii_uppercase());
                }
                let follows = |own: &str| before.is_some_and(|before| before.is(own));
                writes |= WRITING.iter().any(|own| word.is(own)) && !follows("FOR");
                locks |=
                    (word.is("UPDATE") || word.is("SHARE")) && (follows("FOR") || follows("KEY"));
                locks |= word.is("SHARE") && follows("IN");
                to_savepoint |= word.is("TO");
                copies |= word.is("STDIN") && follows("FROM");
            }
            several |= before.is_some_and(|before| before.is(";"));
            lacks_values |= match self.dialect {
                Dialect::Mysql => word.is("?"),
                _ => before.is_some_and(|before| before.is("$")) && word.what == What::Number,
            };
            if self.text.len() < LONGEST_BYTES {
                self.add(sql, word, before);
            }
            before = Some(word);
        }
        let first = |at: usize| self.firsts.get(at).map_or("", String::as_str);
        let kind = kind_of(first(0), writes);
        let effect = match (first(0), first(1)) {
            // Several statements in one text, as PostgreSQL takes them, are a transaction.
            _ if several => Effect::Writes,
            ("BEGIN", _) | ("START", "TRANSACTION") => Effect::Begins,
            ("COMMIT" | "END", _) => Effect::Commits,
            ("ROLLBACK", _) if to_savepoint => Effect::Session,
            ("ROLLBACK" | "ABORT", _) => Effect::RollsBack,
            ("SET", _) if self.firsts.iter().any(|word| word == "AUTOCOMMIT") => {
                let is_off = |word: &String| word == "OFF" || word == "FALSE";
                let off = self.firsts.iter().any(is_off) || sql.trim_ascii_end().ends_with(b"0");
                Effect::Autocommit(!off)
            }
            (
                "SET" | "USE" | "SHOW" | "SAVEPOINT" | "RELEASE" | "DISCARD" | "RESET"
                | "DEALLOCATE",
                _,
            ) => Effect::Session,
            _ if kind != Kind::Read || locks => Effect::Writes,
            _ => Effect::Reads,
        };
        Nature {
            kind,
            effect,
            lacks_values,
            copies,
        }
    }

    /// Adds a word: a value as `?`, and a list of them, or of equal rows, as one.
    fn add(&mut self, sql: &[u8], word: Word<'_>, before: Option<Word<'_>>) {
        let is_value = match word.what {
            What::Number | What::Text(_) => true,
            // A double quotation mark begins a string here.
            What::Quoted(_) => self.dialect == Dialect::Mysql && sql[word.at] == b'"',
            _ => false,
        };
        if is_value {
            // -5 is a value as 5 is.
            let ends_with = |end: &[u8; 2]| self.text.ends_with(end);
            if [b"(-", b",-", b"=-"].into_iter().any(ends_with) {
                self.text.pop();
            }
            if self.text.ends_with(b"?,") {
                self.text.pop();
                return;
            }
            self.space(word, before);
            self.text.push(b'?');
            return;
        }
        match word.what {
            What::Plain(name) => {
                self.space(word, before);
                self.text.extend_from_slice(name);
            }
            What::Quoted(name) => {
                self.space(word, before);
                self.text.push(b'`');
                self.text.extend_from_slice(name);
                self.text.push(b'`');
            }
            What::Mark(mark) => {
                if mark == b'(' || mark == b'*' || mark == b'@' || mark == b'$' {
                    self.space(word, before);
                }
                self.text.push(mark);
                // (?),(?) is one row.
                if mark == b')' && self.text.ends_with(b"(?),(?)") {
                    self.text.truncate(self.text.len() - b",(?)".len());
                }
            }
            What::Number | What::Text(_) => {}
        }
    }

    /// A space where two words would touch, or where the statement has one before a parenthesis.
    fn space(&mut self, word: Word<'_>, before: Option<Word<'_>>) {
        let last = self.text.last().copied();
        let touches = last.is_some_and(|last| {
            last.is_ascii_alphanumeric() || matches!(last, b'_' | b'?' | b'`' | b')')
        });
        let apart = before.is_some_and(|before| before.end < word.at);
        if touches && (apart || !matches!(word.what, What::Mark(_))) {
            self.text.push(b' ');
        }
    }
}
