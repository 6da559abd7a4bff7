//! A stage of a script's job: turns that are dealt out among its clients. A load that runs for a time has turns
//! without end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mlua::{Lua, MultiValue, Table, Thread, Value};

use super::Setup;
use super::client::NEXT;
use super::state::{State, text};
use crate::driver::{Args, ServerError};
use crate::workload::{Catalogue, Expected, Next, Script, Workload};

// What a client yields besides the end of a turn without a step (prelude/job.lua): steps, and the last of them.
const STEPS: u32 = 30;
const LAST_STEPS: u32 = 31;

// The steps that are not a statement of the catalogue.
const SEND: u32 = 20;
const COME_AGAIN: u32 = 22;

/// Values of each step.
const WIDTH: usize = 8;

/// The turns of a stage, shared by its clients.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// The script finds by it what a turn is.
    pub(super) key: String,
    /// The stage's number, from 1: its draws are others than those of the stages before.
    pub(super) stage: u64,
    pub(super) count: u64,
    pub(super) clients: u64,
    /// Texts that its clients may read, such as the keys of a table.
    pub(super) texts: Vec<String>,
    /// Statements of the first type must be refused, as rows that are there already.
    pub(super) refused: bool,
    /// Whether the numbers of rows that turns say are checked: those sent, and those changed.
    pub(super) checks: (bool, bool),
    pub(super) begun: AtomicU64,
    pub(super) rows: AtomicU64,
    pub(super) affected: AtomicU64,
}

impl Turns {
    /// Another statement must send and change so many rows.
    pub(super) fn expect(&self, rows: u64, affected: u64) {
        for (sum, more) in [(&self.rows, rows), (&self.affected, affected)] {
            // The clients share it.
            if more > 0 {
                sum.fetch_add(more, Ordering::Relaxed);
            }
        }
    }

    /// Puts what a client needs into the table that the prelude reads.
    pub(super) fn install(self: &Arc<Self>, lua: &Lua, host: &Table) -> mlua::Result<()> {
        host.set("key", self.key.as_str())?;
        host.set("texts", self.texts.len())?;
        let own = Arc::clone(self);
        let text = move |lua: &Lua, place: usize| lua.create_string(&own.texts[place - 1]);
        host.set("text_at", lua.create_function(text)?)
    }
}

/// A stage as a workload.
#[derive(Debug)]
pub struct LuaTurns {
    pub(super) setup: Arc<Setup>,
    pub(super) catalogue: Arc<Catalogue>,
    pub(super) turns: Arc<Turns>,
}

impl Workload for LuaTurns {
    type Script = TurnsClient;

    fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// What the script needs for its turns is made here, before anything is measured.
    fn script(&self, client: usize) -> TurnsClient {
        TurnsClient {
            number: client,
            state: State::entering(&self.setup, client, &self.turns),
            course: None,
            next: client as u64,
            turns: Arc::clone(&self.turns),
            turn: 0,
            batch: MultiValue::new(),
            steps: 0,
            expected: 0,
            has_waited: false,
            has_ended: false,
            mistake: String::new(),
        }
    }

    fn expects(&self, type_index: usize, error: &ServerError) -> bool {
        self.turns.refused && type_index == 0 && is_duplicate(error)
    }

    fn expected(&self) -> Expected {
        let (rows, affected) = self.turns.checks;
        let sum = |sum: &AtomicU64| sum.load(Ordering::Relaxed);
        Expected {
            rows: rows.then(|| sum(&self.turns.rows)),
            affected: affected.then(|| sum(&self.turns.affected)),
        }
    }
}

/// Whether a row was refused because its key exists: MySQL's `ER_DUP_ENTRY` (in 5.0 also
/// `ER_DUP_KEY`), PostgreSQL's `unique_violation`, SQLite's constraint.
fn is_duplicate(error: &ServerError) -> bool {
    ["1062", "1022", "23505", "SQLITE_CONSTRAINT"].contains(&error.code.as_str())
}

/// A client that takes its share of a stage's turns.
#[derive(Debug)]
pub struct TurnsClient {
    number: usize,
    turns: Arc<Turns>,
    state: mlua::Result<State>,
    /// The coroutine that takes turns; `None` before the first, and after one that has been broken off.
    course: Option<Thread>,
    /// The present turn, and the client's next.
    turn: u64,
    next: u64,
    /// The steps that the script has handed over.
    batch: MultiValue,
    /// Steps of the turn so far, and those whose rows are expected already: a turn may be taken again.
    steps: usize,
    expected: usize,
    /// Whether the turn has had a step, and whether the script has handed over its last.
    has_waited: bool,
    has_ended: bool,
    mistake: String,
}

