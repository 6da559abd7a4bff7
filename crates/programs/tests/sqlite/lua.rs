//! Lua scripts on SQLite.

use std::process::Command;

use diskproof_load::driver::Driver;

use crate::lua_support::money_moves;
use crate::script_support::Scripts;
use crate::target::driver;

#[test]
fn money_is_neither_made_nor_lost_by_lua() {
    let scripts = Scripts::new();
    let url = format!(
        "sqlite:{}/bank.db?journal_mode=wal&synchronous=off",
        scripts.directory().display()
    );
    money_moves(&url, "BEGIN IMMEDIATE", |sql| {
        let value = driver(&url).admin().unwrap().query_value(sql);
        value.unwrap().expect(sql)
    });
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
        let mut words = command.split_whitespace();
        assert_eq!(words.next(), Some("diskproof-load"));
        let output = Command::new(env!("CARGO_BIN_EXE_diskproof-load"))
            .args(words)
            .current_dir(example.directory())
            .output()
            .expect("the program starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {said}");
    }
}
