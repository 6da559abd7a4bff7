//! A Lua state as a script finds it: sysbench's interface, and little else.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Instant, SystemTime};

use mlua::{Function, Lua, StdLib, Table, Thread, Value, Variadic};

use super::turns::Turns;
use super::{LuaError, Output, Setup, draws};
use crate::driver::{Dialect, rows};
use crate::file;
use crate::plain::Plain;

/// A script or module is text that a person wrote.
pub const LARGEST_BYTES: u64 = 4 << 20;

/// The most columns of a row that a script can read, which is MySQL's limit; a table in Lua has as many
/// places for values that are handed over at once.
const MOST_COLUMNS: usize = 4096;

const PRELUDE: [(&str, &str); 5] = [
    ("sandbox", include_str!("prelude/sandbox.lua")),
    ("sql", include_str!("prelude/sql.lua")),
    ("library", include_str!("prelude/library.lua")),
    ("main", include_str!("prelude/main.lua")),
    ("job", include_str!("prelude/job.lua")),
];

/// A script's needs, as they are known before anything is connected.
pub(super) struct Look {
    pub(super) declares_options: bool,
    pub(super) has_command: bool,
    pub(super) parallel: bool,
    /// The script's commands, in words.
    pub(super) commands: String,
}

/// One client's Lua state.
#[derive(Debug)]
pub(super) struct State {
    pub(super) lua: Lua,
    course: Table,
}

impl State {
    pub(super) fn new(setup: &Arc<Setup>, client: usize) -> mlua::Result<Self> {
        Self::with(setup, client, [client as u64 + 1, 0], None)
    }

    /// A script beside its clients; `place` chooses the draws.
    pub(super) fn conducting(setup: &Arc<Setup>, place: u64) -> mlua::Result<Self> {
        Self::with(setup, 0, [0, place], None)
    }

    /// A client of a stage, ready to take turns.
    pub(super) fn entering(
        setup: &Arc<Setup>,
        client: usize,
        turns: &Arc<Turns>,
    ) -> mlua::Result<Self> {
        let place = [client as u64 + 1, turns.stage];
        let state = Self::with(setup, client, place, Some(turns))?;
        state.function("enter")?.call::<()>(client)?;
        Ok(state)
    }

    /// `place` chooses the draws.
    fn with(
        setup: &Arc<Setup>,
        client: usize,
        place: [u64; 2],
        turns: Option<&Arc<Turns>>,
    ) -> mlua::Result<Self> {
        let options = &setup.options;
        let mut libraries =
            StdLib::TABLE | StdLib::STRING | StdLib::MATH | StdLib::OS | StdLib::BIT | StdLib::JIT;
        if options.trusted {
            libraries |= StdLib::IO;
        }
        let lua = Lua::new_with(libraries, mlua::LuaOptions::default())?;
        lua.set_memory_limit(options.memory_limit_bytes)?;
        let host = host(&lua, setup, client, place)?;
        if let Some(turns) = turns {
            turns.install(&lua, &host)?;
        }
        let mut course = None;
        for (name, text) in PRELUDE {
            let chunk = setup
                .compiled
                .load(&lua, &format!("={name}"), text.as_bytes())?;
            course = chunk.call::<Option<Table>>(&host)?;
        }
        let course = course.ok_or_else(|| mlua::Error::runtime("the prelude has no course"))?;
        Ok(Self { lua, course })
    }

    /// A coroutine of one of the prelude's functions.
    pub(super) fn begin(&self, name: &str) -> mlua::Result<Thread> {
        self.lua.create_thread(self.course.get::<Function>(name)?)
    }

    pub(super) fn function(&self, name: &str) -> mlua::Result<Function> {
        self.course.get(name)
    }

