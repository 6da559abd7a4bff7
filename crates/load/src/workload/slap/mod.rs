//! mysqlslap's workload of its own making (`--auto-generate-sql`): a table, a short list of
//! statements, and clients that go through the list again and again.

mod list;
mod script;
mod table;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use super::{Catalogue, Workload};
use crate::driver::{Admin, Dialect, Fault, Kind, Statement, StatementId};
use list::Query;
pub use script::SlapScript;
pub use table::NAME as TABLE;

/// The kind of statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum LoadType {
    /// INSERT and SELECT in turn, INSERT first; the SELECT reads all rows, or one if there is a key
    Mixed,
    /// SELECT of all rows
    Read,
    /// SELECT of one row by its key
    Key,
    /// INSERT
    Write,
    /// UPDATE of all rows, or of one if there is a key
    Update,
}

impl LoadType {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mixed => "mixed",
            Self::Read => "read",
            Self::Key => "key",
            Self::Write => "write",
            Self::Update => "update",
        }
    }

    /// Whether rows of a table with such a key are read by it.
    #[must_use]
    pub fn asks_by_key(self, key: KeyColumn) -> bool {
        match self {
            Self::Key => true,
            Self::Mixed | Self::Update => key != KeyColumn::None,
            Self::Read | Self::Write => false,
        }
    }
}

impl fmt::Display for LoadType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The content of column `id`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyColumn {
    /// There is none.
    None,
    AutoIncrement,
    /// A text that the database makes up: `uuid()` or what comes nearest to it.
    Guid,
}

/// The user's options.
#[derive(Debug, Clone)]
pub struct SlapOptions {
    pub load_type: LoadType,
    pub int_columns: u16,
    pub char_columns: u16,
    pub key: KeyColumn,
    /// Further unique columns, each with a text that the database makes up.
    pub secondary_indexes: u16,
    /// MySQL family only; `None`: the server's own choice.
    pub engine: Option<String>,
    /// Rows that are loaded before the start.
    pub rows: u64,
    /// Different INSERTs among those that load.
    pub unique_writes: u64,
    /// Different statements that a client goes through: one more than this, as in mysqlslap.
    pub unique_queries: u64,
    /// Statements of each client; `None`: the list once.
    pub queries_per_client: Option<u64>,
    /// Statements in a transaction; `None`: each commits itself.
    pub commit: Option<u64>,
    /// Reconnect before every so many statements of a pass through the list, the first included.
    pub detach: Option<u64>,
    pub seed: u64,
}

/// Shared by all iterations.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) catalogue: Catalogue,
    pub(super) list: Vec<Item>,
    /// Statements of each client.
    pub(super) queries: u64,
    pub(super) brackets: Option<Brackets>,
    pub(super) detach: Option<Detach>,
    pub(super) seed: u64,
}

/// One statement of the list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item {
    pub(super) statement: StatementId,
    /// Whether it reads a row by its key.
    pub(super) keyed: bool,
}

/// The statements around those of a transaction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Brackets {
    /// Statements between them, at least one.
    pub(super) size: u64,
    /// `None`: the session's own commits are off, and a transaction need not be begun.
    pub(super) begin: Option<StatementId>,
    pub(super) commit: StatementId,
}

/// When a client leaves and comes again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Detach {
    pub(super) every: u64,
    pub(super) type_index: usize,
}

/// The workload, ready for one iteration.
#[derive(Debug, Clone)]
pub struct Slap {
    plan: Arc<Plan>,
    /// Those that were loaded, if the table has a key.
    keys: Arc<[String]>,
    iteration: u64,
}

impl Slap {
    #[must_use]
    pub fn new(options: &SlapOptions, dialect: Dialect) -> Self {
        let queries = list::queries(options, dialect);
        let mut catalogue = Catalogue::default();
        let mut list = vec![None; queries.len()];
        // In the order in which they are first asked for; one type for all of a kind.
        for name in distinct_names(&queries) {
            let places = (0..queries.len()).filter(|&at| queries[at].name == name);
            let places: Vec<_> = places.collect();
            let statements = places.iter().map(|&at| as_text(&queries[at].sql));
            let kind = queries[places[0]].kind;
            let first = catalogue.add(name, kind, statements);
            for (offset, at) in places.into_iter().enumerate() {
                list[at] = Some(Item {
                    statement: first + offset,
                    keyed: queries[at].keyed,
                });
            }
        }
        let brackets = options
            .commit
            .map(|size| brackets(&mut catalogue, size, options.load_type, dialect));
        let detach = options.detach.map(|every| {
            catalogue.add("reconnect", Kind::Other, []);
            Detach {
                every,
                type_index: catalogue.types().len() - 1,
            }
        });
        let list: Vec<_> = list.into_iter().flatten().collect();
        let plan = Plan {
            catalogue,
            queries: options.queries_per_client.unwrap_or(list.len() as u64),
            list,
            brackets,
            detach,
            seed: options.seed,
        };
        Self {
            plan: Arc::new(plan),
            keys: Arc::default(),
            iteration: 0,
        }
    }

