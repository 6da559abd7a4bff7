//! One client: its Lua state, and the coroutine that its statements suspend.

use std::sync::Arc;

use mlua::{MultiValue, Thread, Value};

use super::Setup;
use super::own::Own;
use super::state::{self, State, text};
use super::statement::{self, Verb};
use crate::driver::rows::Rows;
use crate::driver::{Args, Protocol, Reply, ServerError};
use crate::workload::{NO_TYPE, Next, Script};

// The steps that the prelude yields.
const QUERY: u32 = 1;
const PREPARE: u32 = 2;
const EXECUTE: u32 = 3;
const SLEEP: u32 = 4;
const RECONNECT: u32 = 5;
const ROLLBACK: u32 = 6;
const BIND: u32 = 7;
pub(super) const NEXT: u32 = 10;
const AGAIN: u32 = 11;
pub(super) const FAIL: u32 = 12;

/// `ER_UNSUPPORTED_PS`: a statement that the server cannot prepare is sent as text.
const NOT_PREPARABLE: &str = "1295";

/// A client's course through its script.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools)]
pub struct LuaClient {
    setup: Arc<Setup>,
    number: usize,
    /// Whether it runs the script's command, once, instead of events.
    runs_command: bool,
    state: Option<State>,
    /// `None` before the first coroutine, and after one that an error or a lost connection ended.
    course: Option<Thread>,
    /// What the coroutine's last step returns to it.
    input: Input,
    /// The step that waits for its reply.
    step: Step,
    own: Vec<Own>,
    /// Their memory, which is the script's.
    own_bytes: usize,
    /// Statements prepared on the present connection.
    prepared: usize,
    /// An execution that waits for its statement to be prepared again.
    held: Option<(usize, Vec<Value>)>,
    /// Whether this event has had a step, whether it is over, and whether it was the last.
    has_waited: bool,
    has_ended: bool,
    has_stopped: bool,
    /// The function outside of the measurement that it is in.
    beside: Option<&'static str>,
    mistake: String,
}

/// What a suspended script's step returns.
#[derive(Debug, Default)]
enum Input {
    #[default]
    Nothing,
    /// The coroutine begins, with the client's number.
    Begin,
    Reply {
        rows: u64,
        columns: Option<usize>,
        data: Option<mlua::String>,
    },
    Refusal {
        error: ServerError,
        again: bool,
    },
    Prepared(usize),
}

#[derive(Debug, Clone, Copy)]
enum Step {
    None,
    Query(Verb),
    Prepare(usize),
    Rollback,
    Reconnect,
}

impl LuaClient {
    pub(super) fn new(setup: Arc<Setup>, number: usize, runs_command: bool) -> Self {
        Self {
            setup,
            number,
            runs_command,
            state: None,
            course: None,
            input: Input::Nothing,
            step: Step::None,
            own: Vec::new(),
            own_bytes: 0,
            prepared: 0,
            held: None,
            has_waited: false,
            has_ended: false,
            has_stopped: false,
            beside: None,
            mistake: String::new(),
        }
    }

    /// Memory of the client's Lua state.
    pub fn memory_bytes(&self) -> usize {
        self.state
            .as_ref()
            .map_or(0, |state| state.lua.used_memory())
    }

    /// Begins a coroutine.
    fn set_out(&mut self, name: &str) -> mlua::Result<()> {
        if self.state.is_none() {
            self.state = Some(State::new(&self.setup, self.number)?);
        }
        if let Some(state) = &self.state {
            self.course = Some(state.begin(name)?);
            self.input = Input::Begin;
        }
        Ok(())
    }

    /// Begins a coroutine; a mistake comes with the first step.
    fn try_to_set_out(&mut self, name: &str) {
        self.has_waited = false;
        self.has_ended = false;
        if let Err(error) = self.set_out(name) {
            self.course = None;
            self.mistake = error.to_string();
        }
    }

    /// Begins a function outside of the measurement.
    fn enter(&mut self, function: &'static str) {
        self.beside = Some(function);
        self.setup.watch.begin(self.number, function);
    }

    fn leave(&mut self) {
        if self.beside.take().is_some() {
            self.setup.watch.end(self.number);
        }
    }

    fn resume(&mut self) -> Result<(u32, Value, MultiValue), String> {
        let Some(course) = &self.course else {
            return Err(std::mem::take(&mut self.mistake));
        };
        let input = std::mem::take(&mut self.input);
        let outcome = match input {
            Input::Nothing => course.resume(()),
            Input::Begin => course.resume(self.number),
            Input::Reply {
                rows,
                columns,
                data,
            } => course.resume((true, rows, columns, data)),
            Input::Refusal { error, again } => {
                let errno: u32 = error.code.parse().unwrap_or(0);
                let state = error.sql_state.unwrap_or(error.code);
                course.resume((false, errno, state, error.message, Value::Nil, again))
            }
            Input::Prepared(number) => course.resume((true, number)),
        };
        let (op, first, rest): (Option<u32>, Value, MultiValue) =
            outcome.map_err(|error| error.to_string())?;
        Ok((op.unwrap_or(FAIL), first, rest))
    }

