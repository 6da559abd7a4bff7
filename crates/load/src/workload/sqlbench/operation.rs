//! One line of sql-bench's report: a loop, its table's state before, and what it counts.

use std::fmt;
use std::sync::Arc;

use super::steps::{Expected, Steps};
use crate::driver::Kind;

/// Characters of a statement that is shown: some have a thousand columns, or ten thousand rows.
const LONGEST_EXAMPLE: usize = 200;

/// Which turn of a loop is taken, and by whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// From 0, over all clients.
    pub index: u64,
    pub client: usize,
}

/// What counts as one execution of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    Turns,
    /// Rows changed: many to a turn.
    Rows,
}

impl Turn {
    fn first() -> Self {
        Self {
            index: 0,
            client: 0,
        }
    }
}

type Loop = Arc<dyn Fn(Turn, &mut Steps) + Send + Sync>;

/// A question about the tables after an operation, and the only right answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    pub sql: String,
    pub answer: String,
}

/// One operation of a test.
#[derive(Clone)]
pub struct Operation {
    /// As the original names it.
    pub name: &'static str,
    pub kind: Kind,
    /// Number of repetitions, as the original counts.
    pub planned: u64,
    pub turns: u64,
    pub counted: Counted,
    /// Why its loop is never dealt out to several clients; `None`: it is.
    pub alone: Option<&'static str>,
    /// Whether a time limit may end its loop early. Not if later operations depend on its changes:
    /// their tables would be smaller, and a slow disk would look fast.
    pub can_be_cut: bool,
    /// Makes what the loop works on; not timed.
    pub before: Vec<String>,
    pub check: Option<Check>,
    /// A statement with one parameter that the clients prepare as they connect.
    pub prepared: Option<String>,
    /// Every statement must be refused, as a row that is there already.
    pub refused: bool,
    /// The operation that must have finished for this one to mean something.
    pub needs: Option<&'static str>,
    /// Why it is not run at all.
    pub skipped: Option<String>,
    /// The statement that gives a transaction up after an error, if there is one.
    pub rolls_back: bool,
    /// The statements that every session begins with.
    pub set_up: Option<&'static str>,
    take_turn: Loop,
}

impl Operation {
    /// A loop with turns that are dealt out among the clients.
    pub fn new(
        name: &'static str,
        kind: Kind,
        turns: u64,
        take_turn: impl Fn(Turn, &mut Steps) + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            kind,
            planned: turns,
            turns,
            counted: Counted::Turns,
            alone: None,
            can_be_cut: kind == Kind::Read,
            before: Vec::new(),
            check: None,
            prepared: None,
            refused: false,
            needs: None,
            skipped: None,
            rolls_back: false,
            set_up: None,
            take_turn: Arc::new(take_turn),
        }
    }

    /// A loop of one question, each time with the same number of rows in the answer.
    #[must_use]
    pub fn query(name: &'static str, turns: u64, rows: u64, sql: &str) -> Self {
        let sql = sql.to_owned();
        Self::new(name, Kind::Read, turns, move |_, steps| {
            steps.ask(rows, format_args!("{sql}"));
        })
    }

    /// A loop that goes through several questions in turn, `rounds` times; each with the number of
    /// rows in its answer.
    #[must_use]
    pub fn rounds(name: &'static str, rounds: u64, questions: Vec<(u64, String)>) -> Self {
        let turns = rounds * questions.len() as u64;
        Self::new(name, Kind::Read, turns, move |turn, steps| {
            let (rows, sql) = &questions[which(turn.index, questions.len())];
            steps.ask(*rows, format_args!("{sql}"));
        })
    }

    /// Always one client's, for the reason given.
    #[must_use]
    pub fn alone(mut self, reason: &'static str) -> Self {
        self.alone = Some(reason);
        self
    }

    /// A time limit may end it early though it writes, or may not though it reads.
    #[must_use]
    pub fn cut_by_limit(mut self, can_be_cut: bool) -> Self {
        self.can_be_cut = can_be_cut;
        self
    }

    #[must_use]
    pub fn before(mut self, statements: impl IntoIterator<Item = String>) -> Self {
        self.before.extend(statements);
        self
    }

    /// Checks the number of changed rows.
    #[must_use]
    pub fn counts_rows(mut self, rows: u64) -> Self {
        self.planned = rows;
        self.counted = Counted::Rows;
        self
    }

    /// Reports this number, if the original prints another number than that of its statements.
    #[must_use]
    pub fn printed_as(mut self, planned: u64) -> Self {
        self.planned = planned;
        self
    }

    #[must_use]
    pub fn then_holds(mut self, sql: impl Into<String>, answer: u64) -> Self {
        self.check = Some(Check {
            sql: sql.into(),
            answer: answer.to_string(),
        });
        self
    }

    #[must_use]
    pub fn prepares(mut self, sql: impl Into<String>) -> Self {
        self.prepared = Some(sql.into());
        self
    }

    #[must_use]
    pub fn is_refused(mut self) -> Self {
        self.refused = true;
        self
    }

    #[must_use]
    pub fn needs(mut self, operation: &'static str) -> Self {
        self.needs = Some(operation);
        self
    }

    /// Its turns are transactions, in sessions that may have to be set up for that.
    #[must_use]
    pub fn in_transactions(mut self, set_up: Option<&'static str>) -> Self {
        self.rolls_back = true;
        self.set_up = set_up;
        self
    }

    #[must_use]
    pub fn skipped_because(mut self, reason: Option<String>) -> Self {
        self.skipped = reason;
        self
    }

    /// The turn's steps, in place of those that were there.
    pub(super) fn take(&self, turn: Turn, steps: &mut Steps) {
        steps.clear();
        (self.take_turn)(turn, steps);
    }

    /// The text of a turn's statements.
    #[cfg(test)]
    pub(super) fn texts(&self, index: u64) -> Vec<String> {
        let mut steps = Steps::default();
        let turn = Turn {
            index,
            ..Turn::first()
        };
        self.take(turn, &mut steps);
        steps.texts()
    }

    /// The steps of the first turn.
    pub(super) fn first_turn(&self) -> Steps {
        let mut steps = Steps::default();
        self.take(Turn::first(), &mut steps);
        steps
    }

    /// The steps of the last turn.
    pub(super) fn last_turn(&self) -> Steps {
        let mut steps = Steps::default();
        let index = self.turns.saturating_sub(1);
        self.take(
            Turn {
                index,
                ..Turn::first()
            },
            &mut steps,
        );
        steps
    }

    /// A statement of it, to show what it does: of a long one, the beginning.
    #[must_use]
    pub fn example(&self) -> String {
        let steps = self.first_turn();
        let text = self.prepared.clone().or_else(|| steps.example());
        let text = text.unwrap_or_default();
        match text.char_indices().nth(LONGEST_EXAMPLE) {
            Some((end, _)) => format!("{} …", &text[..end]),
            None => text,
        }
    }

    /// Rows that the whole loop must return.
    #[must_use]
    pub fn expected(&self) -> Expected {
        let mut steps = Steps::default();
        let turns = (0..self.turns).map(|index| {
            self.take(
                Turn {
                    index,
                    ..Turn::first()
                },
                &mut steps,
            );
            steps.expected()
        });
        turns.sum()
    }
}

/// Which of `count` things it is the turn of.
pub(super) fn which(index: u64, count: usize) -> usize {
    usize::try_from(index % count as u64).unwrap_or(0)
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.planned)
    }
}
