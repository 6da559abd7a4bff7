//! What the user's statements may reach: the one database that the URL names.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

pub(crate) use super::classes::Fate;
use super::classes::{database_of, definer, fate, fate_of_call};
use super::in_short;
use super::routine::makes_routine;
use super::words::{What, Word, Words};
use crate::driver::{Admin, Dialect, Fault};

/// Words that decide the class of a statement whose length is that of its data.
const HEAD_WORDS: usize = 128;

/// More than a routine has.
const MOST_WORDS: usize = 1 << 16;

/// Words before the name of a table, a view or a routine.
const BEFORE_TABLES: [&str; 19] = [
    "FROM",
    "JOIN",
    "INTO",
    "UPDATE",
    "TABLE",
    "TABLES",
    "EXISTS",
    "CALL",
    "VIEW",
    "PROCEDURE",
    "FUNCTION",
    "TRIGGER",
    "EVENT",
    "TRUNCATE",
    "REFERENCES",
    "REPLACE",
    "INSERT",
    "IGNORE",
    "SEQUENCE",
];

/// How a statement begins whose length is that of its data, and that is of no class.
const OF_DATA: [&str; 5] = ["INSERT", "REPLACE", "SELECT", "UPDATE", "DELETE"];

/// Words after which a statement begins inside of a routine.
const BEFORE_STATEMENTS: [&str; 8] = [
    ";", "BEGIN", "THEN", "ELSE", "DO", "LOOP", "REPEAT", "ATOMIC",
];

/// What the statements are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Errand {
    /// To make tables or to drop them, once: what a dump has for other servers is left out.
    Once,
    /// To be measured: nothing is left out.
    Measured,
}

/// What statements may reach.
#[derive(Debug, Clone)]
pub struct Fence {
    dialect: Dialect,
    errand: Errand,
    /// The database of the URL; `None`: anything may be reached.
    own: Option<String>,
    /// The server's other databases; in small letters if it takes names so.
    others: HashSet<Vec<u8>>,
    /// Whether the server tells names apart by their letters' case.
    exact: bool,
}

/// Names that are databases if the server has such ones, each with the place where it stands first.
pub type Names = BTreeMap<String, String>;

/// What a statement would do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) fate: Fate,
    /// The database that it makes, drops or enters.
    pub(crate) database: Option<String>,
    drops: bool,
    /// A database that it certainly names.
    named: Option<String>,
    /// Names that may be those of databases, or of tables.
    pub(crate) qualifiers: Vec<String>,
    /// The account in whose name a view or a routine would run.
    pub(crate) definer: Option<Range<usize>>,
}

impl Fence {
    pub fn new(dialect: Dialect, errand: Errand, own: Option<&str>) -> Self {
        Self {
            dialect,
            errand,
            own: own.map(str::to_owned),
            others: HashSet::new(),
            exact: false,
        }
    }

    /// Lets statements reach anything.
    pub fn none(dialect: Dialect, errand: Errand) -> Self {
        Self::new(dialect, errand, None)
    }

    pub(crate) fn stands(&self) -> bool {
        self.own.is_some()
    }

    pub(crate) fn own(&self) -> &str {
        self.own.as_deref().unwrap_or_default()
    }

    /// Asks the server for its other databases; only the MySQL family reaches them from one connection.
    pub fn ask(&mut self, admin: &mut dyn Admin) -> Result<(), Fault> {
        if self.dialect == Dialect::Mysql && self.stands() {
            let folds = admin.query_value("SELECT @@lower_case_table_names")?;
            self.exact = folds.is_some_and(|folds| folds == "0");
            let names =
                admin.query_column("SELECT schema_name FROM information_schema.schemata")?;
            self.add_others(names.into_iter().flatten());
        }
        Ok(())
    }

    /// Says which other databases there are, besides those known.
    pub fn add_others(&mut self, names: impl IntoIterator<Item = String>) {
        let own = self.folded(self.own());
        let names = names.into_iter().map(|name| self.folded(&name));
        let names = names.filter(|name| *name != own && name != "information_schema");
        let names: Vec<_> = names.map(String::into_bytes).collect();
        self.others.extend(names);
    }

    fn folded(&self, name: &str) -> String {
        if self.exact {
            name.to_owned()
        } else {
            name.to_lowercase()
        }
    }

    /// Refuses the first of these names that is another database of the server.
    pub fn check(&self, names: &Names) -> Result<(), String> {
        match names.iter().find(|(name, _)| self.is_other(name)) {
            Some((name, place)) => Err(format!("{place}: {}", self.reaches(name))),
            None => Ok(()),
        }
    }

    fn is_other(&self, name: &str) -> bool {
        self.others.contains(self.folded(name).as_bytes())
    }

    fn reaches(&self, name: &str) -> String {
        format!(
            "this statement names the database `{name}`, and the URL names `{}`; remove `{name}.`, or let \
             statements reach other databases with --any-database",
            self.own()
        )
    }

