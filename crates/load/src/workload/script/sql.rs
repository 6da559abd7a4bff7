//! One statement in a script: where it ends, and where variables stand in it.

use super::lexer::name_bytes;
use super::source::Mistake;
use crate::driver::{Dialect, Kind};

/// A statement as it stands in the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Scanned<'a> {
    /// Where its first word begins, and where its last one ends.
    pub(super) start: usize,
    pub(super) end: usize,
    /// Where to go on: after its semicolon, or at the backslash or the end of the text.
    pub(super) next: usize,
    pub(super) marks: Vec<Mark<'a>>,
    /// The words outside of quotations and comments, the first ones.
    words: Vec<&'a str>,
}

/// `:name` in a statement.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mark<'a> {
    pub(super) at: usize,
    pub(super) name: &'a str,
    pub(super) place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Where a parameter can stand.
    Value,
    /// In a string or a quoted name.
    Quotation,
    /// With letters or digits before it: part of a name.
    Name,
}

/// What a statement does to the transaction around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bracket {
    Begins,
    Ends,
    Neither,
}

/// Enough words to tell what a statement is for.
const WORDS_KEPT: usize = 4096;

impl Scanned<'_> {
    /// For the accounts.
    pub(super) fn kind(&self) -> Kind {
        let is_write = |word: &&str| {
            let writes = ["INSERT", "UPDATE", "DELETE", "REPLACE", "MERGE"];
            writes.iter().any(|known| known.eq_ignore_ascii_case(word))
        };
        match self.first_word().as_str() {
            "INSERT" | "UPDATE" | "DELETE" | "REPLACE" | "MERGE" => Kind::Write,
            "WITH" if self.words.iter().any(is_write) => Kind::Write,
            "SELECT" | "WITH" | "VALUES" | "TABLE" | "SHOW" | "EXPLAIN" | "FETCH" => Kind::Read,
            _ => Kind::Other,
        }
    }

    pub(super) fn bracket(&self) -> Bracket {
        let second = self.words.get(1).copied().unwrap_or_default();
        let to_savepoint = self
            .words
            .iter()
            .any(|word| word.eq_ignore_ascii_case("to"));
        match self.first_word().as_str() {
            "BEGIN" => Bracket::Begins,
            "START" if second.eq_ignore_ascii_case("transaction") => Bracket::Begins,
            "COMMIT" | "END" | "ABORT" => Bracket::Ends,
            "ROLLBACK" if !to_savepoint => Bracket::Ends,
            _ => Bracket::Neither,
        }
    }

    pub(super) fn first_word(&self) -> String {
        self.words
            .first()
            .map(|word| word.to_ascii_uppercase())
            .unwrap_or_default()
    }
}

/// Bytes of white space and comments at the start of the text.
pub(super) fn blank_bytes(text: &str, start: usize, dialect: Dialect) -> Result<usize, Mistake> {
    let mut at = start;
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        match opaque(text, at, dialect)? {
            Some(Opaque { end, quotes: false }) => at = end,
            _ => return Ok(at - start),
        }
    }
}

