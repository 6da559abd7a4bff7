//! The value of an option, as a script reads it.

use mlua::{IntoLua, Lua, Value};

/// A value of `sysbench.opt`.
#[derive(Debug, Clone, PartialEq)]
pub enum Setting {
    Int(i64),
    Double(f64),
    Bool(bool),
    Text(String),
}

impl IntoLua for &Setting {
    fn into_lua(self, lua: &Lua) -> mlua::Result<Value> {
        match self {
            Setting::Int(value) => value.into_lua(lua),
            Setting::Double(value) => value.into_lua(lua),
            Setting::Bool(value) => value.into_lua(lua),
            Setting::Text(value) => value.as_str().into_lua(lua),
        }
    }
}
