//! Lets the server's own parser read what the clients would send, before any of them comes.

use std::collections::HashSet;
use std::time::Duration;

use crate::driver::template::Template;
use crate::driver::{Alone, Args, Dialect, Driver, Fault, Protocol, ServerError, Session};
use crate::engine::Failure;
use crate::workload::script::ScriptWorkload;
use crate::workload::{Next, Script, Workload};

/// The code of a failure that no other run could escape.
const CODE: &str = "statement";

/// As many transactions are drawn: a branch that one in a hundred takes is among them.
const TRANSACTIONS: usize = 1000;

/// As many steps are drawn: a transaction may have very many.
const STEPS: usize = 100_000;

/// How long a server may take to read a statement.
const LIMIT: Duration = Duration::from_secs(10);

/// What servers say of a text that is no SQL: `ER_PARSE_ERROR`, `ER_SYNTAX_ERROR` and `PostgreSQL`'s.
const SYNTAX: [&str; 3] = ["1064", "1149", "42601"];
const SYNTAX_OF_SQLITE: [&str; 3] = ["syntax error", "incomplete input", "unrecognized token"];

/// `ER_UNSUPPORTED_PS` of a kind of statement, and `ER_MAX_PREPARED_STMT_COUNT_REACHED`.
const NOT_PREPARED: [&str; 2] = ["1295", "1461"];

/// A statement that names it may change what is SQL.
const MODE: &str = "SQL_MODE";

/// Prepares each statement of the first transactions once, and runs none; returns their number.
///
/// With `only_syntax` a table may be missing, as it may if the scripts themselves make something.
pub(super) fn try_statements<D: Driver>(
    driver: &D,
    workload: &ScriptWorkload,
    only_syntax: bool,
) -> Result<usize, Failure> {
    let only_syntax = only_syntax || workload.makes_something;
    let session = driver
        .connect(&[], Protocol::Prepared)
        .map_err(Failure::connecting)?;
    let mut connection = Alone::new(session).map_err(Failure::connecting)?;
    let all = drawn(workload, driver.dialect());
    let mut wrong = Vec::new();
    for (type_index, sql) in &all {
        let begun = connection.session.submit_preparation(sql.as_bytes(), None);
        match begun.and_then(|()| connection.reply(Some(LIMIT))) {
            Err(Fault::Server(error)) if is_wrong(&error, only_syntax) => {
                let name = &workload.catalogue().types()[*type_index].name;
                wrong.push(format!(
                    "{name}: the server refuses this statement: {error}"
                ));
            }
            Ok(_) | Err(Fault::Server(_)) => {}
            // What is wrong with the connection shows in the run, too.
            Err(_) => break,
        }
    }
    if wrong.is_empty() {
        return Ok(all.len());
    }
    Err(Failure::new(CODE, wrong.join("\n")))
}

/// The statements that a client sends in its first transactions, each as it is sent first.
fn drawn(workload: &ScriptWorkload, dialect: Dialect) -> Vec<(usize, String)> {
    let catalogue = workload.catalogue();
    let mut client = workload.script(0);
    let mut args = Args::default();
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    let mut steps = 0;
    for _ in 0..TRANSACTIONS {
        client.begin();
        while let Some(next) = client.next(&mut args) {
            steps += 1;
            if steps == STEPS {
                return all;
            }
            let (type_index, sql, is_text) = match next {
                Next::Sql { type_index } => (type_index, String::from_utf8_lossy(args.sql()), true),
                Next::Statement(id) => {
                    let sql = catalogue.statements()[id].sql.as_str().into();
                    (catalogue.type_of(id), sql, false)
                }
                Next::Fail => break,
                _ => continue,
            };
            if !seen.insert(type_index) {
                continue;
            }
            if sql.to_ascii_uppercase().contains(MODE) {
                return all;
            }
            // A question mark that is an operator would be taken for a parameter.
            if !is_text || Template::new(&sql, dialect).parameter_count() == 0 {
                all.push((type_index, sql.into_owned()));
            }
        }
    }
    all
}

fn is_wrong(error: &ServerError, only_syntax: bool) -> bool {
    let code = error.code.as_str();
    let is_syntax = SYNTAX.contains(&code)
        || SYNTAX_OF_SQLITE
            .iter()
            .any(|words| code == "SQLITE_ERROR" && error.message.contains(words));
    is_syntax || !(only_syntax || error.transient || NOT_PREPARED.contains(&code))
}