/// Reads the statement whose first word stands at `start`.
pub(super) fn scan(text: &str, start: usize, dialect: Dialect) -> Result<Scanned<'_>, Mistake> {
    let mut scanned = Scanned {
        start,
        end: start,
        next: text.len(),
        marks: Vec::new(),
        words: Vec::new(),
    };
    let mut routine = Routine::default();
    let mut parentheses = 0_usize;
    let mut at = start;
    while let Some(character) = text[at..].chars().next() {
        if let Some(Opaque { end, quotes }) = opaque(text, at, dialect)? {
            if quotes {
                marks_in_quotation(text, at, end, &mut scanned.marks);
            }
            at = end;
            if quotes {
                scanned.end = at;
            }
            continue;
        }
        match character {
            ';' if parentheses == 0 && !routine.is_open() => {
                scanned.next = at + 1;
                return Ok(scanned);
            }
            '\\' if text[at + 1..].starts_with(';') => {
                return Err(Mistake::new(
                    at,
                    "\\; would send several statements as one; end each with a semicolon of its own",
                ));
            }
            '\\' => {
                scanned.next = at;
                return Ok(scanned);
            }
            '(' => parentheses += 1,
            ')' => parentheses = parentheses.saturating_sub(1),
            ':' => {
                at = colon(text, at, &mut scanned.marks);
                scanned.end = at;
                continue;
            }
            _ => {}
        }
        let word = name_bytes(&text[at..]);
        if word > 0 {
            let word = &text[at..at + word];
            routine.take(word, &scanned.words);
            if scanned.words.len() < WORDS_KEPT {
                scanned.words.push(word);
            }
        }
        // A number is passed with the letters that are part of it: 1e5 has no word.
        let alike = text[at..]
            .find(|c: char| !is_name_part(c))
            .unwrap_or(text.len() - at);
        at += alike.max(character.len_utf8());
        if !character.is_whitespace() {
            scanned.end = at;
        }
    }
    Ok(scanned)
}

fn is_name_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The bodies of procedures and triggers, whose semicolons end nothing.
#[derive(Default)]
struct Routine {
    depth: usize,
    /// The last word was an END that may belong to an IF or a loop, which opened nothing.
    after_end: bool,
}

impl Routine {
    fn is_open(&self) -> bool {
        self.depth > 0
    }

    fn take(&mut self, word: &str, before: &[&str]) {
        let is = |wanted: &str| word.eq_ignore_ascii_case(wanted);
        let after_end = std::mem::take(&mut self.after_end);
        if is("end") {
            self.after_end = self.is_open();
            self.depth = self.depth.saturating_sub(1);
        } else {
            let closes_loop = ["if", "loop", "while", "repeat"].into_iter().any(is);
            let opens = is("begin") || (is("case") && self.is_open());
            self.depth += usize::from(if after_end {
                closes_loop
            } else {
                opens && makes_routine(before)
            });
        }
    }
}

fn makes_routine(words: &[&str]) -> bool {
    let is = |word: &str, wanted: &str| word.eq_ignore_ascii_case(wanted);
    let routines = ["procedure", "function", "trigger", "event"];
    words.first().is_some_and(|word| is(word, "create"))
        && words
            .iter()
            .take(6)
            .any(|word| routines.iter().any(|known| is(word, known)))
}

/// A colon outside of quotations; where to go on. Several colons are a cast (or nothing of ours).
fn colon<'a>(text: &'a str, at: usize, marks: &mut Vec<Mark<'a>>) -> usize {
    let colons = text[at..].bytes().take_while(|&byte| byte == b':').count();
    if colons > 1 {
        return at + colons;
    }
    let length = name_bytes(&text[at + 1..]);
    if length > 0 {
        let place = if text[..at].ends_with(is_name_part) {
            Place::Name
        } else {
            Place::Value
        };
        marks.push(Mark {
            at,
            name: &text[at + 1..at + 1 + length],
            place,
        });
    }
    at + 1 + length
}

fn marks_in_quotation<'a>(text: &'a str, start: usize, end: usize, marks: &mut Vec<Mark<'a>>) {
    let mut at = start;
    while let Some(found) = text[at..end].find(':') {
        at += found;
        let colons = text[at..end]
            .bytes()
            .take_while(|&byte| byte == b':')
            .count();
        let length = name_bytes(&text[at + 1..end]);
        if colons == 1 && length > 0 {
            marks.push(Mark {
                at,
                name: &text[at + 1..at + 1 + length],
                place: Place::Quotation,
            });
        }
        at += colons;
    }
}

/// A quotation or a comment.
struct Opaque {
    end: usize,
    quotes: bool,
}

