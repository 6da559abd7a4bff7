//! A script's text becomes steps: statements, assignments, branches, sleeps.

use std::collections::{HashMap, HashSet};

use super::expression::{Expression, Names, undefined};
use super::lexer::{Token, name_bytes, space_bytes, tokens};
use crate::driver::{Dialect, Kind};
use crate::workload::sql::{Bracket, Mark, Mistake, Piece, Place, Scanned, next_piece};

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
    /// The statement of the script.
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
#[derive(Debug)]
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

    /// The variable of this name; `None` if the scripts have none.
    pub(super) fn get(&self, name: &str) -> Option<usize> {
        self.slots.get(name).copied()
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
    let mut state = State::new(variables);
    let mut statements = Vec::new();
    let mut delimiter: Option<Vec<u8>> = None;
    let mut at = 0;
    let (mut line, mut counted) = (1, 0);
    loop {
        at = match next_piece(text.as_bytes(), at, dialect, delimiter.as_deref())? {
            Piece::End => break,
            Piece::Command { at, end } => {
                Parser::new(text, &mut state).command(at)?;
                end
            }
            Piece::Delimiter { end, text } => {
                delimiter = text;
                end
            }
            Piece::Statement(scanned) => {
                let sent = state.statement(text.as_bytes(), &scanned, dialect)?;
                if sent {
                    line += text[counted..scanned.start].matches('\n').count();
                    counted = scanned.start;
                    state.steps.push(Step::Send(statements.len()));
                    statements.push(state.sql(text, &scanned, line)?);
                }
                scanned.next
            }
        };
    }
    state.end()?;
    Ok(Parsed {
        steps: state.steps,
        statements,
    })
}

/// What is known of a script up to a place.
pub(super) struct State<'b> {
    known: Known<'b>,
    branches: Vec<Branch>,
    steps: Vec<Step>,
    /// Whether rows may follow a COPY … FROM stdin.
    pub(super) takes_rows: bool,
    has_statements: bool,
    /// The statement that began a transaction which is still open.
    open: Option<usize>,
}

/// Reads a command of a script.
struct Parser<'a, 'b, 'c> {
    text: &'a str,
    state: &'c mut State<'b>,
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

impl<'b> State<'b> {
    pub(super) fn new(variables: &'b mut Variables) -> Self {
        Self {
            known: Known {
                set: variables.preset.clone(),
                variables,
            },
            branches: Vec::new(),
            steps: Vec::new(),
            takes_rows: false,
            has_statements: false,
            open: None,
        }
    }

    /// Takes a statement; false if it is a lone semicolon, which says nothing.
    pub(super) fn statement(
        &mut self,
        text: &[u8],
        scanned: &Scanned,
        dialect: Dialect,
    ) -> Result<bool, Mistake> {
        if scanned.end == scanned.start {
            return Ok(false);
        }
        if !self.takes_rows && dialect == Dialect::Postgres && scanned.copies_from_client(text) {
            return Err(Mistake::new(
                scanned.start,
                "the rows of COPY … FROM stdin are loaded by `prepare`; a measured script has none",
            ));
        }
        for mark in &scanned.marks {
            self.slot(text, mark)?;
        }
        match scanned.bracket(text) {
            Bracket::Begins => self.open = Some(scanned.start),
            Bracket::Ends => self.open = None,
            Bracket::Neither => {}
        }
        self.has_statements = true;
        Ok(true)
    }

    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The variable that a mark stands for; `None` if it is no variable.
    fn slot(&self, text: &[u8], mark: &Mark) -> Result<Option<usize>, Mistake> {
        let name = mark.name(text);
        match self.known.slot(name) {
            // In a string, a colon before letters is most often no variable.
            None if mark.place != Place::Quotation => Err(undefined(name, mark.at)),
            slot => Ok(slot),
        }
    }

    /// Refuses a script that ends too early. A transaction that it leaves open would have the next
    /// one begin inside it; the mistake's place is where the transaction begins.
    pub(super) fn end(&self) -> Result<(), Mistake> {
        if let Some(open) = self.branches.last() {
            return Err(Mistake::new(open.at, "this \\if has no \\endif"));
        }
        if self.steps.is_empty() && !self.has_statements {
            return Err(Mistake::new(0, "the script is empty"));
        }
        match self.open {
            Some(at) => Err(Mistake::new(
                at,
                "the transaction that begins here does not end in this script; add COMMIT",
            )),
            None => Ok(()),
        }
    }