    fn proceed(&mut self, args: &mut Args) -> Result<Option<Next>, String> {
        if self.has_ended {
            return Ok(None);
        }
        if let Some((place, values)) = self.held.take() {
            return self.execute(place, &values, args).map(Some);
        }
        loop {
            let (op, first, mut rest) = self.resume()?;
            let next = match (op, &first) {
                (QUERY, Value::String(sql)) => {
                    self.setup.options.fence.admit(&sql.as_bytes())?;
                    let verb = Verb::of(&sql.as_bytes());
                    args.begin_sql().extend_from_slice(&sql.as_bytes());
                    self.step = Step::Query(verb);
                    Next::Sql {
                        type_index: verb.usual_type(),
                    }
                }
                (PREPARE, Value::String(sql)) => {
                    self.setup.options.fence.admit(&sql.as_bytes())?;
                    match self.prepare(&sql.as_bytes(), args)? {
                        Some(next) => next,
                        None => continue,
                    }
                }
                (BIND | EXECUTE, place) => {
                    let place = place.as_usize().unwrap_or(usize::MAX);
                    let Some(own) = self.own.get_mut(place) else {
                        return Err("a statement that was never prepared".into());
                    };
                    if op == EXECUTE {
                        self.execute(place, rest.make_contiguous(), args)?
                    } else if let Some(Value::String(kinds)) = rest.front() {
                        own.expect(&kinds.as_bytes());
                        continue;
                    } else {
                        return Err("a binding without the kinds of its parameters".into());
                    }
                }
                (SLEEP, length) => Next::Sleep {
                    us: microseconds(length),
                },
                (RECONNECT, _) => {
                    self.step = Step::Reconnect;
                    Next::Reconnect {
                        type_index: NO_TYPE,
                    }
                }
                (ROLLBACK, _) => {
                    args.clear();
                    self.step = Step::Rollback;
                    Next::Statement(statement::ROLLBACK)
                }
                (NEXT, stops) => {
                    self.leave();
                    self.has_stopped |= matches!(stops, Value::Boolean(true));
                    self.has_ended = true;
                    if self.has_waited || self.runs_command {
                        return Ok(None);
                    }
                    // An event without a step still takes its turn.
                    Next::Sleep { us: 0 }
                }
                (AGAIN, _) => Next::Again,
                (FAIL, message) => return Err(text(message)),
                _ => {
                    return Err(format!(
                        "a step that needs text was given a {}",
                        first.type_name()
                    ));
                }
            };
            self.has_waited = true;
            return Ok(Some(next));
        }
    }

    /// Asks for a statement to be prepared; `None`: there is nothing to ask the server for.
    fn prepare(&mut self, sql: &[u8], args: &mut Args) -> Result<Option<Next>, String> {
        let known = self.own.iter().position(|own| own.sql == sql);
        let place = match known {
            Some(place) => place,
            None => self.add(Own::new(sql))?,
        };
        let own = &mut self.own[place];
        if self.setup.options.protocol == Protocol::Text && !own.is_text() {
            own.splice(self.setup.options.dialect);
        }
        if own.is_text() || own.number.is_some() {
            self.input = Input::Prepared(place);
            return Ok(None);
        }
        args.begin_sql().extend_from_slice(sql);
        self.step = Step::Prepare(place);
        Ok(Some(Next::Prepare { replaces: None }))
    }

    /// Keeps a statement, if the script has memory for it.
    fn add(&mut self, own: Own) -> Result<usize, String> {
        self.own_bytes += own.memory_bytes();
        if self.memory_bytes() + self.own_bytes > self.setup.options.memory_limit_bytes {
            return Err(format!(
                "not enough memory for the texts of {} prepared statements: prepare each text once, or raise \
                 --script-memory",
                self.own.len() + 1
            ));
        }
        self.own.push(own);
        Ok(self.own.len() - 1)
    }

    fn execute(&mut self, place: usize, values: &[Value], args: &mut Args) -> Result<Next, String> {
        let own = &self.own[place];
        let type_index = own.verb.usual_type();
        self.step = Step::Query(own.verb);
        if own.is_text() {
            own.write(values, self.setup.options.dialect, args)?;
            return Ok(Next::Sql { type_index });
        }
        if let Some(number) = own.number {
            own.bind(values, args)?;
            return Ok(Next::Own { number, type_index });
        }
        // The connection is another one since, or the parameters are of other kinds.
        args.begin_sql().extend_from_slice(&own.sql);
        self.held = Some((place, values.to_vec()));
        self.step = Step::Prepare(place);
        Ok(Next::Prepare { replaces: None })
    }

