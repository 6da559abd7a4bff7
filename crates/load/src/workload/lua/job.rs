//! A script that comes with the program: its description, and what it does beside its clients.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use mlua::{FromLua, Function, IntoLuaMulti, MultiValue, Table, Thread, Value};

use super::client::FAIL;
use super::state::{State, text};
use super::turns::{LuaTurns, Turns};
use super::{LuaError, LuaOptions, Setup};
use crate::driver::{self, Admin, Args, Fault, Statement};
use crate::workload::tables::Progress;
use crate::workload::{Catalogue, Workload};

// The steps of a turn, those beside the clients, and what hands many over at once (prelude/job.lua).
pub(super) const SEND: u32 = 20;
pub(super) const COME_AGAIN: u32 = 22;
pub(super) const STEPS: u32 = 30;
pub(super) const LAST_STEPS: u32 = 31;
/// Values of each step.
pub(super) const WIDTH: usize = 8;
const STAGE: u32 = 23;
const EXECUTE: u32 = 24;
const COLUMN: u32 = 25;
const KEEP: u32 = 26;
const ATTEMPT: u32 = 27;
const LOAD: u32 = 29;

/// Why a script does not go on.
#[derive(Debug)]
pub enum Trouble {
    /// The script says so, under this code; or it has a mistake.
    Refused {
        code: String,
        message: String,
    },
    Fault {
        doing: String,
        fault: Fault,
    },
}

impl From<mlua::Error> for Trouble {
    fn from(error: mlua::Error) -> Self {
        Self::Refused {
            code: "internal".into(),
            message: error.to_string(),
        }
    }
}

/// A script that comes with the program, in its own words.
#[derive(Debug)]
pub struct Description {
    pub options: Vec<Described>,
    /// Whether it runs for a time; else it is a job, which is done at some point.
    pub is_steady: bool,
    /// Whether it has only tables, and its clients are not the script's.
    pub is_native: bool,
    /// What each verb does.
    pub about: HashMap<String, String>,
}

/// An option of a script that comes with the program.
#[derive(Debug)]
pub struct Described {
    pub name: String,
    pub help: String,
    pub default: Option<String>,
    pub kind: Kind,
    /// What stands for the value in the help.
    pub value: Option<String>,
    /// Of the group in the help that it is in.
    pub heading: Option<String>,
    /// The options that it does not go with.
    pub conflicts: Vec<String>,
    /// The option without which it means nothing.
    pub requires: Option<String>,
    /// The verbs that have it.
    pub verbs: Vec<String>,
}

/// What an option takes.
#[derive(Debug)]
pub enum Kind {
    Flag,
    Whole {
        least: u64,
        most: u64,
    },
    Number {
        least: f64,
        most: f64,
    },
    /// A time of more than 0 s.
    Seconds,
    /// Letters, digits and _.
    Word,
    File,
    /// Anything, or several of it.
    Text {
        many: bool,
    },
    /// One of these, each with its meaning; or several of them.
    Choice {
        names: Vec<(String, String)>,
        many: bool,
    },
}

/// What a script says of a run before it begins.
#[derive(Debug)]
pub struct Plan {
    pub mix: String,
    pub prepares: bool,
    /// Every type of statements that its stages have, with one of its statements.
    pub statements: Vec<(String, driver::Kind, String)>,
    /// How a user removes what it may leave.
    pub leaves: String,
    /// If its stages are all the same: what each client sends in one.
    pub queries_per_client: Option<u64>,
    /// Whether clients lock tables, which have no transactions.
    pub locks: bool,
    /// Scripts in pgbench's language that its clients run: name, text and weight.
    pub scripts: Vec<(String, String, u32)>,
}

/// A stage of the job.
#[derive(Debug)]
pub struct Declared {
    pub test: String,
    pub name: String,
    pub planned: u64,
    pub turns: u64,
    pub clients: usize,
    pub counts_rows: bool,
    pub connects_late: bool,
    pub limit_s: Option<f64>,
    /// Why it is not done at all.
    pub skip: Option<String>,
    pub workload: LuaTurns,
}

/// The script beside its clients.
#[derive(Debug)]
pub struct Conducting {
    pub description: Description,
    setup: Arc<Setup>,
    state: State,
    /// It chooses the draws; of a part of the tables, its number.
    place: u64,
    stages: Option<Thread>,
    kept: Vec<String>,
    /// The present stage, and how many there were.
    turns: Option<Arc<Turns>>,
    count: u64,
    /// The last stage's catalogue, with the table that it was made of.
    catalogue: Option<(Table, Arc<Catalogue>)>,
}

impl Conducting {
    /// Loads the script.
    pub fn new(options: LuaOptions) -> Result<Self, LuaError> {
        Self::of(Setup::new(options, Arc::default()), 0)
    }

    fn of(setup: Arc<Setup>, place: u64) -> Result<Self, LuaError> {
        let wrong = |error: mlua::Error| LuaError(error.to_string());
        let state = State::conducting(&setup, place).map_err(wrong)?;
        let (cmdline, _) = state.alone(&setup, "load")?;
        Ok(Self {
            description: described(cmdline, &state).map_err(wrong)?,
            setup,
            state,
            place,
            stages: None,
            kept: Vec::new(),
            turns: None,
            count: 0,
            catalogue: None,
        })
    }

