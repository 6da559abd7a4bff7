//! A script's text becomes steps: statements, assignments, branches, sleeps.

use std::collections::{HashMap, HashSet};

use super::expression::{Expression, Names, undefined};
use super::lexer::{Token, name_bytes, space_bytes, tokens};
use super::source::Mistake;
use super::sql::{Bracket, Mark, Place, Scanned, blank_bytes, scan};
use crate::driver::{Dialect, Kind};

/// A statement with the places of its variables.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sql {
    /// Its start in the script, and its line.
    pub(super) at: usize,
    pub(super) line: usize,
    /// As it was written, with `:names`.
    pub(super) written: String,
    /// The text before each variable and after the last.
    pub(super) pieces: Vec<String>,
    pub(super) uses: Vec<Use>,
    pub(super) kind: Kind,
    pub(super) bracket: Bracket,
    pub(super) first_word: String,
}

/// A variable in a statement.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Use {
    pub(super) slot: usize,
    pub(super) at: usize,
    pub(super) place: Place,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    /// The statement of this index in the script.
    Send(usize),
    Set {
        slot: usize,
        to: Expression,
    },
    Sleep {
        /// Of the unit.
        number: Expression,
        unit_us: u64,
        at: usize,
    },
    /// Goes to a later step if the condition does not hold.
    Unless {
        condition: Expression,
        target: usize,
    },
    Jump(usize),
}

/// One script, ready to be run.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) steps: Vec<Step>,
    pub(super) statements: Vec<Sql>,
}

/// The variables of all scripts of a run: a client has one set of them.
#[derive(Debug, Default)]
pub(super) struct Variables {
    slots: HashMap<String, usize>,
    /// Those that have a value before the first transaction.
    preset: HashSet<usize>,
}

impl Variables {
    pub(super) fn preset(&mut self, name: &str) -> usize {
        let slot = self.slot(name);
        self.preset.insert(slot);
        slot
    }

    pub(super) fn count(&self) -> usize {
        self.slots.len()
    }

    fn slot(&mut self, name: &str) -> usize {
        let next = self.slots.len();
        *self.slots.entry(name.to_owned()).or_insert(next)
    }
}

/// Reads a whole script.
pub(super) fn parse(
    text: &str,
    dialect: Dialect,
    variables: &mut Variables,
) -> Result<Parsed, Mistake> {
    let known = Known {
        set: variables.preset.clone(),
        variables,
    };
    let mut parser = Parser {
        text,
        dialect,
        delimiter: None,
        known,
        branches: Vec::new(),
        parsed: Parsed::default(),
        line: 1,
        counted: 0,
    };
    parser.script()?;
    Ok(parser.parsed)
}

fn newlines(text: &str) -> usize {
    text.matches('\n').count()
}

/// The effect of each refused backslash command.
const REFUSED: [(&str, &str); 7] = [
    ("shell", "would run a program amidst the measurement"),
    ("setshell", "would run a program amidst the measurement"),
    ("gset", "would keep a result, and results are only counted"),
    ("aset", "would keep a result, and results are only counted"),
    (
        "startpipeline",
        "would send statements before the replies to those before them",
    ),
    (
        "endpipeline",
        "would send statements before the replies to those before them",
    ),
    (
        "syncpipeline",
        "would send statements before the replies to those before them",
    ),
];

struct Parser<'a, 'b> {
    text: &'a str,
    dialect: Dialect,
    /// The text that ends a statement, where it is no semicolon.
    delimiter: Option<&'a str>,
    known: Known<'b>,
    branches: Vec<Branch>,
    parsed: Parsed,
    /// The line of the last statement, and the byte up to which lines are counted.
    line: usize,
    counted: usize,
}

/// The variables that have a value, or may have one, at a place of the script.
struct Known<'b> {
    set: HashSet<usize>,
    variables: &'b mut Variables,
}

impl Names for Known<'_> {
    fn slot(&self, name: &str) -> Option<usize> {
        let slot = self.variables.slots.get(name).copied();
        slot.filter(|slot| self.set.contains(slot))
    }
}

/// An open `\if`.
struct Branch {
    at: usize,
    has_else: bool,
    /// The step that leads past the current part, if that has a condition.
    condition: Option<usize>,
    /// Steps at the parts' ends that lead past the whole.
    ends: Vec<usize>,
}

