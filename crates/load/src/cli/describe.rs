//! The workloads with their options, as JSON for a program: from the command line's own declaration.

use std::any::TypeId;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgAction, Args, Command, CommandFactory};
use serde_json::{Map, Value, json};

use super::args::{Connection, Job, Load, Reach};
use super::within::Bounds;
use super::{Cli, scripted};

/// Verbs with options of a workload's own.
const VERBS: [&str; 3] = ["run", "prepare", "check"];

pub(super) fn say() {
    let mut out = crate::plain::Plain(std::io::stdout());
    // With nobody to read it, nothing is lost.
    let _ = writeln!(out, "{:#}", described());
}

fn described() -> Value {
    let shared = shared();
    let mut workloads = Map::new();
    for verb in VERBS {
        for name in names(verb) {
            let cli = scripted::declare(Cli::command(), [Some(verb), Some(&name)]);
            let command = cli
                .find_subcommand(verb)
                .and_then(|verb| verb.find_subcommand(&name));
            let Some(command) = command else { continue };
            let workload = workloads
                .entry(name.clone())
                .or_insert_with(|| json!({ "about": text(command.get_about()), "options": [] }));
            let Some(options) = workload["options"].as_array_mut() else {
                continue;
            };
            let arguments = command.get_arguments();
            for arg in arguments.filter(|arg| !shared.contains(arg.get_id().as_str())) {
                let name = called(arg);
                let known = options.iter().position(|option| option["name"] == *name);
                let place = known.unwrap_or_else(|| {
                    options.push(describe(arg, &name));
                    options.len() - 1
                });
                if let Some(verbs) = options[place]["verbs"].as_array_mut() {
                    verbs.push(verb.into());
                }
            }
        }
    }
    json!({ "workloads": workloads })
}

/// The workloads that have this verb.
fn names(verb: &str) -> Vec<String> {
    let cli = Cli::command();
    let native = cli.find_subcommand(verb).into_iter();
    let native = native.flat_map(Command::get_subcommands);
    let native = native.map(|command| command.get_name().to_owned());
    native.chain(scripted::names().map(str::to_owned)).collect()
}

/// The options that say how a workload is run, and not what it is.
fn shared() -> BTreeSet<String> {
    let groups = [
        Connection::augment_args(Command::new("")),
        Reach::augment_args(Command::new("")),
        Load::augment_args(Command::new("")),
        Job::augment_args(Command::new("")),
    ];
    let args = groups.iter().flat_map(Command::get_arguments);
    args.map(|arg| arg.get_id().to_string()).collect()
}

/// An option's name; that of a word without an option before it is in capitals.
fn called(arg: &Arg) -> String {
    let unnamed = || arg.get_id().as_str().to_uppercase();
    arg.get_long().map_or_else(unnamed, str::to_owned)
}

fn describe(arg: &Arg, name: &str) -> Value {
    let mut said = json!({ "name": name, "help": text(arg.get_help()), "verbs": [] });
    let takes_value = arg.get_action().takes_values();
    let choices: Vec<_> = arg
        .get_possible_values()
        .iter()
        .filter(|_| takes_value)
        .map(|choice| json!({ "name": choice.get_name(), "help": text(choice.get_help()) }))
        .collect();
    let bounds = arg.get::<Bounds>();
    let parsed = arg.get_value_parser().type_id();
    let is = |type_id: TypeId| parsed == type_id;
    said["type"] = match bounds {
        _ if !takes_value => "flag",
        _ if !choices.is_empty() => "choice",
        Some(bounds) if bounds.least.is_f64() => "number",
        Some(_) => "whole",
        None if is(TypeId::of::<u64>()) => "whole",
        None if is(TypeId::of::<f64>()) => "number",
        None if is(TypeId::of::<Duration>()) => "seconds",
        None if is(TypeId::of::<PathBuf>()) => "file",
        None => "text",
    }
    .into();
    if let Some(bounds) = bounds {
        said["least"] = bounds.least.clone();
        said["most"] = bounds.most.clone();
    }
    if !choices.is_empty() {
        said["choices"] = choices.into();
    }
    if arg.is_required_set() {
        said["required"] = true.into();
    }
    if takes_value && matches!(arg.get_action(), ArgAction::Append) {
        said["many"] = true.into();
    }
    let units = arg.get_value_names().filter(|_| takes_value);
    if let Some([unit, ..]) = units {
        said["unit"] = unit.as_str().into();
    }
    if let Some(default) = arg.get_default_values().first().filter(|_| takes_value) {
        let default = default.to_string_lossy();
        let is_number =
            ["whole", "number", "seconds"].contains(&said["type"].as_str().unwrap_or(""));
        said["default"] = match serde_json::from_str(&default) {
            Ok(number) if is_number => number,
            _ => default.into(),
        };
    }
    said
}

/// Words on one line, as in the help.
fn text(styled: Option<&clap::builder::StyledStr>) -> Value {
    let text = styled.map(ToString::to_string).unwrap_or_default();
    let words: Vec<_> = text.split_whitespace().collect();
    words.join(" ").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_described_as_they_are_declared() {
        let said = described();
        let option = |workload: &str, name: &str| {
            let options = said["workloads"][workload]["options"].as_array().unwrap();
            let found = options.iter().find(|option| option["name"] == name);
            found.cloned().unwrap_or_default()
        };
        let tables = option("conditions", "tables");
        assert_eq!(tables["verbs"], json!(["run", "prepare"]));
        assert_eq!(
            [&tables["least"], &tables["most"], &tables["default"]],
            [1, 65_535, 100]
        );
        assert_eq!(tables["type"], "whole");
        assert_eq!(option("sqlbench", "tests")["many"], true);
        assert_eq!(option("sqlbench", "limit-seconds")["type"], "seconds");
        assert_eq!(option("lua", "SCRIPT")["type"], "file");
        assert_eq!(option("oltp", "skip-trx")["type"], "flag");
        assert_eq!(option("oltp", "clients"), Value::Null);
    }
}