    /// A new connection knows none of the old one's prepared statements.
    fn forget_preparations(&mut self) {
        self.prepared = 0;
        self.held = None;
        for own in &mut self.own {
            own.number = None;
        }
    }

    /// The rows of a reply, in the script's own memory.
    fn reply(&mut self, reply: Reply, rows: Option<&Rows>, verb: Verb) -> usize {
        let kept = rows.filter(|rows| rows.columns() > 0);
        let has_result = kept.is_some() || reply.rows > 0 || verb.reads();
        let limit_bytes = self.setup.options.memory_limit_bytes;
        if kept.is_some_and(Rows::too_many) {
            self.course = None;
            self.mistake = format!(
                "a result of {} rows is larger than the script's memory; ask for fewer, or raise --script-memory",
                reply.rows
            );
        }
        let data = match (&self.state, kept) {
            (Some(state), Some(kept)) => {
                match state::string(&state.lua, kept.packed(), limit_bytes) {
                    Ok(data) => Some(data),
                    Err(error) => {
                        self.course = None;
                        self.mistake = format!("a result of {} rows: {error}", reply.rows);
                        None
                    }
                }
            }
            _ => None,
        };
        self.input = Input::Reply {
            rows: kept.map_or(reply.rows, |kept| kept.count() as u64),
            columns: has_result.then(|| kept.map_or(0, Rows::columns)),
            data,
        };
        verb.type_after(reply, has_result)
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn microseconds(length: &Value) -> u64 {
    match length {
        Value::Integer(us) => u64::try_from(*us).unwrap_or(0),
        Value::Number(us) => *us as u64,
        _ => 0,
    }
}

impl Script for LuaClient {
    fn initialise(&mut self) -> bool {
        self.enter("thread_init");
        self.try_to_set_out("course");
        // Its steps before the first event are no event.
        self.has_waited = true;
        true
    }

    fn conclude(&mut self) -> bool {
        let has_done = self
            .state
            .as_ref()
            .is_some_and(|state| state.has("thread_done"));
        if has_done {
            self.enter("thread_done");
            self.try_to_set_out("done");
            self.has_waited = true;
        }
        has_done
    }

    fn begin(&mut self) -> bool {
        if self.has_stopped {
            return false;
        }
        self.has_waited = false;
        self.has_ended = false;
        if self.runs_command {
            self.try_to_set_out("command");
        } else if self.course.is_none() {
            self.try_to_set_out("events");
        }
        true
    }

    /// Like sysbench: the event that ends a client is none of the run's.
    fn counts(&self) -> bool {
        !self.has_stopped
    }

    fn next(&mut self, args: &mut Args) -> Option<Next> {
        // The whole way to the next step: what is answered here costs the script's time, too.
        let _turn = self.setup.watch.turn(self.number);
        match self.proceed(args) {
            Ok(next) => next,
            Err(mistake) => {
                self.leave();
                self.mistake = format!("client {}: {mistake}", self.number);
                Some(Next::Fail)
            }
        }
    }

    fn take_reply(&mut self, reply: Reply, rows: Option<&Rows>, type_index: usize) -> usize {
        match std::mem::replace(&mut self.step, Step::None) {
            Step::Query(verb) => self.reply(reply, rows, verb),
            Step::Prepare(place) => {
                self.own[place].number = Some(self.prepared);
                self.prepared += 1;
                if self.held.is_none() {
                    self.input = Input::Prepared(place);
                }
                type_index
            }
            Step::Reconnect => {
                self.forget_preparations();
                type_index
            }
            Step::Rollback | Step::None => type_index,
        }
    }

    fn take_refusal(&mut self, error: &ServerError, again: bool) -> bool {
        match std::mem::replace(&mut self.step, Step::None) {
            Step::Rollback => {}
            Step::Prepare(place) if error.code == NOT_PREPARABLE => {
                self.own[place].splice(self.setup.options.dialect);
                if self.held.is_none() {
                    self.input = Input::Prepared(place);
                }
            }
            _ => {
                self.held = None;
                self.input = Input::Refusal {
                    error: error.clone(),
                    again,
                };
            }
        }
        true
    }

    fn lost(&mut self) {
        self.leave();
        self.course = None;
        self.mistake.clear();
        self.forget_preparations();
    }

    fn mistake(&self) -> String {
        self.mistake.clone()
    }
}
