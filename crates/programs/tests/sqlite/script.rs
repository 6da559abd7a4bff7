//! The user's own scripts on SQLite.

use std::path::Path;
use std::process::Command;

use diskproof_load::driver::Driver;

use crate::program::account;
use crate::script_support::{
    SCRIPT, Scripts, money_is_neither_made_nor_lost, what_the_server_cannot_read_ends_the_run,
};
use crate::target::driver;

/// The URL of a database beside the scripts, and what asks it for one value.
pub(crate) fn bank(scripts: &Scripts) -> (String, impl Fn(&str) -> String) {
    let url = format!(
        "sqlite:{}/bank.db?journal_mode=wal&synchronous=off",
        scripts.directory().display()
    );
    let asked = url.clone();
    let ask = move |sql: &str| {
        let value = driver(&asked).admin().unwrap().query_value(sql);
        value.unwrap().expect(sql)
    };
    (url, ask)
}

/// Runs a command of a manual in a folder, as a reader types it; returns what it printed.
pub(crate) fn type_in(command: &str, folder: &Path) -> String {
    let mut words = command.split_whitespace();
    assert_eq!(words.next(), Some("diskproof-load"));
    let output = Command::new(env!("CARGO_BIN_EXE_diskproof-load"))
        .args(words)
        .current_dir(folder)
        .output()
        .expect("the program starts");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}: {complaint}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn money_stays() {
    let scripts = Scripts::new();
    let (url, ask) = bank(&scripts);
    money_is_neither_made_nor_lost(&url, "BEGIN IMMEDIATE", ask);
}

#[test]
fn mistakes_in_sql_are_told_first() {
    let scripts = Scripts::new();
    what_the_server_cannot_read_ends_the_run(&bank(&scripts).0);
}

/// The example of docs/scripts.md, as a reader types it.
#[test]
fn the_manuals_example_runs() {
    let manual = include_str!("../../../../docs/scripts.md");
    let example = Scripts::new();
    let mut blocks = manual.split("```");
    let mut commands = Vec::new();
    while let (Some(before), Some(block)) = (blocks.next(), blocks.next()) {
        let (language, text) = block.split_once('\n').expect("a block has lines");
        let last = before.trim_end().lines().last().unwrap_or_default();
        match language {
            "sql" => drop(example.write(last.trim_matches(['`', ':']), text)),
            "sh" => commands.extend(text.lines().map(str::to_owned)),
            _ => {}
        }
    }
    let verbs = ["prepare", "run", "cleanup"];
    assert_eq!(commands.len(), verbs.len());
    for (command, verb) in commands.iter().zip(verbs) {
        let said = type_in(command, example.directory());
        if verb == "run" {
            assert!(said.contains("buy.sql:"), "{said}");
            let words: Vec<_> = said.split_whitespace().collect();
            assert!(words.join(" ").contains(" errors 0 "), "{said}");
        }
    }
}

