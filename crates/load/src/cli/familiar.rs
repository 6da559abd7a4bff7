//! Other tools' names of options: a message gives ours.

use std::ffi::{OsStr, OsString};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};

use super::scripted;
use crate::target::without_password;

const PASSWORD: &str =
    "passwords come from the environment variable DISKPROOF_PASSWORD or --password-file";
const OWN_SQL: &str = "slap always makes its own SQL; use `run script` for yours";
const ENGINE: &str =
    "choose the storage engine when the tables are made: `prepare oltp --engine NAME`";

/// Options of sysbench, mysqlslap, sql-bench and pgbench; `_` and `-` are the same. Some others are ours behind a
/// prefix. What begins with dashes is an option of ours: the message gives the first that the command has. Other
/// words are the message.
const OPTIONS: &[(&str, &str)] = &[
    ("threads num-threads concurrency client -c", "--clients"),
    ("jobs -j", "--workers"),
    ("time max-time -T", "--seconds"),
    ("time-limit", "--limit-seconds"),
    (
        "loop-count small-test",
        "--scale, a factor for all loops: --scale 0.1 is a tenth",
    ),
    (
        "create-options",
        "--engine, give the name of the storage engine; there are no other options",
    ),
    ("events max-requests", "--transactions"),
    (
        "number-of-queries auto-generate-sql-execute-number",
        "--queries",
    ),
    (
        "-t",
        "--transactions, which counts all clients together; pgbench's -t counts each client",
    ),
    (
        "-C",
        "--reconnect, with 1 to reconnect for each transaction",
    ),
    ("-i", "--iterations"),
    (
        "-i initialize",
        "`prepare script --file FILE` makes the tables of a script",
    ),
    ("table-size oltp-table-size scale -s", "--rows"),
    ("scale -s define -D", "--variable"),
    ("oltp-tables-count", "--tables"),
    (
        "oltp-table-name",
        "the tables' names are fixed: sbtest1, sbtest2, …",
    ),
    ("oltp-test-mode oltp-read-only", "--mix"),
    (
        "test",
        "the workload is named after the verb: run oltp, run slap, run sqlbench",
    ),
    ("oltp-dist-type rand-type", "--distribution"),
    ("rand-spec-iter oltp-dist-iter", "--bell-draws"),
    ("rand-spec-pct oltp-dist-pct", "--special-window"),
    ("rand-spec-res oltp-dist-res", "--special-hot"),
    ("rand-zipfian-exp", "--zipfian-exponent"),
    (
        "oltp-reconnect",
        "--reconnect, with 1 to reconnect for each transaction",
    ),
    ("rand-seed random-seed", "--seed"),
    ("percentile", "--percentiles"),
    ("warmup-time", "--warm-up"),
    ("progress -P", "--report-interval"),
    ("tx-rate -R", "--rate"),
    ("db-ps-mode oltp-ps-mode -M", "--protocol"),
    ("-f", "--file"),
    ("query", "use `run script --file FILE` for your own SQL"),
    (
        "mysql-storage-engine mysql-table-engine create-table-engine -e",
        "--engine",
    ),
    (
        "mysql-storage-engine mysql-table-engine create-table-engine engine",
        ENGINE,
    ),
    ("mysql-ignore-errors max-tries", "--retry"),
    ("detach connect", "use --reconnect, if the workload has it"),
    ("auto-generate-sql -a", OWN_SQL),
    ("auto-generate-sql-add-autoincrement", "--auto-increment"),
    ("auto-generate-sql-unique-write-number", "--unique-write"),
    ("auto-generate-sql-unique-query-number", "--unique-queries"),
    ("number-int-cols -y", "--int-columns"),
    ("number-char-cols -x", "--char-columns"),
    (
        "create-schema database user -u -h host port socket",
        "it is a part of --url 'SCHEME://USER@HOST:PORT/DB?socket=PATH'",
    ),
    (
        "db-driver server",
        "the start of the URL chooses it: mysql:, postgresql: or sqlite:",
    ),
    (
        "mysql-host mysql-user mysql-db mysql-port mysql-socket",
        "it is a part of --url 'mysql://USER@HOST:PORT/DB?socket=PATH'",
    ),
    (
        "mysql-ssl",
        "it is a part of --url 'mysql://USER@HOST/DB?ssl-mode=required'",
    ),
    ("mysql-password pgsql-password password", PASSWORD),
    (
        "pgsql-host pgsql-user pgsql-db pgsql-port",
        "it is a part of --url 'postgresql://USER@HOST:PORT/DB'",
    ),
];

/// What a workload lacks that ends by itself.
const LENGTH: [&str; 7] = [
    "seconds",
    "time",
    "max-time",
    "-T",
    "warm-up",
    "transactions",
    "rate",
];

/// Programs and tests of the other tools, and what runs them here; sysbench's other tests are mixes of oltp.
const TESTS: [(&str, &str); 6] = [
    ("oltp.lua", "oltp --mix complex"),
    ("sysbench", "oltp"),
    ("mysqlslap", "slap"),
    ("mariadb-slap", "slap"),
    ("sql-bench", "sqlbench"),
    ("run-all-tests", "sqlbench"),
];

