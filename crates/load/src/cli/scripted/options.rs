//! The options that a script describes, as the command line has them.

use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::PossibleValue;
use clap::{Arg, ArgAction, ArgMatches, value_parser};

use crate::cli::args::{engine_name, positive_seconds};
use crate::cli::within::Within;
use crate::workload::lua::{Described, Kind};

pub(super) fn arg(option: &Described) -> Arg {
    let mut arg = Arg::new(option.name.clone())
        .long(option.name.clone())
        .help(option.help.clone());
    let upper = || option.name.to_uppercase().replace('-', "_");
    arg = arg.value_name(option.value.clone().unwrap_or_else(upper));
    if let Some(default) = &option.default {
        arg = arg.default_value(default.clone());
    }
    if let Some(heading) = &option.heading {
        arg = arg.help_heading(heading.clone());
    }
    if let Some(other) = &option.requires {
        arg = arg.requires(other.clone());
    }
    arg = arg.conflicts_with_all(option.conflicts.clone());
    match &option.kind {
        Kind::Flag => arg.action(ArgAction::SetTrue),
        Kind::Whole { least, most } => arg.within(*least..=*most),
        Kind::Number { least, most } => arg.within(*least..=*most),
        Kind::Seconds => arg.value_parser(positive_seconds),
        Kind::Word => arg.value_parser(engine_name),
        Kind::File => arg.value_parser(value_parser!(PathBuf)),
        Kind::Text { many: true } => arg.value_delimiter(',').action(ArgAction::Append),
        Kind::Text { many: false } => arg,
        Kind::Choice { names, many } => {
            let names = names.iter().map(|(name, meaning)| {
                let value = PossibleValue::new(name.clone()).alias(name.to_lowercase());
                if meaning.is_empty() {
                    value
                } else {
                    value.help(meaning.clone())
                }
            });
            let arg = arg.value_parser(names.collect::<Vec<_>>());
            if *many {
                arg.value_delimiter(',').action(ArgAction::Append)
            } else {
                arg
            }
        }
    }
}

/// What the user has given, as a script reads it.
pub(super) fn given(
    options: &[Described],
    verb: &String,
    matches: &ArgMatches,
) -> Vec<(String, Option<String>)> {
    let own = options.iter().filter(|option| option.verbs.contains(verb));
    let given = own.filter_map(|option| {
        let name = &option.name;
        if matches!(option.kind, Kind::Flag) {
            return matches.get_flag(name).then(|| (name.clone(), None));
        }
        let words: Vec<_> = matches
            .get_raw(name)?
            .map(|word| word.to_string_lossy())
            .collect();
        Some((name.clone(), Some(words.join(","))))
    });
    given.collect()
}

pub(super) fn number<T: FromStr>(given: &[(String, Option<String>)], wanted: &str) -> Option<T> {
    let (_, number) = given.iter().find(|(name, _)| name == wanted)?;
    number.as_ref()?.parse().ok()
}