impl<'a> Parser<'a, '_> {
    fn script(&mut self) -> Result<(), Mistake> {
        let mut at = 0;
        loop {
            at += blank_bytes(self.text, at, self.dialect)?;
            let rest = &self.text[at..];
            if rest.is_empty() {
                break;
            }
            at = if rest.starts_with('\\') {
                self.command(at)?
            } else {
                self.statement(at)?
            };
        }
        if let Some(open) = self.branches.last() {
            return Err(Mistake::new(open.at, "this \\if has no \\endif"));
        }
        if self.parsed.steps.is_empty() {
            return Err(Mistake::new(0, "the script is empty"));
        }
        self.brackets()
    }

    /// Refuses a transaction that the script leaves open: the next one would begin inside it.
    fn brackets(&self) -> Result<(), Mistake> {
        let statements = self.parsed.statements.iter().rev();
        let mut brackets = statements.filter(|sql| sql.bracket != Bracket::Neither);
        match brackets.next() {
            Some(sql) if sql.bracket == Bracket::Begins => Err(Mistake::new(
                sql.at,
                "the transaction that begins here does not end in this script; add COMMIT",
            )),
            _ => Ok(()),
        }
    }

    fn statement(&mut self, at: usize) -> Result<usize, Mistake> {
        let word = &self.text[at..][..name_bytes(&self.text[at..])];
        if self.dialect == Dialect::Mysql && word.eq_ignore_ascii_case("DELIMITER") {
            return self.delimiter(at, at + word.len());
        }
        let scanned = scan(self.text, at, self.dialect, self.delimiter)?;
        if self.dialect == Dialect::Postgres && scanned.copies_from_client() {
            return Err(Mistake::new(
                at,
                "the rows of COPY … FROM stdin cannot be sent from a script; make the dump with pg_dump --inserts",
            ));
        }
        let next = scanned.next;
        // A lone semicolon says nothing.
        if scanned.end > scanned.start {
            self.line += newlines(&self.text[self.counted..at]);
            self.counted = at;
            let sql = self.sql(&scanned)?;
            self.parsed
                .steps
                .push(Step::Send(self.parsed.statements.len()));
            self.parsed.statements.push(sql);
        }
        Ok(next)
    }

    /// The mysql client's DELIMITER, which dumps write around routines; returns the end of its line.
    fn delimiter(&mut self, at: usize, arguments: usize) -> Result<usize, Mistake> {
        let end = self.line_end(arguments);
        self.delimiter = match self.text[arguments..end].trim() {
            "" => {
                return Err(Mistake::new(
                    at,
                    "DELIMITER needs the text that ends a statement",
                ));
            }
            ";" => None,
            delimiter => Some(delimiter),
        };
        Ok(end)
    }

    fn sql(&self, scanned: &Scanned<'a>) -> Result<Sql, Mistake> {
        let mut pieces = Vec::new();
        let mut uses = Vec::new();
        let mut start = scanned.start;
        for Mark { at, name, place } in &scanned.marks {
            let Some(slot) = self.known.slot(name) else {
                // In a string, a colon before letters is most often no variable.
                if *place == Place::Quotation {
                    continue;
                }
                return Err(undefined(name, *at));
            };
            pieces.push(self.text[start..*at].to_owned());
            uses.push(Use {
                slot,
                at: *at,
                place: *place,
            });
            start = at + 1 + name.len();
        }
        pieces.push(self.text[start..scanned.end].to_owned());
        Ok(Sql {
            at: scanned.start,
            line: self.line,
            written: self.text[scanned.start..scanned.end].to_owned(),
            pieces,
            uses,
            kind: scanned.kind(),
            bracket: scanned.bracket(),
            first_word: scanned.first_word(),
        })
    }

    /// A backslash command; returns the end of its line.
    fn command(&mut self, at: usize) -> Result<usize, Mistake> {
        let name = &self.text[at + 1..][..name_bytes(&self.text[at + 1..])];
        let arguments = at + 1 + name.len();
        match name {
            "set" => self.set(at, arguments)?,
            "sleep" => self.sleep(at, arguments)?,
            "if" => {
                let condition = self.expression(arguments)?;
                let step = self.add_condition(condition);
                self.branches.push(Branch {
                    at,
                    has_else: false,
                    condition: Some(step),
                    ends: Vec::new(),
                });
            }
            "elif" => {
                self.end_part(at, "elif")?;
                let condition = self.expression(arguments)?;
                let step = self.add_condition(condition);
                if let Some(branch) = self.branches.last_mut() {
                    branch.condition = Some(step);
                }
            }
            "else" => {
                self.end_part(at, "else")?;
                if let Some(branch) = self.branches.last_mut() {
                    branch.has_else = true;
                }
                self.nothing_more(arguments)?;
            }
            "endif" => {
                self.end_branch(at)?;
                self.nothing_more(arguments)?;
            }
            // psql's: pg_dump writes them around a dump.
            "restrict" | "unrestrict" if self.dialect == Dialect::Postgres => {}
            _ => return Err(self.refusal(name, at)),
        }
        Ok(self.line_end(arguments))
    }

    fn refusal(&self, name: &str, at: usize) -> Mistake {
        if let Some((_, why)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
            return Mistake::new(
                at,
                format!("\\{name} {why}; diskproof-load has no such command"),
            );
        }
        let shown = match name {
            "" => "a backslash",
            _ => &self.text[at..=at + name.len()],
        };
        Mistake::new(
            at,
            format!(
                "{shown} is not a command; the commands are \\set, \\sleep, \\if, \\elif, \\else and \\endif"
            ),
        )
    }

    fn set(&mut self, at: usize, arguments: usize) -> Result<(), Mistake> {
        let name_at = arguments + space_bytes(&self.text[arguments..]);
        let length = name_bytes(&self.text[name_at..]);
        if length == 0 || name_at == arguments {
            return Err(Mistake::new(at, "\\set needs a name and an expression"));
        }
        let name = &self.text[name_at..name_at + length];
        let to = self.expression(name_at + length)?;
        let slot = self.known.variables.slot(name);
        self.known.set.insert(slot);
        self.parsed.steps.push(Step::Set { slot, to });
        Ok(())
    }

    /// `\sleep 10 ms`, `\sleep 10ms`, `\sleep :pause`: an integer or a variable, and a unit.
    fn sleep(&mut self, at: usize, arguments: usize) -> Result<(), Mistake> {
        let tokens = tokens(self.text, arguments)?;
        let (number, unit) = match tokens[..] {
            [number, end] => (number, end),
            [number, unit, _] => (number, unit),
            _ => return Err(Mistake::new(at, "\\sleep needs a number, then us, ms or s")),
        };
        let number = match number.token {
            Token::Int(value) => i64::try_from(value)
                .ok()
                .map(|value| Expression::Constant(super::Value::Int(value))),
            Token::Variable(name) => {
                let slot = self.known.slot(name);
                let slot = slot.ok_or_else(|| undefined(name, number.at))?;
                Some(Expression::Variable {
                    slot,
                    at: number.at,
                })
            }
            _ => None,
        }
        .ok_or_else(|| Mistake::new(number.at, "\\sleep takes a whole number or a variable"))?;
        let unit_us = match unit.token {
            Token::End | Token::Word("s") => 1_000_000,
            Token::Word("ms") => 1000,
            Token::Word("us") => 1,
            _ => return Err(Mistake::new(unit.at, "the unit of a sleep is us, ms or s")),
        };
        self.parsed.steps.push(Step::Sleep {
            number,
            unit_us,
            at,
        });
        Ok(())
    }

    fn expression(&self, start: usize) -> Result<Expression, Mistake> {
        Expression::parse(self.text, start, &self.known)
    }

    fn add_condition(&mut self, condition: Expression) -> usize {
        self.parsed.steps.push(Step::Unless {
            condition,
            target: 0,
        });
        self.parsed.steps.len() - 1
    }

    /// Ends the part of an `\if` before an `\elif` or `\else`.
    fn end_part(&mut self, at: usize, name: &str) -> Result<(), Mistake> {
        let Some(branch) = self.branches.last_mut() else {
            return Err(Mistake::new(at, format!("\\{name} without an \\if")));
        };
        if branch.has_else {
            return Err(Mistake::new(at, format!("\\{name} after \\else")));
        }
        branch.ends.push(self.parsed.steps.len());
        self.parsed.steps.push(Step::Jump(0));
        let condition = branch.condition.take();
        self.lead(condition.into_iter());
        Ok(())
    }

    fn end_branch(&mut self, at: usize) -> Result<(), Mistake> {
        let branch = self.branches.pop();
        let branch = branch.ok_or_else(|| Mistake::new(at, "\\endif without an \\if"))?;
        self.lead(branch.ends.into_iter().chain(branch.condition));
        Ok(())
    }

    /// Makes these steps lead to the next step to be added.
    fn lead(&mut self, steps: impl Iterator<Item = usize>) {
        let here = self.parsed.steps.len();
        for step in steps {
            match &mut self.parsed.steps[step] {
                Step::Unless { target, .. } | Step::Jump(target) => *target = here,
                _ => {}
            }
        }
    }

    fn nothing_more(&self, start: usize) -> Result<(), Mistake> {
        let at = start + space_bytes(&self.text[start..]);
        if at == self.text.len() || self.text[at..].starts_with('\n') {
            return Ok(());
        }
        Err(Mistake::new(at, "nothing else may stand on this line"))
    }

    /// The end of a command's line, which a backslash at its end puts off.
    fn line_end(&self, start: usize) -> usize {
        let mut at = start;
        while let Some(newline) = self.text[at..].find('\n') {
            let line = self.text[at..at + newline].trim_end_matches('\r');
            if !line.ends_with('\\') {
                return at + newline;
            }
            at += newline + 1;
        }
        self.text.len()
    }
}