    /// Refuses a statement that leaves the database, at the moment of sending it.
    pub(crate) fn admit(&self, sql: &[u8]) -> Result<(), String> {
        if !self.stands() || is_plain(sql) {
            return Ok(());
        }
        if self.dialect != Dialect::Postgres {
            return self.admit_alone(sql);
        }
        // PostgreSQL takes several statements in one text.
        let mut begins = 0;
        for word in Words::new(sql, self.dialect).filter(|word| word.is(";")) {
            self.admit_alone(&sql[begins..word.at])?;
            begins = word.end;
        }
        self.admit_alone(&sql[begins..])
    }

    /// Refuses a single statement that leaves the database.
    fn admit_alone(&self, sql: &[u8]) -> Result<(), String> {
        if is_plain(sql) {
            return Ok(());
        }
        let finding = self.read(sql);
        let shown = in_short(sql);
        if let Some(why) = self.refusal(&finding) {
            return Err(format!("{shown}: {why}"));
        }
        match finding.qualifiers.iter().find(|name| self.is_other(name)) {
            Some(name) => Err(format!("{shown}: {}", self.reaches(name))),
            None => Ok(()),
        }
    }

    /// Why a statement is not sent, if the fence stands.
    pub(crate) fn refusal(&self, finding: &Finding) -> Option<String> {
        let instead = "let statements do so with --any-database";
        let measured = self.errand == Errand::Measured;
        match finding.fate {
            _ if !self.stands() => None,
            Fate::Refuse(why) => Some(format!("this statement {why}; remove it, or {instead}")),
            Fate::Database if measured && !self.is_own(finding) => Some(format!(
                "this statement makes, drops or enters a database, and the URL names `{}`; remove it, or \
                 {instead}",
                self.own()
            )),
            Fate::Send if finding.named.is_some() => {
                finding.named.as_deref().map(|name| self.reaches(name))
            }
            Fate::LeaveOut(what) if measured => Some(format!(
                "this statement is about {what}, and so about the whole server; remove it, or {instead}"
            )),
            _ => None,
        }
    }

    /// Whether it enters our own database, or makes it if it is not there.
    fn is_own(&self, finding: &Finding) -> bool {
        !finding.drops && finding.database.as_deref() == self.own.as_deref()
    }