/// The quotation or comment that begins at `at`, if one does.
fn opaque(text: &str, at: usize, dialect: Dialect) -> Result<Option<Opaque>, Mistake> {
    let rest = &text[at..];
    let mysql = dialect == Dialect::Mysql;
    let comment = |end: Option<usize>| {
        Ok(Some(Opaque {
            end: end.map_or(text.len(), |end| at + end),
            quotes: false,
        }))
    };
    let dashes = rest.strip_prefix("--");
    if dashes
        .is_some_and(|after| !mysql || after.is_empty() || after.starts_with(char::is_whitespace))
        || (mysql && rest.starts_with('#'))
    {
        return comment(rest.find('\n'));
    }
    if rest.starts_with("/*") {
        return match comment_bytes(rest, dialect) {
            Some(bytes) => comment(Some(bytes)),
            None => Err(Mistake::new(at, "this comment never ends")),
        };
    }
    let bytes = match rest.as_bytes().first() {
        Some(b'\'') => quoted_bytes(rest, b'\'', mysql || is_escape_string(text, at, dialect)),
        Some(b'"') => quoted_bytes(rest, b'"', mysql),
        Some(b'`') if dialect != Dialect::Postgres => quoted_bytes(rest, b'`', false),
        Some(b'$') if dialect == Dialect::Postgres => match dollar_tag(text, at) {
            Some(tag) => rest[tag.len()..].find(tag).map(|end| end + 2 * tag.len()),
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    match bytes {
        Some(bytes) => Ok(Some(Opaque {
            end: at + bytes,
            quotes: true,
        })),
        None => Err(Mistake::new(at, "this quotation never ends")),
    }
}

/// `PostgreSQL` nests comments, the others do not.
fn comment_bytes(text: &str, dialect: Dialect) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    loop {
        let rest = &text[at..];
        if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return Some(at);
            }
        } else if rest.starts_with("/*") && (depth == 0 || dialect == Dialect::Postgres) {
            depth += 1;
            at += 2;
        } else {
            at += rest.chars().next()?.len_utf8();
        }
    }
}

