//! A script that comes with the program: what it does beside its clients.

use std::sync::Arc;

use mlua::{FromLua, Function, IntoLuaMulti, MultiValue, Table, Thread, Value};

use super::client::FAIL;
use super::description::{Description, described};
use super::state::{State, text};
use super::turns::{LuaTurns, Turns, bind};
use super::{LuaError, LuaOptions, Setup};
use crate::driver::{Admin, Fault, Kind, Statement};
use crate::failure::Failure;
use crate::report::StatementTypeInfo;
use crate::workload::tables::Progress;
use crate::workload::{Catalogue, Workload};

// What it asks for (prelude/job.lua).
pub(super) const STAGE: u32 = 23;
const EXECUTE: u32 = 24;
const COLUMN: u32 = 25;
const KEEP: u32 = 26;
const ATTEMPT: u32 = 27;
const LOAD: u32 = 29;

impl From<mlua::Error> for Failure {
    fn from(error: mlua::Error) -> Self {
        Self::internal(error)
    }
}

impl From<LuaError> for Failure {
    fn from(error: LuaError) -> Self {
        Self::internal(error)
    }
}

/// What a script says of a run before it begins.
#[derive(Debug)]
pub struct Plan {
    pub mix: String,
    pub prepares: bool,
    /// Every type of statements that its stages have, with one of its statements.
    pub statements: Vec<StatementTypeInfo>,
    /// How a user removes what it may leave.
    pub leaves: String,
    /// If its stages are all the same: what each client sends in one.
    pub queries_per_client: Option<u64>,
    /// Whether clients lock tables, which have no transactions.
    pub locks: bool,
    /// Scripts in pgbench's language that its clients run: name, text and weight.
    pub scripts: Vec<(String, String, u32)>,
}

/// The script beside its clients.
#[derive(Debug)]
pub struct Conducting {
    pub description: Description,
    pub(super) setup: Arc<Setup>,
    pub(super) state: State,
    /// It chooses the draws; of a part of the tables, its number.
    place: u64,
    /// The texts of the next stage's clients.
    pub(super) kept: Vec<String>,
}

impl Conducting {
    /// Loads the script.
    pub fn new(options: LuaOptions) -> Result<Self, LuaError> {
        Self::of(Setup::new(options, Arc::default()), 0)
    }

    fn of(setup: Arc<Setup>, place: u64) -> Result<Self, LuaError> {
        let state = State::conducting(&setup, place)?;
        let (cmdline, _) = state.alone(&setup, "load")?;
        Ok(Self {
            description: described(cmdline, &state)?,
            setup,
            state,
            place,
            kept: Vec::new(),
        })
    }

    /// What makes the same script anew, on another thread.
    pub fn again(&self) -> Again {
        Again(Arc::clone(&self.setup))
    }

    /// Checks the options, without a connection.
    pub fn check(&self) -> Result<(), LuaError> {
        self.state.alone(&self.setup, "check").map(drop)
    }

    /// Checks the database, where nothing has been made yet.
    pub fn plan(&mut self, admin: &mut dyn Admin) -> Result<Plan, Failure> {
        let plan: Table = self.perform("plan", (), admin)?;
        let mut statements = Vec::new();
        let known: Option<Vec<Table>> = plan.get("statements")?;
        for known in known.unwrap_or_default() {
            statements.push(StatementTypeInfo {
                name: known.get::<String>("name")?.into(),
                kind: kind(&known)?,
                sql: known.get::<Option<_>>("sql")?.unwrap_or_default(),
            });
        }
        let mut scripts = Vec::new();
        let own: Option<Vec<Table>> = plan.get("scripts")?;
        for own in own.unwrap_or_default() {
            scripts.push((own.get("name")?, own.get("text")?, own.get("weight")?));
        }
        Ok(Plan {
            mix: plan.get("mix")?,
            prepares: plan.get("prepares")?,
            statements,
            leaves: plan.get::<Option<String>>("leaves")?.unwrap_or_default(),
            queries_per_client: plan.get("queries_per_client")?,
            locks: plan.get("locks")?,
            scripts,
        })
    }