    /// Reads what a statement would do.
    pub(crate) fn read(&self, sql: &[u8]) -> Finding {
        let mut reading = Reading::default();
        let mut before: [Option<Word<'_>>; 3] = [None; 3];
        let mut is_of_data = false;
        for word in Words::new(sql, self.dialect) {
            if reading.head.is_empty() {
                is_of_data = OF_DATA.iter().any(|own| word.is(own));
            }
            if reading.head.len() < if is_of_data { HEAD_WORDS } else { MOST_WORDS } {
                reading.head.push(word);
            }
            if let [.., Some(last)] = before {
                let fate = fate_of_call(last, word, self.dialect);
                if fate != Fate::Send {
                    reading.call.get_or_insert(fate);
                }
            }
            if self.dialect == Dialect::Mysql {
                reading.look_for_qualifier(before, word);
            }
            before = [before[1], before[2], Some(word)];
        }
        if let [.., Some(last)] = before
            && self.dialect == Dialect::Mysql
        {
            reading.stands_alone(last);
        }
        reading.finding(self.dialect, self.own())
    }
}

/// Whether a statement is one on data without a word or a mark by which any could leave the database:
/// most that are measured are so, and need not be taken apart.
fn is_plain(sql: &[u8]) -> bool {
    let sql = sql.trim_ascii_start();
    let word = sql
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let is_of_data = OF_DATA
        .iter()
        .any(|own| sql[..word].eq_ignore_ascii_case(own.as_bytes()));
    let begins = |at: usize, wanted: &[u8]| {
        let rest = sql.get(at..at + wanted.len());
        rest.is_some_and(|rest| rest.eq_ignore_ascii_case(wanted))
    };
    is_of_data
        && sql.iter().enumerate().all(|(at, byte)| match byte {
            // A qualifier, a comment, another statement.
            b'.' | b'/' | b';' => false,
            b'f' | b'F' => !begins(at, b"file"),
            b'p' | b'P' => !begins(at, b"pg_"),
            b'l' | b'L' => !begins(at, b"lo_"),
            b'd' | b'D' => !begins(at, b"dblink"),
            _ => true,
        })
}

/// What has been seen of a statement so far.
#[derive(Default)]
struct Reading<'a> {
    head: Vec<Word<'a>>,
    call: Option<Fate>,
    /// Names before a point, and whether one of them is in the place of a table.
    qualifiers: Vec<(&'a [u8], bool)>,
    /// Names without a point.
    alone: HashSet<&'a [u8]>,
}

impl<'a> Reading<'a> {
    /// `before` are the three words before this one.
    fn look_for_qualifier(&mut self, before: [Option<Word<'a>>; 3], word: Word<'a>) {
        let [.., Some(last)] = before else { return };
        if !word.is(".") {
            self.stands_alone(last);
            return;
        }
        let Some(name) = last.name() else { return };
        let earlier = before[1];
        if earlier.is_some_and(|word| word.is(".") || word.is("@")) {
            return;
        }
        let is_table = earlier.is_some_and(|word| BEFORE_TABLES.iter().any(|own| word.is(own)));
        match self.qualifiers.iter_mut().find(|(own, _)| *own == name) {
            Some((_, known)) => *known |= is_table,
            None => self.qualifiers.push((name, is_table)),
        }
    }

    fn stands_alone(&mut self, word: Word<'a>) {
        // After a point it is a table's name, which may stand before another one.
        if let Some(name) = word.name() {
            self.alone.insert(name);
        }
    }

    fn finding(self, dialect: Dialect, own: &str) -> Finding {
        let mut all = if self.begins_with(&OF_DATA) {
            Fate::Send
        } else {
            fate(&self.head, dialect)
        };
        let database = (all == Fate::Database).then(|| database_of(&self.head));
        if dialect == Dialect::Mysql && all == Fate::Send {
            all = self.fate_inside(dialect);
        }
        if let (Fate::Send | Fate::LeaveOut(_), Some(call)) = (all, self.call) {
            all = call;
        }
        let reads = self.begins_with(&["SELECT", "WITH"]);
        let harmless = |name: &[u8]| {
            let is = |own: &str| name.eq_ignore_ascii_case(own.as_bytes());
            name == own.as_bytes()
                || ["information_schema", "new", "old"].into_iter().any(is)
                || (reads && (is("performance_schema") || is("sys")))
        };
        let qualifiers = self.qualifiers.iter().filter(|(name, is_table)| {
            !harmless(name) && (*is_table || !self.alone.contains(name))
        });
        Finding {
            fate: all,
            database: database.flatten().map(as_text),
            drops: self.begins_with(&["DROP"]),
            named: self
                .qualifiers
                .iter()
                .find(|(name, is_table)| {
                    *is_table
                        && !harmless(name)
                        && !self.alone.contains(name)
                        && !name.eq_ignore_ascii_case(own.as_bytes())
                })
                .map(|(name, _)| as_text(name)),
            qualifiers: qualifiers.map(|(name, _)| as_text(name)).collect(),
            definer: match dialect {
                Dialect::Mysql => definer(&self.head),
                _ => None,
            },
        }
    }

    fn begins_with(&self, words: &[&str]) -> bool {
        let first = self.head.first();
        first.is_some_and(|word| words.iter().any(|own| word.is(own)))
    }

    /// What the statements of a routine would do when it is called.
    fn fate_inside(&self, dialect: Dialect) -> Fate {
        let plain: Vec<_> = self
            .head
            .iter()
            .filter_map(|word| word.name())
            .take(8)
            .collect();
        if !self.begins_with(&["BEGIN", "IF"]) && !makes_routine(&plain) {
            return Fate::Send;
        }
        let begins = |number: &usize| {
            let before = self.head[number - 1];
            *number == self.head.len().min(1) || BEFORE_STATEMENTS.iter().any(|own| before.is(own))
        };
        (1..self.head.len())
            .filter(begins)
            .map(|number| fate(&self.head[number..], dialect))
            .find_map(|fate| match fate {
                Fate::Send => None,
                Fate::Refuse(why) => Some(Fate::Refuse(why)),
                _ => Some(Fate::Refuse("makes a routine that leaves the database")),
            })
            .unwrap_or(Fate::Send)
    }
}

/// The place of the first byte outside of strings that is no text, and what it is.
pub(crate) fn not_text(sql: &[u8], dialect: Dialect) -> Option<(usize, &'static str)> {
    const NO_UTF8: &str = "not UTF-8 text, which only a string of the MySQL family may be; convert the file with iconv";
    const NUL: &str = "a NUL, which no SQL holds";
    let nul = sql.contains(&0);
    let error = std::str::from_utf8(sql).err();
    if dialect != Dialect::Mysql {
        let at = sql.iter().position(|&byte| byte == 0).map(|at| (at, NUL));
        return at.or_else(|| error.map(|error| (error.valid_up_to(), NO_UTF8)));
    }
    if error.is_none() && !nul {
        return None;
    }
    Words::new(sql, dialect).find_map(|word| match word.what {
        What::Mark(0) => Some((word.at, NUL)),
        // A double quotation mark begins a string here.
        What::Quoted(_) if sql[word.at] == b'"' => None,
        What::Plain(name) | What::Quoted(name) if std::str::from_utf8(name).is_err() => {
            Some((word.at, NO_UTF8))
        }
        _ => None,
    })
}

fn as_text(name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name);
    name.replace("``", "`").replace("\"\"", "\"")
}
