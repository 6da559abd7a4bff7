//! The user's own SQL, in the language of pgbench's scripts (docs/scripts.md).

use std::sync::Arc;

use super::generator::client_generator;
use super::sql::{Bracket, Fence, Mistake, Names};
use super::{Catalogue, Workload};
use crate::driver::{Dialect, Kind, Protocol, StatementId};

mod build;
mod client;
mod expression;
mod function;
mod hash;
mod lexer;
mod once;
mod parser;
mod random;
mod source;
#[cfg(test)]
mod tests;
mod value;

use build::Builder;
pub use client::ScriptClient;
use expression::DEFAULT_SEED;
pub use once::{LeftOut, Once, Rows, Statement, Text};
use parser::{Parsed, Sql, Step, Use, Variables};
pub use source::Source;
pub use value::Value;

/// A script and how often it is chosen: as its weight is to the sum of all weights.
#[derive(Debug)]
pub struct Weighted {
    pub source: Source,
    pub weight: u32,
}

/// The user's options.
#[derive(Debug)]
pub struct ScriptOptions {
    /// At least one, none with a weight of 0.
    pub files: Vec<Weighted>,
    /// Values that variables begin with.
    pub variables: Vec<(String, Value)>,
    pub protocol: Protocol,
    pub seed: u64,
    /// What the scripts may reach.
    pub fence: Fence,
}

/// A mistake in a script, with its file, line and place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ScriptError(String);

/// The workload with its catalogue, for one dialect.
#[derive(Debug)]
pub struct ScriptWorkload {
    catalogue: Catalogue,
    files: Arc<Files>,
    variables: Vec<Option<Value>>,
    /// The variable that holds each client's own number, unless a user has set it for all.
    client_id: Option<usize>,
    seed: u64,
    /// Names that may be those of other databases: [`Fence::check`] needs the server.
    pub names: Names,
    /// Whether a statement may make a table, or set what a name means: other statements then find what is not there
    /// yet.
    pub makes_something: bool,
}

/// All scripts of the workload.
#[derive(Debug)]
struct Files {
    all: Vec<File>,
    dialect: Dialect,
    total_weight: u64,
}

#[derive(Debug)]
struct File {
    source: Source,
    steps: Vec<Step>,
    statements: Vec<Sent>,
    /// The sum of the weights of the files up to this one, with its own.
    weight_up_to: u64,
}

/// The form in which a statement is sent.
#[derive(Debug)]
enum Sent {
    Prepared {
        id: StatementId,
        uses: Vec<Use>,
    },
    Text {
        type_index: usize,
        pieces: Vec<String>,
        uses: Vec<Use>,
    },
}

impl ScriptWorkload {
    /// Reads all scripts; nothing is left to be found wrong in them but what depends on values.
    pub fn new(options: ScriptOptions, dialect: Dialect) -> Result<Self, ScriptError> {
        let ScriptOptions {
            files,
            variables: presets,
            protocol,
            seed,
            fence,
        } = options;
        let client_id_is_ours = !presets.iter().any(|(name, _)| name == CLIENT_ID);
        let mut variables = Variables::default();
        let client_id = variables.preset(CLIENT_ID);
        let presets = preset(&mut variables, seed, presets);
        let mut names = Names::new();
        let scripts = files
            .iter()
            .map(|file| {
                let parsed = parser::parse(&file.source.text, dialect, &mut variables);
                parsed
                    .and_then(|parsed| {
                        admit(&parsed, &file.source.name, &fence, &mut names)?;
                        Ok(parsed)
                    })
                    .map_err(|mistake| ScriptError(file.source.tell(&mistake)))
            })
            .collect::<Result<Vec<_>, _>>()?;
        let makes_something = scripts
            .iter()
            .flat_map(|script| &script.statements)
            .any(makes);
        let initial = initial(&variables, presets);
        let mut builder = Builder::new(protocol, dialect);
        Ok(Self {
            files: Arc::new(builder.files(files, scripts)?),
            catalogue: builder.catalogue,
            client_id: client_id_is_ours.then_some(client_id),
            variables: initial,
            seed,
            names,
            makes_something,
        })
    }
}

fn makes(sql: &Sql) -> bool {
    let is_of_transaction = ["SAVEPOINT", "RELEASE", "ROLLBACK"].contains(&sql.first_word.as_str());
    sql.kind == Kind::Other && sql.bracket == Bracket::Neither && !is_of_transaction
}

/// Refuses statements that leave the database, and keeps the names that may do so.
fn admit(parsed: &Parsed, file: &str, fence: &Fence, names: &mut Names) -> Result<(), Mistake> {
    for sql in parsed.statements.iter().filter(|_| fence.stands()) {
        let finding = fence.read(sql.written.as_bytes());
        if let Some(why) = fence.refusal(&finding) {
            return Err(Mistake::new(sql.at, why));
        }
        for name in finding.qualifiers {
            let place = || format!("{file}:{}", sql.line);
            names.entry(name).or_insert_with(place);
        }
    }
    Ok(())
}

/// Makes the variables that exist from the start.
fn preset(
    variables: &mut Variables,
    seed: u64,
    given: Vec<(String, Value)>,
) -> Vec<(usize, Value)> {
    built_in(seed)
        .into_iter()
        .chain(given)
        .map(|(name, value)| (variables.preset(&name), value))
        .collect()
}

/// The values that variables begin with.
fn initial(variables: &Variables, presets: Vec<(usize, Value)>) -> Vec<Option<Value>> {
    let mut initial = vec![None; variables.count()];
    for (slot, value) in presets {
        initial[slot] = Some(value);
    }
    initial
}

impl Workload for ScriptWorkload {
    type Script = ScriptClient;

    fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn script(&self, client: usize) -> ScriptClient {
        let mut variables = self.variables.clone();
        if let Some(slot) = self.client_id {
            variables[slot] = i64::try_from(client).ok().map(Value::Int);
        }
        let rng = client_generator(self.seed, client);
        ScriptClient::new(Arc::clone(&self.files), variables, rng)
    }
}

/// The variable that counts the clients, from 0.
const CLIENT_ID: &str = "client_id";

/// pgbench's automatic variables. The client's number differs from client to client.
fn built_in(seed: u64) -> [(String, Value); 4] {
    let seed = Value::Int(seed.cast_signed());
    [
        (CLIENT_ID.to_owned(), Value::Int(0)),
        ("scale".to_owned(), Value::Int(1)),
        ("random_seed".to_owned(), seed),
        (DEFAULT_SEED.to_owned(), seed),
    ]
}