impl TurnsClient {
    fn take_turn(&mut self) {
        self.batch.clear();
        (self.steps, self.has_waited, self.has_ended) = (0, false, false);
    }

    fn proceed(&mut self, args: &mut Args) -> Result<Option<Next>, String> {
        loop {
            if let Some(next) = self.step(args) {
                self.has_waited = true;
                return Ok(Some(next));
            }
            if self.has_ended {
                return Ok(None);
            }
            let (op, first, rest) = self.resume().map_err(|error| error.to_string())?;
            match op {
                Some(STEPS) => self.batch = rest,
                Some(LAST_STEPS) => {
                    self.batch = rest;
                    self.has_ended = true;
                }
                Some(NEXT) => {
                    self.has_ended = true;
                    if !self.has_waited {
                        // A turn without a step still takes its time.
                        return Ok(Some(Next::Sleep { us: 0 }));
                    }
                }
                _ => return Err(text(&first)),
            }
        }
    }

    /// Lets the script go on, in the coroutine that has taken the turns before.
    fn resume(&mut self) -> mlua::Result<(Option<u32>, Value, MultiValue)> {
        let state = self.state.as_ref().map_err(Clone::clone)?;
        let course = match &mut self.course {
            Some(course) => course,
            none => none.insert(state.begin("turns")?),
        };
        course.resume(self.turn)
    }

    /// The next step of the turn, which the script does not wait for.
    fn step(&mut self, args: &mut Args) -> Option<Next> {
        let op = self.batch.pop_front()?.as_u32()?;
        let mut values = [const { Value::Nil }; WIDTH - 1];
        values.fill_with(|| self.batch.pop_front().unwrap_or_default());
        let [place, values @ ..] = &values;
        let place = place.as_usize().unwrap_or(usize::MAX);
        if op == COME_AGAIN {
            return Some(Next::Reconnect { type_index: place });
        }
        let (sql, values) = match (op, &values[..]) {
            (SEND, [sql, rest @ ..]) => (Some(sql), rest),
            (_, values) => (None, values),
        };
        let rows = |place: usize| values.get(place).and_then(Value::as_u64).unwrap_or(0);
        self.steps += 1;
        if self.steps > self.expected {
            self.expected = self.steps;
            self.turns.expect(rows(0), rows(1));
        }
        if let Some(sql) = sql {
            let out = args.begin_sql();
            match sql {
                Value::String(sql) => out.extend_from_slice(&sql.as_bytes()),
                other => out.extend_from_slice(text(other).as_bytes()),
            }
            return Some(Next::Sql { type_index: place });
        }
        bind(values.get(2..).unwrap_or_default(), args);
        Some(Next::Statement(place))
    }
}

impl Script for TurnsClient {
    fn begin(&mut self) -> bool {
        if self.next >= self.turns.count {
            return false;
        }
        self.turn = self.next;
        self.next += self.turns.clients;
        self.expected = 0;
        self.turns.begun.fetch_add(1, Ordering::Relaxed);
        self.take_turn();
        true
    }

    /// The server has undone the turn: it is taken again.
    fn begin_again(&mut self) -> bool {
        self.course = None;
        self.take_turn();
        true
    }

    fn next(&mut self, args: &mut Args) -> Option<Next> {
        self.proceed(args).unwrap_or_else(|mistake| {
            self.mistake = format!("client {}: {mistake}", self.number);
            Some(Next::Fail)
        })
    }

    /// The turn ends here.
    fn take_refusal(&mut self, _error: &ServerError, _again: bool) -> bool {
        self.course = None;
        false
    }

    fn lost(&mut self) {
        self.course = None;
    }

    fn mistake(&self) -> String {
        self.mistake.clone()
    }
}

/// Values as a statement's parameters, without those that are nil.
pub(super) fn bind(values: &[Value], args: &mut Args) {
    args.clear();
    for value in values {
        match value {
            Value::Nil => {}
            Value::Integer(number) => args.push_int(*number),
            Value::String(text) => args.push_text(|out| out.extend_from_slice(&text.as_bytes())),
            other => args.push_text(|out| out.extend_from_slice(text(other).as_bytes())),
        }
    }
}
