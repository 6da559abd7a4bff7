//! One client of a script workload: its variables, its draws, and how far it is.

use std::sync::Arc;

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::expression::unset;
use super::parser::{Step, Use};
use super::value::Value;
use super::{Files, Sent};
use crate::driver::{Args, Dialect};
use crate::workload::sql::Mistake;
use crate::workload::{Next, Script};

/// A client's state besides its script, kept as it was when the transaction began so that it can be
/// run again.
#[derive(Debug, Clone)]
struct State {
    variables: Vec<Option<Value>>,
    rng: Xoshiro256PlusPlus,
}

/// A client's course through the scripts.
#[derive(Debug)]
pub struct ScriptClient {
    files: Arc<Files>,
    state: State,
    begun_with: State,
    file: usize,
    step: usize,
    /// Whether this transaction has sent or slept: one that does neither still takes its turn.
    has_waited: bool,
    mistake: Option<Box<Mistake>>,
}

impl ScriptClient {
    pub(super) fn new(
        files: Arc<Files>,
        variables: Vec<Option<Value>>,
        rng: Xoshiro256PlusPlus,
    ) -> Self {
        let state = State { variables, rng };
        Self {
            files,
            begun_with: state.clone(),
            state,
            file: 0,
            step: 0,
            has_waited: false,
            mistake: None,
        }
    }

    /// Goes on to the next step that takes time.
    fn proceed(&mut self, args: &mut Args) -> Result<Option<Next>, Box<Mistake>> {
        let State { variables, rng } = &mut self.state;
        let file = &self.files.all[self.file];
        while let Some(step) = file.steps.get(self.step) {
            self.step += 1;
            match step {
                Step::Set { slot, to } => variables[*slot] = Some(to.evaluate(variables, rng)?),
                Step::Unless { condition, target } => {
                    if !condition.evaluate(variables, rng)?.is_true() {
                        self.step = *target;
                    }
                }
                Step::Jump(target) => self.step = *target,
                Step::Sleep {
                    number,
                    unit_us,
                    at,
                } => {
                    let us = sleep_us(number.evaluate(variables, rng)?, *unit_us, *at)?;
                    return Ok(Some(Next::Sleep { us }));
                }
                Step::Send(statement) => {
                    let sent = &file.statements[*statement];
                    let next = sent.next(variables, self.files.dialect, args)?;
                    return Ok(Some(next));
                }
            }
        }
        Ok(None)
    }
}

/// The length of a sleep.
fn sleep_us(number: Value, unit_us: u64, at: usize) -> Result<u64, Mistake> {
    number
        .to_int()
        .ok()
        .and_then(|number| u64::try_from(number).ok())
        .and_then(|number| number.checked_mul(unit_us))
        .ok_or_else(|| Mistake::new(at, "this is not the length of a sleep"))
}

/// Puts a value into a statement's text.
pub(super) fn put_value(value: Value, out: &mut Vec<u8>) {
    // With another minus before it, it would begin a comment.
    let parenthesised = out.ends_with(b"-") && value.is_negative();
    out.extend_from_slice(if parenthesised { b"(" } else { b"" });
    value.write(out);
    out.extend_from_slice(if parenthesised { b")" } else { b"" });
}

/// Binds a value to a parameter. `PostgreSQL` says itself which type that has, and reads each of them from
/// text; conditions are 1 and 0 to the others.
#[inline]
fn bind(value: Value, dialect: Dialect, args: &mut Args) {
    match value {
        Value::Null => args.push_null(),
        Value::Int(value) => args.push_int(value),
        other if dialect == Dialect::Postgres => args.push_text(|out| other.write(out)),
        Value::Double(value) => args.push_double(value),
        Value::Bool(value) => args.push_int(value.into()),
    }
}

impl Script for ScriptClient {
    fn begin(&mut self) -> bool {
        self.begun_with
            .variables
            .copy_from_slice(&self.state.variables);
        self.file = self.files.choose(&mut self.state.rng);
        self.begun_with.rng = self.state.rng.clone();
        self.start();
        true
    }

    fn begin_again(&mut self) -> bool {
        self.state
            .variables
            .copy_from_slice(&self.begun_with.variables);
        self.state.rng = self.begun_with.rng.clone();
        self.start();
        true
    }

    fn next(&mut self, args: &mut Args) -> Option<Next> {
        match self.proceed(args) {
            Ok(None) if !self.has_waited => {
                self.has_waited = true;
                Some(Next::Sleep { us: 0 })
            }
            Ok(next) => {
                self.has_waited = true;
                next
            }
            Err(mistake) => {
                self.mistake = Some(mistake);
                Some(Next::Fail)
            }
        }
    }

    fn mistake(&self) -> String {
        let told = |mistake: &Mistake| self.files.all[self.file].source.tell(mistake);
        self.mistake.as_deref().map(told).unwrap_or_default()
    }
}

impl ScriptClient {
    fn start(&mut self) {
        self.step = 0;
        self.has_waited = false;
    }
}

impl Files {
    /// Draws a script by its weight.
    fn choose(&self, rng: &mut Xoshiro256PlusPlus) -> usize {
        if self.all.len() == 1 {
            return 0;
        }
        let drawn = rng.random_range(0..self.total_weight);
        self.all.partition_point(|file| file.weight_up_to <= drawn)
    }
}

impl Sent {
    /// The statement with its variables' values, in the arguments.
    pub(super) fn next(
        &self,
        variables: &[Option<Value>],
        dialect: Dialect,
        args: &mut Args,
    ) -> Result<Next, Box<Mistake>> {
        match self {
            Self::Prepared { id, uses } => {
                args.clear();
                for Use { slot, at, .. } in uses {
                    let value = variables[*slot].ok_or_else(|| unset(*at))?;
                    bind(value, dialect, args);
                }
                Ok(Next::Statement(*id))
            }
            Self::Text {
                type_index,
                pieces,
                uses,
            } => {
                let out = args.begin_sql();
                out.extend_from_slice(pieces[0].as_bytes());
                for (Use { slot, at, .. }, piece) in uses.iter().zip(&pieces[1..]) {
                    let value = variables[*slot].ok_or_else(|| unset(*at))?;
                    put_value(value, out);
                    out.extend_from_slice(piece.as_bytes());
                }
                Ok(Next::Sql {
                    type_index: *type_index,
                })
            }
        }
    }
}