/// Adds to an error of the command line what the unknown word is called here.
pub(super) fn explain(mut error: Error, cli: &Command, words: &[OsString]) -> Error {
    hide_password(&mut error);
    let tip = match error.kind() {
        ErrorKind::UnknownArgument => unknown(&error, ContextKind::InvalidArg)
            .and_then(|option| option_tip(&option, named(cli, words))),
        ErrorKind::InvalidSubcommand => unknown(&error, ContextKind::InvalidSubcommand)
            .and_then(|word| word_tip(&word, cli, words)),
        ErrorKind::ValueValidation => wrong_value_tip(&error),
        _ => None,
    };
    if let Some(tip) = tip {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::SuggestedSubcommand);
        let tips = vec![tip.into()];
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    error
}

/// A URL in the wrong place would be repeated in the message, with its password.
fn hide_password(error: &mut Error) {
    for kind in [
        ContextKind::InvalidArg,
        ContextKind::InvalidSubcommand,
        ContextKind::InvalidValue,
    ] {
        if let Some(word) = unknown(error, kind)
            && word.contains("://")
        {
            error.insert(kind, ContextValue::String(without_password(&word)));
        }
    }
}

fn unknown(error: &Error, kind: ContextKind) -> Option<String> {
    match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.clone()),
        _ => None,
    }
}

/// The verb's and the workload's own command, as far as they are named.
fn named<'a>(cli: &'a Command, words: &[OsString]) -> &'a Command {
    words.iter().skip(1).fold(cli, |command, word| {
        command.find_subcommand(word).unwrap_or(command)
    })
}

fn option_tip(option: &str, command: &Command) -> Option<String> {
    let dashed = option.replace('_', "-");
    let has = |name: &str| {
        command
            .get_arguments()
            .any(|own| own.get_long() == Some(name))
    };
    let name = dashed.trim_start_matches("--");
    if dashed != option && has(name) {
        return Some(format!("here it is --{name}"));
    }
    let is_one = |theirs: &str| theirs.split(' ').any(|own| own == name);
    let mut theirs = OPTIONS.iter().filter(|(theirs, _)| is_one(theirs));
    let known = theirs.find(|(_, ours)| match ours.strip_prefix("--") {
        Some(named) => has(named.split(',').next().unwrap_or(named)),
        None => true,
    });
    if let Some((_, ours)) = known {
        let is_ours = ours.starts_with("--");
        return Some(format!(
            "{}{ours}",
            if is_ours { "here it is " } else { "" }
        ));
    }
    let prefixes = ["oltp-", "mysql-", "rand-", "auto-generate-sql-"];
    let mut shorter = prefixes
        .iter()
        .filter_map(|prefix| name.strip_prefix(prefix));
    if let Some(name) = shorter.find(|name| has(name)) {
        return Some(format!("here it is --{name}"));
    }
    (LENGTH.contains(&name) && has("clients") && !has("seconds")).then(|| {
        "this workload ends when all its work is done; --help lists the options that make it longer or shorter"
            .into()
    })
}

/// mysqlslap takes a list of numbers of clients and makes a run for each.
fn wrong_value_tip(error: &Error) -> Option<String> {
    let option = unknown(error, ContextKind::InvalidArg)?;
    let value = unknown(error, ContextKind::InvalidValue)?;
    let is_list = value.contains(',') && option.starts_with("--clients");
    is_list.then(|| {
        let numbers = value.replace(',', ", ");
        format!(
            "a run has one number of clients; start one run for each, or write a study with `clients = [{numbers}]`"
        )
    })
}

fn is_workload(word: &str, cli: &Command) -> bool {
    let has = |verb: &Command| verb.find_subcommand(word).is_some();
    cli.get_subcommands().any(has) || scripted::names().any(|own| own == word)
}

fn word_tip(word: &str, cli: &Command, words: &[OsString]) -> Option<String> {
    let verb = cli
        .get_subcommands()
        .find(|verb| words.iter().any(|word| word == OsStr::new(verb.get_name())))
        .map_or("run", Command::get_name);
    let stands_after = |other: &OsString| other == OsStr::new(word);
    let comes_second = words.iter().position(stands_after) == Some(2);
    if comes_second && words.get(1).is_some_and(|first| first == OsStr::new(verb)) {
        if ["slap", "sqlbench"].contains(&word) {
            return Some(format!(
                "{word} needs no preparation, because it makes and drops its own tables; start with `run {word}`"
            ));
        }
    } else if word != verb && is_workload(word, cli) {
        return Some(format!("the verb comes first: {verb} {word}"));
    }
    let dashed = word.replace('_', "-");
    if let Some(mix) = dashed.strip_prefix("oltp-") {
        return Some(format!("here it is `{verb} oltp --mix {mix}`"));
    }
    let (_, ours) = TESTS.iter().find(|(theirs, _)| *theirs == dashed)?;
    Some(format!("here it is `{verb} {ours}`"))
}
