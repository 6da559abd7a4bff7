//! What a script that comes with the program says of itself: its verbs and their options.

use std::collections::HashMap;

use mlua::{FromLua, Table, Value};

use super::state::{State, text};

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

pub(super) fn described(cmdline: Value, state: &State) -> mlua::Result<Description> {
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