/// From one quotation mark to the other. A doubled mark reads as two quotations side by side,
/// which comes to the same.
fn quoted_bytes(text: &str, mark: u8, escapes: bool) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    loop {
        match *bytes.get(at)? {
            b'\\' if escapes => at += 2,
            byte if byte == mark => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// `E'…'`, the one string in which `PostgreSQL` gives backslashes a meaning.
fn is_escape_string(text: &str, at: usize, dialect: Dialect) -> bool {
    dialect == Dialect::Postgres
        && text[..at]
            .strip_suffix(['e', 'E'])
            .is_some_and(|before| !before.ends_with(is_name_part))
}

/// `$$` or `$tag$`, unless it stands inside a name.
fn dollar_tag(text: &str, at: usize) -> Option<&str> {
    if text[..at].ends_with(is_name_part) {
        return None;
    }
    let length = name_bytes(&text[at + 1..]);
    let tag = &text[at..at + 1 + length];
    text[at + tag.len()..]
        .starts_with('$')
        .then(|| &text[at..=at + tag.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The statements of a text without backslash commands.
    fn split(text: &str, dialect: Dialect) -> Vec<String> {
        let mut statements = Vec::new();
        let mut at = 0;
        loop {
            at += blank_bytes(text, at, dialect).unwrap();
            if at == text.len() {
                return statements;
            }
            let scanned = scan(text, at, dialect).unwrap();
            statements.push(text[scanned.start..scanned.end].to_owned());
            at = scanned.next;
        }
    }

    const ALL: [Dialect; 3] = [Dialect::Mysql, Dialect::Postgres, Dialect::Sqlite];

    #[test]
    fn statements_end_at_their_semicolons() {
        for dialect in ALL {
            assert_eq!(
                split(
                    "-- first\nSELECT 1 ;\n\n /* then */ SELECT\n 2 -- no; end\n, 3;SELECT ';' /* ; */",
                    dialect
                ),
                ["SELECT 1", "SELECT\n 2 -- no; end\n, 3", "SELECT ';'"]
            );
            assert_eq!(split("f(a; b); c", dialect), ["f(a; b)", "c"]);
            assert_eq!(split(" \n-- nothing\n", dialect), Vec::<String>::new());
        }
    }

    #[test]
    fn each_family_quotes_in_its_own_way() {
        assert_eq!(
            split(r"SELECT 'it\'s; ' # x; y", Dialect::Mysql),
            [r"SELECT 'it\'s; '"]
        );
        assert_eq!(split(r"SELECT 'a\'; SELECT 2", Dialect::Postgres).len(), 2);
        assert_eq!(split(r"SELECT E'a\'; b'", Dialect::Postgres).len(), 1);
        assert_eq!(
            split("SELECT $a$; $$ ; $a$; SELECT $$;$$", Dialect::Postgres).len(),
            2
        );
        assert_eq!(
            split("SELECT /* /* ; */ ; */ 1", Dialect::Postgres).len(),
            1
        );
        assert_eq!(split("SELECT `a;b`", Dialect::Sqlite).len(), 1);
        assert_eq!(split("SELECT 5--2; SELECT 1", Dialect::Mysql).len(), 2);
    }

    #[test]
    fn bodies_of_routines_are_whole() {
        let trigger = "CREATE TRIGGER a AFTER INSERT ON t BEGIN UPDATE t SET b = CASE WHEN 1 THEN 2 END; SELECT 1; END";
        assert_eq!(
            split(&format!("{trigger}; SELECT 2"), Dialect::Sqlite),
            [trigger, "SELECT 2"]
        );
        let procedure =
            "CREATE PROCEDURE p() BEGIN WHILE a DO IF b THEN SET c = 1; END IF; END WHILE; END";
        assert_eq!(
            split(&format!("{procedure}; CALL p()"), Dialect::Mysql),
            [procedure, "CALL p()"]
        );
        assert_eq!(
            split("BEGIN; SELECT 1; END; SELECT 2", Dialect::Postgres).len(),
            4
        );
    }

    #[test]
    fn variables_have_their_places() {
        let text = "SELECT :a, '12:30 :b', t_:c, x::int, :größe, a[1:2], @v := 1 -- :d\n";
        let scanned = scan(text, 0, Dialect::Postgres).unwrap();
        let marks: Vec<_> = scanned
            .marks
            .iter()
            .map(|mark| (mark.name, mark.place))
            .collect();
        assert_eq!(
            marks,
            [
                ("a", Place::Value),
                ("b", Place::Quotation),
                ("c", Place::Name),
                ("größe", Place::Value)
            ]
        );
        assert_eq!(&text[scanned.start..scanned.end], &text[..text.len() - 7]);
    }

    #[test]
    fn kinds_and_brackets() {
        let of = |text: &str| {
            let scanned = scan(text, 0, Dialect::Postgres).unwrap();
            (scanned.kind(), scanned.bracket())
        };
        assert_eq!(of("select 1"), (Kind::Read, Bracket::Neither));
        assert_eq!(
            of("With x AS (SELECT 1) TABLE x"),
            (Kind::Read, Bracket::Neither)
        );
        assert_eq!(
            of("WITH x AS (DELETE FROM t RETURNING *) SELECT 1").0,
            Kind::Write
        );
        assert_eq!(of("insert into t values (1)").0, Kind::Write);
        assert_eq!(of("BEGIN"), (Kind::Other, Bracket::Begins));
        assert_eq!(of("start transaction read only").1, Bracket::Begins);
        assert_eq!(of("END").1, Bracket::Ends);
        assert_eq!(of("ROLLBACK TO a").1, Bracket::Neither);
        assert_eq!(of("rollback").1, Bracket::Ends);
    }

    #[test]
    fn what_never_ends_is_refused_where_it_begins() {
        for (text, at) in [
            ("SELECT 'a", 7),
            ("SELECT 1 /* a", 9),
            ("SELECT $a$ $b$", 7),
            ("SELECT 1 \\; SELECT 2;", 9),
        ] {
            assert_eq!(scan(text, 0, Dialect::Postgres).expect_err(text).at, at);
        }
    }
}