    /// Whether the script has a global function of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        matches!(self.lua.globals().raw_get(name), Ok(Value::Function(_)))
    }

    /// Runs one of the prelude's functions without a database; returns what it says at its end.
    pub(super) fn alone(
        &self,
        setup: &Setup,
        name: &str,
    ) -> Result<(Value, Variadic<Value>), LuaError> {
        let course = self.begin(name)?;
        let outcome = setup.watch.observe(0, || course.resume(()));
        let (op, first, rest): (Option<u32>, Value, Variadic<Value>) = outcome?;
        match op {
            Some(super::client::NEXT) => Ok((first, rest)),
            Some(super::client::FAIL) => Err(LuaError(text(&first))),
            _ => Err(LuaError(format!(
                "{}: there is no connection while it is loaded, in init() or in done(); \
                 send statements from its other functions",
                setup.options.script
            ))),
        }
    }

    /// Loads the script without a database.
    pub(super) fn look(setup: &Arc<Setup>) -> Result<Look, LuaError> {
        let state = Self::new(setup, 0)?;
        let (first, rest) = state.alone(setup, "look")?;
        let is_true = |value: Option<&Value>| matches!(value, Some(Value::Boolean(true)));
        Ok(Look {
            declares_options: is_true(Some(&first)),
            has_command: is_true(rest.first()),
            parallel: is_true(rest.get(1)),
            commands: rest.get(2).map_or_else(String::new, text),
        })
    }
}

/// A string in the script's memory.
pub(super) fn string(lua: &Lua, bytes: &[u8], limit_bytes: usize) -> mlua::Result<mlua::String> {
    if lua.used_memory() + bytes.len() > limit_bytes {
        // Much of it may be garbage.
        lua.gc_collect()?;
    }
    if lua.used_memory() + bytes.len() > limit_bytes {
        return Err(mlua::Error::MemoryError("not enough memory".to_owned()));
    }
    without_limit(lua, || lua.create_string(bytes))
}

/// Makes something in the script's memory without the limit; the caller has checked that it fits.
/// Under a limit, mlua makes each string by a protected call, with two closures.
fn without_limit<T>(lua: &Lua, make: impl FnOnce() -> mlua::Result<T>) -> mlua::Result<T> {
    let limit = lua.set_memory_limit(0)?;
    let value = make();
    lua.set_memory_limit(limit)?;
    value
}

/// A value in words. A table is not asked for its own: that would run the script, unwatched.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Nil | Value::Boolean(_) | Value::Integer(_) | Value::Number(_) => {
            value.to_string().unwrap_or_default()
        }
        Value::String(text) => text.to_string_lossy(),
        other => format!("a {}", other.type_name()),
    }
}

/// The table that the prelude gets.
fn host(lua: &Lua, setup: &Arc<Setup>, client: usize, place: [u64; 2]) -> mlua::Result<Table> {
    let options = &setup.options;
    let host = lua.create_table()?;
    let sysbench = lua.create_table()?;
    sysbench.set("tid", client)?;
    sysbench.set("version", "1.0.20")?;
    sysbench.set("version_string", "sysbench 1.0.20")?;
    lua.globals().set("sysbench", &sysbench)?;
    host.set("sysbench", sysbench)?;
    host.set("script", options.script.as_str())?;
    host.set("text", lua.create_string(&options.text)?)?;
    host.set("command", options.command.as_str())?;
    host.set("trusted", options.trusted)?;
    host.set("is_ours", options.is_ours)?;
    host.set("legacy", setup.legacy.load(Ordering::Relaxed))?;
    host.set("path", options.path.as_str())?;
    host.set("driver", driver_name(options.dialect))?;
    // After an error a transaction accepts only a ROLLBACK.
    host.set("aborts", options.dialect != Dialect::Mysql)?;
    let general = lua.create_table()?;
    for (name, value) in &options.general {
        general.set(name.as_str(), value)?;
    }
    host.set("general", general)?;
    let given = lua.create_table()?;
    for (name, value) in &options.given {
        let pair = lua.create_table()?;
        pair.push(name.as_str())?;
        if let Some(value) = value {
            pair.push(value.as_str())?;
        }
        given.push(pair)?;
    }
    host.set("given", given)?;
    install_functions(lua, &host, setup)?;
    draws::install(lua, &host, setup, place)?;
    Ok(host)
}