    /// What `fill` makes, each part with its rows, and the options by which `cleanup` finds it.
    pub fn tables(&self) -> Result<Tables, LuaError> {
        let (all, rest) = self.state.alone(&self.setup, "tables")?;
        let lua = &self.state.lua;
        let one = |own: Table| Ok((own.get("name")?, own.get("rows")?));
        let all = Vec::<Table>::from_lua(all, lua)?.into_iter().map(one);
        let parts = all.collect::<mlua::Result<Vec<(String, u64)>>>()?;
        let names = rest.get(1).cloned().unwrap_or(Value::Nil);
        let names: Option<Vec<String>> = Option::from_lua(names, lua)?;
        Ok(Tables {
            names: names.unwrap_or_else(|| parts.iter().map(|(name, _)| name.clone()).collect()),
            parts,
            which: rest.first().map_or_else(String::new, text),
            script: self.again(),
        })
    }

    /// The statements of a load that runs for a time.
    pub fn catalogue(&self) -> Result<Catalogue, LuaError> {
        let (table, _) = self.state.alone(&self.setup, "catalogue")?;
        Ok(catalogue(&Table::from_lua(table, &self.state.lua)?)?)
    }

    /// The clients of a script that runs for a time.
    pub fn steady(&self, clients: u64) -> Result<impl Workload + use<>, LuaError> {
        Ok(LuaTurns {
            setup: Arc::clone(&self.setup),
            catalogue: Arc::new(self.catalogue()?),
            turns: Arc::new(Turns {
                count: u64::MAX,
                clients,
                ..Turns::default()
            }),
        })
    }

    /// Holds what is in the tables to what it must be, and reports it.
    pub fn verify(&mut self, admin: &mut dyn Admin) -> Result<(), Failure> {
        self.perform::<Value>("verify", (), admin).map(drop)
    }

    /// Drops what is left of earlier runs.
    pub fn clean_up(&mut self, admin: &mut dyn Admin) -> Result<(), Failure> {
        self.perform::<Value>("cleanup", (), admin).map(drop)
    }

    pub(super) fn perform<T: FromLua>(
        &mut self,
        name: &str,
        args: impl IntoLuaMulti,
        admin: &mut dyn Admin,
    ) -> Result<T, Failure> {
        self.perform_seen(name, args, admin, &Progress::default())
    }

    fn perform_seen<T: FromLua>(
        &mut self,
        name: &str,
        args: impl IntoLuaMulti,
        admin: &mut dyn Admin,
        progress: &Progress,
    ) -> Result<T, Failure> {
        let course = self.state.begin(name)?;
        let args = args.into_lua_multi(&self.state.lua)?;
        let (_, outcome) = self.go_on(&course, args, admin, progress)?;
        Ok(T::from_lua(outcome, &self.state.lua)?)
    }

    /// Does what the script asks for, to its end or its next stage.
    pub(super) fn go_on(
        &mut self,
        course: &Thread,
        mut input: MultiValue,
        admin: &mut dyn Admin,
        progress: &Progress,
    ) -> Result<(u32, Value), Failure> {
        loop {
            let (op, first, second): (u32, Value, Value) = course.resume(input)?;
            let sql = text(&first);
            let answer = match op {
                FAIL => {
                    let code = match &second {
                        Value::String(code) => code.to_string_lossy(),
                        _ => "internal".into(),
                    };
                    return Err(Failure::new(&code, sql));
                }
                EXECUTE => admin.execute(&sql).map(|_| Value::Nil),
                LOAD => {
                    let table = Table::from_lua(first, &self.state.lua)?;
                    let loaded = self.load(&table, admin, progress)?;
                    loaded.map(|loaded| Value::Number(loaded as f64))
                }
                COLUMN | KEEP => match admin.query_column(&sql) {
                    Ok(column) => {
                        let texts: Vec<String> = column.into_iter().flatten().collect();
                        if op == KEEP {
                            self.kept = texts;
                            Ok(Value::Number(self.kept.len() as f64))
                        } else {
                            Ok(Value::Table(self.state.lua.create_sequence_from(texts)?))
                        }
                    }
                    Err(fault) => Err(fault),
                },
                ATTEMPT => match admin.query_column(&sql) {
                    Ok(_) => Ok(Value::Nil),
                    Err(Fault::Server(error)) => {
                        let complaint = self.state.lua.create_string(error.to_string())?;
                        Ok(Value::String(complaint))
                    }
                    Err(fault) => Err(fault),
                },
                _ => return Ok((op, first)),
            };
            let answer = answer.map_err(|fault| match &second {
                Value::Nil => Failure::new(fault.code(), fault.to_string()),
                doing => Failure::from_fault(&text(doing), &fault),
            })?;
            input = answer.into_lua_multi(&self.state.lua)?;
        }
    }

