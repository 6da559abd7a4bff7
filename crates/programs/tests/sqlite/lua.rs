//! Lua scripts on SQLite.

use crate::lua_support::money_moves;
use crate::script::{bank, type_in};
use crate::script_support::Scripts;

#[test]
fn money_is_neither_made_nor_lost_by_lua() {
    let scripts = Scripts::new();
    let (url, ask) = bank(&scripts);
    money_moves(&url, "BEGIN IMMEDIATE", ask);
}

/// The example of docs/lua.md, as a reader types it.
#[test]
fn the_manuals_lua_example_runs() {
    let manual = include_str!("../../../../docs/lua.md");
    let example = Scripts::new();
    let block = |language: &str| {
        let start = manual.split(&format!("```{language}\n")).nth(1);
        start
            .and_then(|text| text.split("```").next())
            .expect(language)
    };
    example.write("orders.lua", block("lua"));
    for command in block("sh").lines() {
        type_in(command, example.directory());
    }
}