    /// What makes the same script anew, on another thread.
    #[must_use]
    pub fn again(&self) -> Again {
        Again(Arc::clone(&self.setup))
    }

    /// Checks the options, without a connection.
    pub fn check(&self) -> Result<(), LuaError> {
        self.state.alone(&self.setup, "check").map(drop)
    }

    /// Checks the database, where nothing has been made yet.
    pub fn plan(&mut self, admin: &mut dyn Admin) -> Result<Plan, Trouble> {
        let plan: Table = self.perform("plan", (), admin)?;
        let mut statements = Vec::new();
        let known: Option<Vec<Table>> = plan.get("statements")?;
        for known in known.unwrap_or_default() {
            let sql: Option<String> = known.get("sql")?;
            statements.push((known.get("name")?, kind(&known)?, sql.unwrap_or_default()));
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

    /// Goes on to the next stage; `None`: there is none.
    pub fn next(&mut self, admin: &mut dyn Admin) -> Result<Option<Declared>, Trouble> {
        let stages = match self.stages.take() {
            Some(stages) => stages,
            None => self.state.begin("stages")?,
        };
        match self.go_on(&stages, MultiValue::new(), admin, &Progress::default())? {
            (STAGE, Value::Table(stage)) => {
                self.stages = Some(stages);
                Ok(Some(self.declare(&stage)?))
            }
            _ => Ok(None),
        }
    }

    /// After a stage: what is wrong with what it has left.
    pub fn review(
        &mut self,
        errors: u64,
        admin: &mut dyn Admin,
    ) -> Result<Option<String>, Trouble> {
        let is_whole = self
            .turns
            .as_ref()
            .is_some_and(|turns| turns.begun.load(Ordering::Relaxed) == turns.count);
        self.perform("review", (errors, is_whole), admin)
    }

    /// What `fill` makes, each part with its rows, and the options by which `cleanup` finds it.
    pub fn tables(&self) -> Result<Tables, LuaError> {
        let (all, rest) = self.state.alone(&self.setup, "tables")?;
        let lua = &self.state.lua;
        let listed = || -> mlua::Result<_> {
            let one = |own: Table| Ok((own.get("name")?, own.get("rows")?));
            let all = Vec::<Table>::from_lua(all, lua)?.into_iter().map(one);
            let parts = all.collect::<mlua::Result<Vec<(String, u64)>>>()?;
            let names = rest.get(1).cloned().unwrap_or(Value::Nil);
            let names: Option<Vec<String>> = Option::from_lua(names, lua)?;
            Ok(Tables {
                names: names
                    .unwrap_or_else(|| parts.iter().map(|(name, _)| name.clone()).collect()),
                parts,
                which: rest.first().map_or_else(String::new, text),
                script: self.again(),
            })
        };
        listed().map_err(|error| LuaError(error.to_string()))
    }

    /// The statements of a load that runs for a time.
    pub fn catalogue(&self) -> Result<Catalogue, LuaError> {
        let (table, _) = self.state.alone(&self.setup, "catalogue")?;
        let catalogue = Table::from_lua(table, &self.state.lua).and_then(|own| catalogue(&own));
        catalogue.map_err(|error| LuaError(error.to_string()))
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
    pub fn verify(&mut self, admin: &mut dyn Admin) -> Result<(), Trouble> {
        self.perform::<Value>("verify", (), admin).map(drop)
    }

    /// Drops what is left of earlier runs.
    pub fn clean_up(&mut self, admin: &mut dyn Admin) -> Result<(), Trouble> {
        self.perform::<Value>("cleanup", (), admin).map(drop)
    }

    fn perform<T: FromLua>(
        &mut self,
        name: &str,
        args: impl IntoLuaMulti,
        admin: &mut dyn Admin,
    ) -> Result<T, Trouble> {
        self.perform_seen(name, args, admin, &Progress::default())
    }

    fn perform_seen<T: FromLua>(
        &mut self,
        name: &str,
        args: impl IntoLuaMulti,
        admin: &mut dyn Admin,
        progress: &Progress,
    ) -> Result<T, Trouble> {
        let course = self.state.begin(name)?;
        let args = args.into_lua_multi(&self.state.lua)?;
        let (_, outcome) = self.go_on(&course, args, admin, progress)?;
        Ok(T::from_lua(outcome, &self.state.lua)?)
    }

    /// Does what the script asks for, to its end or its next stage.
    fn go_on(
        &mut self,
        course: &Thread,
        mut input: MultiValue,
        admin: &mut dyn Admin,
        progress: &Progress,
    ) -> Result<(u32, Value), Trouble> {
        loop {
            let (op, first, second): (u32, Value, Value) = course.resume(input)?;
            let sql = text(&first);
            let answer = match op {
                FAIL => {
                    let code = match &second {
                        Value::String(code) => code.to_string_lossy(),
                        _ => "internal".into(),
                    };
                    return Err(Trouble::Refused { code, message: sql });
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
            let doing = || text(&second);
            let answer = answer.map_err(|fault| Trouble::Fault {
                doing: doing(),
                fault,
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

    fn declare(&mut self, stage: &Table) -> mlua::Result<Declared> {
        let planned: u64 = stage.get("planned")?;
        let turns = stage.get::<Option<u64>>("turns")?.unwrap_or(planned);
        let clients: u64 = stage.get("clients")?;
        self.count += 1;
        let shared = Arc::new(Turns {
            key: stage.get::<Option<String>>("key")?.unwrap_or_default(),
            stage: self.count,
            count: turns,
            clients,
            texts: std::mem::take(&mut self.kept),
            refused: stage.get("refused")?,
            checks: (stage.get("checks_rows")?, stage.get("checks_affected")?),
            begun: 0.into(),
            rows: 0.into(),
            affected: 0.into(),
        });
        self.turns = Some(Arc::clone(&shared));
        let table: Table = stage.get("catalogue")?;
        let catalogue = match &self.catalogue {
            Some((known, catalogue)) if *known == table => Arc::clone(catalogue),
            _ => Arc::new(catalogue(&table)?),
        };
        self.catalogue = Some((table, Arc::clone(&catalogue)));
        Ok(Declared {
            test: stage.get("test")?,
            name: stage.get("name")?,
            planned,
            turns,
            clients: usize::try_from(clients).unwrap_or(usize::MAX),
            counts_rows: stage.get("counts_rows")?,
            connects_late: stage.get("connects_late")?,
            limit_s: stage.get("limit_s")?,
            skip: stage.get("skip")?,
            workload: LuaTurns {
                setup: Arc::clone(&self.setup),
                catalogue,
                turns: shared,
            },
        })
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
    pub fn perform(&self, name: &str, admin: &mut dyn Admin) -> Result<(), Trouble> {
        let mut conducting = self.conducting(0)?;
        conducting.perform::<Value>(name, (), admin).map(drop)
    }

    /// Makes one part, by its number from 1; returns the rows loaded.
    pub fn fill(
        &self,
        number: usize,
        admin: &mut dyn Admin,
        progress: &Progress,
    ) -> Result<u64, Trouble> {
        let mut conducting = self.conducting(number as u64)?;
        conducting.perform_seen("fill", number, admin, progress)
    }

    fn conducting(&self, place: u64) -> mlua::Result<Conducting> {
        Conducting::of(Arc::clone(&self.0), place)
            .map_err(|error| mlua::Error::runtime(error.to_string()))
    }
}

fn kind(table: &Table) -> mlua::Result<driver::Kind> {
    let kind: String = table.get("kind")?;
    Ok(match kind.as_str() {
        "read" => driver::Kind::Read,
        "write" => driver::Kind::Write,
        _ => driver::Kind::Other,
    })
}

fn catalogue(table: &Table) -> mlua::Result<Catalogue> {
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

fn described(cmdline: Value, state: &State) -> mlua::Result<Description> {
    let cmdline = Table::from_lua(cmdline, &state.lua)?;
    let mut options = Vec::new();
    for option in cmdline.get::<Vec<Table>>("options")? {
        let default: Value = option.get(2)?;
        let is = |name: &str| option.get::<bool>(name);
        let bound = |name: &str| option.get::<Option<f64>>(name);
        let names: Option<Vec<Table>> = option.get("choices")?;
        let kind = if default == Value::Boolean(false) {
            Kind::Flag
        } else if let Some(names) = names {
            let name =
                |pair: Table| Ok((pair.get(1)?, pair.get::<Option<_>>(2)?.unwrap_or_default()));
            Kind::Choice {
                names: names.into_iter().map(name).collect::<mlua::Result<_>>()?,
                many: is("many")?,
            }
        } else if is("seconds")? {
            Kind::Seconds
        } else if is("file")? {
            Kind::File
        } else if is("text")? {
            Kind::Text { many: is("many")? }
        } else if let (Some(least), Some(most)) = (bound("least")?, bound("most")?) {
            if is("whole")? {
                Kind::Whole {
                    least: option.get("least")?,
                    most: option.get("most")?,
                }
            } else {
                Kind::Number { least, most }
            }
        } else {
            Kind::Word
        };
        options.push(Described {
            name: option.get("name")?,
            help: option.get(1)?,
            default: match default {
                Value::Nil | Value::Boolean(_) => None,
                other => Some(text(&other)),
            },
            kind,
            value: option.get("value")?,
            heading: option.get("heading")?,
            requires: option.get("requires")?,
            conflicts: option.get::<Option<_>>("conflicts")?.unwrap_or_default(),
            verbs: option
                .get::<Option<_>>("verbs")?
                .unwrap_or_else(|| vec!["run".into()]),
        });
    }
    Ok(Description {
        options,
        is_steady: cmdline.get("steady")?,
        is_native: cmdline.get("native")?,
        about: cmdline.get("about")?,
    })
}