fn install_functions(lua: &Lua, host: &Table, setup: &Arc<Setup>) -> mlua::Result<()> {
    let output = setup.options.output;
    let print = move |_: &Lua, words: mlua::String| {
        say(output, &words.as_bytes());
        Ok(())
    };
    host.set("print", lua.create_function(print)?)?;
    let shared = Arc::clone(setup);
    let read = move |lua: &Lua, path: String| match shared.module(Path::new(&path)) {
        Ok(bytes) => {
            let text = lua.create_string(file::without_mark(&bytes))?;
            Ok((Some(text), None))
        }
        Err(reason) => Ok((None, Some(format!("{path}: {reason}")))),
    };
    host.set("read", lua.create_function(read)?)?;
    let shared = Arc::clone(setup);
    // What a file's text makes, or the mistake in it.
    let compile = move |lua: &Lua, (path, text): (String, mlua::String)| match shared.compiled.load(
        lua,
        &format!("@{path}"),
        &text.as_bytes(),
    ) {
        Ok(function) => Ok((Some(function), None)),
        Err(mlua::Error::SyntaxError { message, .. }) => Ok((None, Some(message))),
        Err(error) => Ok((None, Some(error.to_string()))),
    };
    host.set("compile", lua.create_function(compile)?)?;
    host.set("row", lua.create_function(row)?)?;
    // Source, line and kind of the function at a level of the stack.
    let inspect = |lua: &Lua, level: usize| {
        let found = lua.inspect_stack(level + 1, |debug| {
            let source = debug.source();
            let line = debug
                .current_line()
                .and_then(|line| i64::try_from(line).ok());
            (source.source.map(Cow::into_owned), line, source.what)
        });
        Ok(found.unwrap_or_default())
    };
    host.set("inspect", lua.create_function(inspect)?)?;
    let unix_us = |_: &Lua, ()| {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Ok(since.map_or(0.0, |since| since.as_micros() as f64))
    };
    host.set("unix_us", lua.create_function(unix_us)?)?;
    let start = Instant::now();
    let clock_ns = move |_: &Lua, ()| Ok(start.elapsed().as_nanos() as f64);
    host.set("clock_ns", lua.create_function(clock_ns)?)
}

/// A script's words, with nothing that would command a terminal.
fn say(output: Output, words: &[u8]) {
    use std::io::Write;
    // Nobody may read them any more, which is no reason to end a run.
    let _ = match output {
        Output::Stdout => {
            let mut out = Plain(std::io::stdout());
            out.write_all(words).and_then(|()| out.flush())
        }
        Output::Stderr => Plain(std::io::stderr()).write_all(words),
    };
}

/// The row that begins at a byte of a result: where the next one begins, and the fields.
fn row(
    lua: &Lua,
    (data, at, columns): (mlua::String, usize, usize),
) -> mlua::Result<Variadic<Value>> {
    if columns > MOST_COLUMNS {
        let message = format!("a row of {columns} columns: more than {MOST_COLUMNS} are not read");
        return Err(mlua::Error::runtime(message));
    }
    let bytes = data.as_bytes();
    let mut values = vec![Value::Nil];
    let mut outcome = Ok(());
    // The fields have room in what the row itself takes.
    let length = without_limit(lua, || {
        let packed = bytes.get(at..).unwrap_or_default();
        Ok(rows::unpack(packed, columns, |field| {
            let value = field.map_or(Ok(Value::Nil), |text| {
                lua.create_string(text).map(Value::String)
            });
            match value {
                Ok(value) => values.push(value),
                Err(error) => outcome = Err(error),
            }
        }))
    })?;
    outcome?;
    let Some(length) = length else {
        return Ok(Variadic::new());
    };
    values[0] = Value::Number((at + length) as f64);
    Ok(values.into_iter().collect())
}

/// The name that scripts know a database's driver by.
fn driver_name(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Mysql => "mysql",
        Dialect::Postgres => "pgsql",
        Dialect::Sqlite => "sqlite",
    }
}