    /// The same for the next iteration, with a table that holds these keys.
    #[must_use]
    pub fn iteration(&self, number: u64, keys: Vec<String>) -> Self {
        Self {
            plan: Arc::clone(&self.plan),
            keys: keys.into(),
            iteration: number,
        }
    }

    #[must_use]
    pub fn queries_per_client(&self) -> u64 {
        self.plan.queries
    }

    /// Transactions of each client's script.
    #[must_use]
    pub fn transactions_per_client(&self) -> u64 {
        self.plan.queries.div_ceil(self.plan.transaction_queries())
    }
}

impl Plan {
    /// Statements of the list in one transaction.
    pub(super) fn transaction_queries(&self) -> u64 {
        self.brackets.map_or(1, |brackets| brackets.size)
    }
}

impl Workload for Slap {
    type Script = SlapScript;

    fn catalogue(&self) -> &Catalogue {
        &self.plan.catalogue
    }

    fn script(&self, client: usize) -> SlapScript {
        let (plan, keys) = (Arc::clone(&self.plan), Arc::clone(&self.keys));
        SlapScript::new(plan, keys, self.iteration, client)
    }
}

/// Makes the table.
pub fn create(admin: &mut dyn Admin, dialect: Dialect, options: &SlapOptions) -> Result<(), Fault> {
    admin.execute(&table::definition(options, dialect))?;
    Ok(())
}

/// Fills the table; returns its keys, where rows are asked for by them.
pub fn load(
    admin: &mut dyn Admin,
    dialect: Dialect,
    options: &SlapOptions,
) -> Result<Vec<String>, Fault> {
    let inserts = list::inserts(options, dialect);
    for insert in inserts.iter().cycle().take(rows(options)) {
        admin.execute(insert)?;
    }
    if options.load_type.asks_by_key(options.key) {
        return table::keys(admin);
    }
    Ok(Vec::new())
}

/// Drops the table, if it is there.
pub fn drop(admin: &mut dyn Admin) -> Result<(), Fault> {
    admin.execute(&format!("DROP TABLE IF EXISTS {TABLE}"))?;
    Ok(())
}

fn rows(options: &SlapOptions) -> usize {
    usize::try_from(options.rows).unwrap_or(usize::MAX)
}

fn distinct_names(queries: &[Query]) -> Vec<&'static str> {
    let mut names = Vec::new();
    for query in queries {
        if !names.contains(&query.name) {
            names.push(query.name);
        }
    }
    names
}

/// mysqlslap turns a session's own commits off; other databases need a BEGIN. SQLite takes the
/// write lock at once if the transaction will write (see the `OLTP` workload).
fn brackets(
    catalogue: &mut Catalogue,
    size: u64,
    load_type: LoadType,
    dialect: Dialect,
) -> Brackets {
    let writes = !matches!(load_type, LoadType::Read | LoadType::Key);
    let begin = match dialect {
        Dialect::Mysql => None,
        Dialect::Sqlite if writes => Some("BEGIN IMMEDIATE"),
        Dialect::Postgres | Dialect::Sqlite => Some("BEGIN"),
    };
    let begin = begin.map(|sql| catalogue.add("begin", Kind::Other, [as_text(sql)]));
    if begin.is_none() {
        catalogue.set_up_with("SET AUTOCOMMIT=0");
    }
    let commit = catalogue.add("commit", Kind::Other, [as_text("COMMIT")]);
    catalogue.roll_back_with("ROLLBACK");
    Brackets {
        size,
        begin,
        commit,
    }
}

fn as_text(sql: &str) -> Statement {
    Statement {
        sql: sql.to_owned(),
        prepare: false,
    }
}