/// A conditional statement, a sleep, and a choice between scripts, in the program's own accounts.
#[test]
fn what_scripts_ask_for_is_what_is_done() {
    let scripts = Scripts::new();
    let url = format!("sqlite:{}/x.db", scripts.directory().display());
    let schema = scripts.write(
        "schema.sql",
        "CREATE TABLE t (a INT); INSERT INTO t VALUES (1)",
    );
    SCRIPT.succeed("prepare", &url, &["--file", &schema]);
    let counted = scripts.write("counted.sql", "\\set n 1\nINSERT INTO t VALUES (:n)");
    let refused = SCRIPT.call("prepare", &url, &["--file", &counted]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        said.contains("counted.sql:1: commands are for scripts that are measured"),
        "{said}"
    );
    let hot = scripts.write(
        "hot.sql",
        "\\set n :n + 1\n\\if :n % 2 = 0\nSELECT 'even' FROM t WHERE a < :n;\n\\endif\nSELECT 'always';",
    );
    let cold = scripts.write("cold.sql", "\\sleep 2 ms\nSELECT 'cold';\n\\sleep 3ms");
    let never = scripts.write("never.sql", "SELECT * FROM nothing_there;");
    let files = [hot + "@3", cold, never + "@0"];
    let mut arguments = vec!["--variable", "n=0", "--transactions", "400", "--seed", "1"];
    for file in &files {
        arguments.extend(["--file", file]);
    }
    let summary = SCRIPT.summary(&url, &arguments);
    assert_eq!(summary["mix"], "hot.sql@3 cold.sql@1");
    assert_eq!(summary["transactions"], 400);
    let count = |name: &str| account(&summary, name)["count"].as_u64().unwrap();
    let (hot, cold) = (
        count("hot.sql:5 SELECT 'always'"),
        count("cold.sql:2 SELECT 'cold'"),
    );
    assert_eq!(hot + cold, 400);
    // Three standard deviations are 26.
    assert!((70..=130).contains(&cold), "{cold}");
    assert_eq!(
        count("hot.sql:3 SELECT 'even' FROM t WHERE a < :n"),
        hot / 2
    );
    // Sleeps are part of the transactions and of no statement.
    let slept_us = 5000.0 * cold as f64;
    let mean_us = summary["latency_us"]["mean"].as_f64().unwrap();
    assert!(mean_us * 400.0 >= slept_us, "{summary}");
    assert!(
        summary["seconds"].as_f64().unwrap() * 1e6 >= slept_us,
        "{summary}"
    );
}

#[test]
fn wrong_scripts_are_refused_before_anything_starts() {
    let scripts = Scripts::new();
    let gone = format!("sqlite:{}/gone.db", scripts.directory().display());
    let refused_by = |verb: &str, arguments: &[&str], words: &str| {
        let output = SCRIPT.call(verb, &gone, arguments);
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{complaint}");
        assert!(complaint.contains(words), "{complaint}");
    };
    let refused = |arguments: &[&str], words: &str| {
        for verb in ["run", "prepare", "cleanup"] {
            refused_by(verb, arguments, words);
        }
    };
    refused(&[], "--file");
    let bad = scripts.write("bad.sql", "SELECT 1;\n\\set id random(1, :rows\n");
    refused_by(
        "run",
        &["--file", &bad],
        "bad.sql:2: nothing has set rows yet; use \\set above, or give --variable rows=VALUE\n  \\set id random(1, :rows\n",
    );
    refused_by(
        "run",
        &["--file", &bad, "--variable", "rows=5"],
        "bad.sql:2: \")\" is missing here\n  \\set id random(1, :rows\n                         ^",
    );
    let empty = scripts.write("empty.sql", "\n-- nothing\n");
    refused(&["--file", &empty], "the script is empty");
    let good = scripts.write("good.sql", "SELECT 1;");
    refused(&["--file", &good, "--file", &bad], "bad.sql:2");
    refused(
        &["--file", &good, "--variable", "rows=many"],
        "\"many\" is not a number",
    );
    refused(&["--file", "/gone.sql"], "/gone.sql: No such file");
    let directory = scripts.directory().display().to_string();
    refused(&["--file", &directory], "is a directory");
    let output = SCRIPT.call("run", &gone, &["--file", &format!("{good}@0")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("every weight is 0"));
}

#[test]
fn a_mistake_that_depends_on_values_ends_the_run_with_its_place() {
    let scripts = Scripts::new();
    let url = format!("sqlite:{}/x.db", scripts.directory().display());
    let schema = scripts.write("schema.sql", "CREATE TABLE t (a INT);");
    SCRIPT.succeed("prepare", &url, &["--file", &schema]);
    let late = scripts.write(
        "late.sql",
        "\\set left :left - 1\n\\set part 10 / :left\nSELECT :part;\n",
    );
    for left in ["1", "5"] {
        let left = format!("left={left}");
        let output = SCRIPT.call(
            "run",
            &url,
            &["--file", &late, "--variable", &left, "--json"],
        );
        assert_eq!(output.status.code(), Some(1));
        let events = crate::program::events(&output);
        let last = events.last().expect("a last line");
        assert_eq!(
            (&last["event"], &last["code"]),
            (&"failed".into(), &"script".into())
        );
        assert_eq!(
            last["message"],
            "late.sql:2: 10 is divided by zero\n  \\set part 10 / :left\n               ^"
        );
    }
}