    /// Fills a table with the rows that the script makes, or with those that are made for it.
    fn load(
        &self,
        table: &Table,
        admin: &mut dyn Admin,
        progress: &Progress,
    ) -> mlua::Result<Result<u64, Fault>> {
        let columns: Vec<String> = table.get("columns")?;
        let columns: Vec<_> = columns.iter().map(String::as_str).collect();
        let (name, rows): (String, u64) = (table.get("name")?, table.get("rows")?);
        let made: Option<Function> = table.get("row")?;
        let row = match (made, &self.setup.options.rows) {
            (Some(row), _) => row,
            (None, Some(own)) => return Ok(own.load(self.place, &name, &columns, admin, progress)),
            (None, None) => return Err(mlua::Error::runtime("a table without rows")),
        };
        let (mut done, mut mistake) = (0, None);
        let loaded = admin.load(&name, &columns, &mut |args| {
            if done == rows || mistake.is_some() {
                return false;
            }
            progress.row(done, rows);
            done += 1;
            match row.call::<MultiValue>(done) {
                Ok(mut values) => bind(values.make_contiguous(), args),
                Err(error) => {
                    mistake = Some(error);
                    return false;
                }
            }
            true
        });
        mistake.map_or(Ok(loaded), Err)
    }

    /// What a piece of Lua says in the script's state.
    #[cfg(test)]
    pub(crate) fn say(&self, code: &str) -> String {
        self.state.lua.load(code).eval().expect(code)
    }
}

/// The tables that a script makes, in parts that are filled side by side, numbered from 1.
#[derive(Debug)]
pub struct Tables {
    /// Their names, with their rows.
    pub parts: Vec<(String, u64)>,
    /// The options by which `cleanup` finds them.
    pub which: String,
    /// The tables that all parts are in.
    pub names: Vec<String>,
    pub script: Again,
}

/// What makes the same script anew.
#[derive(Debug)]
pub struct Again(Arc<Setup>);

impl Again {
    /// Calls a function of the script: `close` drops what the job has made; `define` makes what all parts of the
    /// tables share, before the first of them, or refuses if a table is there; `index` builds what is better built
    /// when all parts are filled.
    pub fn perform(&self, name: &str, admin: &mut dyn Admin) -> Result<(), Failure> {
        let mut conducting = self.conducting(0)?;
        conducting.perform::<Value>(name, (), admin).map(drop)
    }

    /// Makes one part, by its number from 1; returns the rows loaded.
    pub fn fill(
        &self,
        number: usize,
        admin: &mut dyn Admin,
        progress: &Progress,
    ) -> Result<u64, Failure> {
        let mut conducting = self.conducting(number as u64)?;
        conducting.perform_seen("fill", number, admin, progress)
    }

    fn conducting(&self, place: u64) -> Result<Conducting, LuaError> {
        Conducting::of(Arc::clone(&self.0), place)
    }
}

fn kind(table: &Table) -> mlua::Result<Kind> {
    let kind: String = table.get("kind")?;
    Ok(serde_json::from_value(kind.into()).unwrap_or(Kind::Other))
}

pub(super) fn catalogue(table: &Table) -> mlua::Result<Catalogue> {
    let mut catalogue = Catalogue::default();
    for known in table.get::<Vec<Table>>("types")? {
        let prepare = known.get("prepare")?;
        let statements: Option<Vec<String>> = known.get("statements")?;
        let statements = statements.unwrap_or_default().into_iter();
        catalogue.add(
            known.get::<String>("name")?,
            kind(&known)?,
            statements.map(|sql| Statement { sql, prepare }),
        );
    }
    if let Some(sql) = table.get::<Option<String>>("set_up")? {
        catalogue.set_up_with(&sql);
    }
    if let Some(sql) = table.get::<Option<String>>("rollback")? {
        catalogue.roll_back_with(&sql);
    }
    Ok(catalogue)
}
