//! Other tools' names of options: a message gives ours.

use std::ffi::{OsStr, OsString};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};

use crate::target::without_password;

/// Our counterpart of another tool's option.
#[derive(Debug, Clone, Copy)]
enum Ours {
    Option(&'static str),
    /// A part of the URL, as the help shows it.
    Url(&'static str),
    /// Another option with something to bear in mind.
    But(&'static str, &'static str),
    /// Nothing, if the workload ends by itself.
    Job,
    /// Something else, in words.
    Words(&'static str),
}

use Ours::{But, Job, Option as Opt, Url, Words};

const SCHEME: Ours = Words("the start of the URL chooses it: mysql:, postgresql: or sqlite:");
const ENGINE: Ours =
    Words("choose the storage engine when the tables are made: `prepare oltp --engine NAME`");
const OWN_SQL: Ours = Words("slap always makes its own SQL; use `run script` for yours");
const PASSWORD: Ours =
    Words("passwords come from the environment variable DISKPROOF_PASSWORD or --password-file");

/// Options of sysbench, mysqlslap, sql-bench and pgbench with ours; `_` and `-` are the same. The message
/// names the first of ours that the command has.
const OPTIONS: &[(&str, Ours)] = &[
    ("threads num-threads concurrency client -c", Opt("clients")),
    ("jobs -j", Opt("workers")),
    ("time max-time -T", Opt("seconds")),
    ("seconds time max-time -T warm-up transactions rate", Job),
    ("time-limit", Opt("limit-seconds")),
    (
        "loop-count small-test",
        But("scale", "a factor for all loops: --scale 0.1 is a tenth"),
    ),
    (
        "create-options",
        But(
            "engine",
            "give the name of the storage engine; there are no other options",
        ),
    ),
    ("events max-requests", Opt("transactions")),
    (
        "number-of-queries auto-generate-sql-execute-number",
        Opt("queries"),
    ),
    (
        "-t",
        But(
            "transactions",
            "which counts all clients together; pgbench's -t counts each client",
        ),
    ),
    (
        "-C",
        But("reconnect", "with 1 to reconnect for each transaction"),
    ),
    ("-i", Opt("iterations")),
    (
        "-i initialize",
        Words("`prepare script --file FILE` makes the tables of a script"),
    ),
    ("table-size oltp-table-size scale -s", Opt("rows")),
    ("scale -s define -D", Opt("variable")),
    ("oltp-tables-count", Opt("tables")),
    (
        "oltp-table-name",
        Words("the tables' names are fixed: sbtest1, sbtest2, …"),
    ),
    ("oltp-test-mode", Opt("mix")),
    ("oltp-read-only", Words("it is --mix read-only")),
    (
        "test",
        Words("the workload is named after the verb: run oltp, run slap, run sqlbench"),
    ),
    ("oltp-skip-trx", Opt("skip-trx")),
    ("oltp-point-selects", Opt("point-selects")),
    ("oltp-range-size", Opt("range-size")),
    ("oltp-dist-type rand-type", Opt("distribution")),
    ("rand-spec-iter oltp-dist-iter", Opt("bell-draws")),
    ("rand-spec-pct oltp-dist-pct", Opt("special-window")),
    ("rand-spec-res oltp-dist-res", Opt("special-hot")),
    ("rand-pareto-h", Opt("pareto-h")),
    ("rand-zipfian-exp", Opt("zipfian-exponent")),
    ("oltp-reconnect", Words("it is --reconnect 1")),
    ("mysql-engine-trx", Opt("engine-trx")),
    ("rand-seed random-seed", Opt("seed")),
    ("percentile", Opt("percentiles")),
    ("warmup-time", Opt("warm-up")),
    ("progress -P", Opt("report-interval")),
    ("tx-rate -R", Opt("rate")),
    ("db-ps-mode oltp-ps-mode -M", Opt("protocol")),
    ("-f", Opt("file")),
    (
        "query",
        Words("use `run script --file FILE` for your own SQL"),
    ),
    (
        "mysql-storage-engine mysql-table-engine create-table-engine -e",
        Opt("engine"),
    ),
    (
        "mysql-storage-engine mysql-table-engine create-table-engine engine",
        ENGINE,
    ),
    ("mysql-ignore-errors max-tries", Opt("retry")),
    (
        "detach connect",
        Words("use --reconnect, if the workload has it"),
    ),
    ("auto-generate-sql -a", OWN_SQL),
    ("auto-generate-sql-load-type", Opt("load-type")),
    ("auto-generate-sql-add-autoincrement", Opt("auto-increment")),
    ("auto-generate-sql-guid-primary", Opt("guid-primary")),
    (
        "auto-generate-sql-secondary-indexes",
        Opt("secondary-indexes"),
    ),
    ("auto-generate-sql-write-number", Opt("write-number")),
    ("auto-generate-sql-unique-write-number", Opt("unique-write")),
    (
        "auto-generate-sql-unique-query-number",
        Opt("unique-queries"),
    ),
    ("number-int-cols -y", Opt("int-columns")),
    ("number-char-cols -x", Opt("char-columns")),
    (
        "create-schema database user -u -h host",
        Url("SCHEME://USER@HOST/DB"),
    ),
    ("port", Url("SCHEME://USER@HOST:PORT/DB")),
    ("db-driver server", SCHEME),
    (
        "mysql-host mysql-user mysql-db",
        Url("mysql://USER@HOST/DB"),
    ),
    ("mysql-port", Url("mysql://USER@HOST:PORT/DB")),
    ("mysql-socket", Url("mysql://USER@localhost/DB?socket=PATH")),
    ("mysql-ssl", Url("mysql://USER@HOST/DB?ssl-mode=required")),
    ("mysql-password pgsql-password password", PASSWORD),
    (
        "pgsql-host pgsql-user pgsql-db",
        Url("postgresql://USER@HOST/DB"),
    ),
    ("pgsql-port", Url("postgresql://USER@HOST:PORT/DB")),
    ("socket", Url("SCHEME://USER@localhost/DB?socket=PATH")),
];

/// Tests of the other tools, and what runs them here.
const TESTS: [(&str, &str); 15] = [
    ("oltp-read-write", "oltp --mix read-write"),
    ("oltp-read-only", "oltp --mix read-only"),
    ("oltp-write-only", "oltp --mix write-only"),
    ("oltp-point-select", "oltp --mix point-select"),
    ("oltp-update-index", "oltp --mix update-index"),
    ("oltp-update-non-index", "oltp --mix update-non-index"),
    ("oltp-insert", "oltp --mix insert"),
    ("oltp-delete", "oltp --mix delete"),
    ("oltp.lua", "oltp --mix complex"),
    ("sysbench", "oltp"),
    ("mysqlslap", "slap"),
    ("mariadb-slap", "slap"),
    ("sql-bench", "sqlbench"),
    ("run-all-tests", "sqlbench"),
    ("pgbench", "script"),
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
    let theirs = OPTIONS.iter().filter(|(theirs, _)| is_one(theirs));
    theirs.map(|(_, ours)| ours).find_map(|ours| match ours {
        Opt(name) => has(name).then(|| format!("here it is --{name}")),
        But(name, words) => has(name).then(|| format!("here it is --{name}, {words}")),
        Url(part) => Some(format!("here it is a part of the URL: --url '{part}'")),
        Job => (has("clients") && !has("seconds")).then(|| {
            "this workload ends when all its work is done; --help lists the options that make it longer or shorter"
                .into()
        }),
        Words(words) => Some((*words).to_owned()),
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
    } else if word != verb
        && cli
            .get_subcommands()
            .any(|verb| verb.find_subcommand(word).is_some())
    {
        return Some(format!("the verb comes first: {verb} {word}"));
    }
    let dashed = word.replace('_', "-");
    let (_, ours) = TESTS.iter().find(|(theirs, _)| *theirs == dashed)?;
    Some(format!("here it is `{verb} {ours}`"))
}