    fn sql(&self, text: &str, scanned: &Scanned, line: usize) -> Result<Sql, Mistake> {
        let bytes = text.as_bytes();
        let mut pieces = Vec::new();
        let mut uses = Vec::new();
        let mut start = scanned.start;
        for mark in &scanned.marks {
            let Some(slot) = self.slot(bytes, mark)? else {
                continue;
            };
            let Mark { at, end, place } = *mark;
            pieces.push(text[start..at].to_owned());
            uses.push(Use { slot, at, place });
            start = end;
        }
        pieces.push(text[start..scanned.end].to_owned());
        Ok(Sql {
            at: scanned.start,
            line,
            written: text[scanned.start..scanned.end].to_owned(),
            pieces,
            uses,
            kind: scanned.kind(bytes),
            bracket: scanned.bracket(bytes),
            first_word: scanned.first_word(bytes),
        })
    }
}

impl<'a, 'b, 'c> Parser<'a, 'b, 'c> {
    fn new(text: &'a str, state: &'c mut State<'b>) -> Self {
        Self { text, state }
    }

    /// Takes the backslash command that stands here.
    fn command(&mut self, at: usize) -> Result<(), Mistake> {
        let name = &self.text[at + 1..][..name_bytes(&self.text[at + 1..])];
        let arguments = at + 1 + name.len();
        match name {
            "set" => self.set(at, arguments)?,
            "sleep" => self.sleep(at, arguments)?,
            "if" => {
                let condition = self.expression(arguments)?;
                let step = self.add_condition(condition);
                self.state.branches.push(Branch {
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
                if let Some(branch) = self.state.branches.last_mut() {
                    branch.condition = Some(step);
                }
            }
            "else" => {
                self.end_part(at, "else")?;
                if let Some(branch) = self.state.branches.last_mut() {
                    branch.has_else = true;
                }
                self.nothing_more(arguments)?;
            }
            "endif" => {
                self.end_branch(at)?;
                self.nothing_more(arguments)?;
            }
            _ => return Err(self.refusal(name, at)),
        }
        Ok(())
    }

    fn refusal(&self, name: &str, at: usize) -> Mistake {
        let shown = match name {
            "" => "a backslash",
            _ => &self.text[at..=at + name.len()],
        };
        let why = match name {
            "shell" | "setshell" => "would run a program amidst the measurement",
            "gset" | "aset" => "would keep a result, and results are only counted",
            "startpipeline" | "endpipeline" | "syncpipeline" => {
                "would send statements before the replies to those before them"
            }
            _ => {
                let known = "the commands are \\set, \\sleep, \\if, \\elif, \\else and \\endif";
                return Mistake::new(at, format!("{shown} is not a command; {known}"));
            }
        };
        let what = format!("{shown} {why}; diskproof-load has no such command");
        Mistake::new(at, what)
    }

    fn set(&mut self, at: usize, arguments: usize) -> Result<(), Mistake> {
        let name_at = arguments + space_bytes(&self.text[arguments..]);
        let length = name_bytes(&self.text[name_at..]);
        if length == 0 || name_at == arguments {
            return Err(Mistake::new(at, "\\set needs a name and an expression"));
        }
        let name = &self.text[name_at..name_at + length];
        let to = self.expression(name_at + length)?;
        let slot = self.state.known.variables.slot(name);
        self.state.known.set.insert(slot);
        self.state.steps.push(Step::Set { slot, to });
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
                let slot = self.state.known.slot(name);
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
        self.state.steps.push(Step::Sleep {
            number,
            unit_us,
            at,
        });
        Ok(())
    }

    fn expression(&self, start: usize) -> Result<Expression, Mistake> {
        Expression::parse(self.text, start, &self.state.known)
    }

    fn add_condition(&mut self, condition: Expression) -> usize {
        self.state.steps.push(Step::Unless {
            condition,
            target: 0,
        });
        self.state.steps.len() - 1
    }

    /// Ends the part of an `\if` before an `\elif` or `\else`.
    fn end_part(&mut self, at: usize, name: &str) -> Result<(), Mistake> {
        let Some(branch) = self.state.branches.last_mut() else {
            return Err(Mistake::new(at, format!("\\{name} without an \\if")));
        };
        if branch.has_else {
            return Err(Mistake::new(at, format!("\\{name} after \\else")));
        }
        branch.ends.push(self.state.steps.len());
        self.state.steps.push(Step::Jump(0));
        let condition = branch.condition.take();
        self.lead(condition.into_iter());
        Ok(())
    }

    fn end_branch(&mut self, at: usize) -> Result<(), Mistake> {
        let branch = self.state.branches.pop();
        let branch = branch.ok_or_else(|| Mistake::new(at, "\\endif without an \\if"))?;
        self.lead(branch.ends.into_iter().chain(branch.condition));
        Ok(())
    }

    /// Makes these steps lead to the next step to be added.
    fn lead(&mut self, steps: impl Iterator<Item = usize>) {
        let here = self.state.steps.len();
        for step in steps {
            match &mut self.state.steps[step] {
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
}
