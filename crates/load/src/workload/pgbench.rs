//! What pgbench runs without scripts of the user's: its tables and its three transactions after TPC-B,
//! in the language of its own scripts.

use super::script::{Source, Weighted};
use super::tables::{Progress, TableSet, load};
use crate::driver::{Admin, Args, Dialect, Fault};

pub const BRANCHES: &str = "pgbench_branches";
const TELLERS: &str = "pgbench_tellers";
pub const ACCOUNTS: &str = "pgbench_accounts";
const HISTORY: &str = "pgbench_history";

/// All four, in the order of their numbers.
pub const NAMES: [&str; 4] = [BRANCHES, TELLERS, ACCOUNTS, HISTORY];

const TELLERS_OF_BRANCH: u64 = 10;
pub const ACCOUNTS_OF_BRANCH: u64 = 100_000;

/// What PostgreSQL makes of an account's empty filler, and SQLite does not.
const FILLER_BYTES: usize = 84;

/// From this scale on an account's number needs 64 bits.
const LARGE_SCALE: u64 = 20_000;

/// The transactions by their names.
pub const BUILT_IN: [&str; 3] = ["tpcb-like", "simple-update", "select-only"];

const DRAW_ACCOUNT: &str = "\\set aid random(1, 100000 * :scale)\n";
const DRAW_OTHERS: &str = "\\set bid random(1, 1 * :scale)\n\\set tid random(1, 10 * :scale)\n\
                           \\set delta random(-5000, 5000)\n";
const READ: &str = "SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n";
const UPDATE: &str = "UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;\n";
const UPDATE_OTHERS: &str = "UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;\n\
     UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;\n";
const INSERT: &str = "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) \
     VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);\n";

/// One of the transactions, as a script.
#[must_use]
pub fn built_in(name: &'static str, weight: u32) -> Weighted {
    let text = match name {
        "select-only" => [DRAW_ACCOUNT, READ].concat(),
        "simple-update" => {
            let parts = [
                DRAW_ACCOUNT,
                DRAW_OTHERS,
                "BEGIN;\n",
                UPDATE,
                READ,
                INSERT,
                "COMMIT;\n",
            ];
            parts.concat()
        }
        _ => {
            let steps = [UPDATE, READ, UPDATE_OTHERS, INSERT].concat();
            [DRAW_ACCOUNT, DRAW_OTHERS, "BEGIN;\n", &steps, "COMMIT;\n"].concat()
        }
    };
    let name = name.to_owned();
    Weighted {
        source: Source { name, text },
        weight,
    }
}

/// The tables, by pgbench's rules for a scale.
#[derive(Debug, Clone)]
pub struct PgbenchTables {
    pub scale: u64,
    /// MySQL family only: `innodb`, `myisam`, …
    pub engine: String,
}

impl TableSet for PgbenchTables {
    fn workload(&self) -> &'static str {
        "pgbench"
    }

    fn count(&self) -> usize {
        NAMES.len()
    }

    fn rows(&self, number: usize) -> u64 {
        match NAMES[number - 1] {
            BRANCHES => self.scale,
            TELLERS => self.scale * TELLERS_OF_BRANCH,
            ACCOUNTS => self.scale * ACCOUNTS_OF_BRANCH,
            _ => 0,
        }
    }

    fn name(&self, number: usize) -> String {
        NAMES[number - 1].to_owned()
    }

    fn build(
        &self,
        admin: &mut dyn Admin,
        dialect: Dialect,
        number: usize,
        progress: &Progress,
    ) -> Result<u64, Fault> {
        let name = NAMES[number - 1];
        let key = columns(name)[0];
        // A key that comes after the rows is PostgreSQL's quicker way; elsewhere it is the order of the rows.
        let is_keyed_later = dialect == Dialect::Postgres;
        let has_key = name != HISTORY;
        admin.execute(&self.definition(name, dialect, has_key && !is_keyed_later))?;
        if !has_key {
            return Ok(0);
        }
        let loaded = self.load(admin, dialect, number, progress)?;
        if is_keyed_later {
            admin.execute(&format!("ALTER TABLE {name} ADD PRIMARY KEY ({key})"))?;
        }
        Ok(loaded)
    }
}

/// The columns that are filled; those of branches and tellers have no filler.
fn columns(name: &str) -> &'static [&'static str] {
    match name {
        BRANCHES => &["bid", "bbalance"],
        TELLERS => &["tid", "bid", "tbalance"],
        ACCOUNTS => &["aid", "bid", "abalance", "filler"],
        _ => &["tid", "bid", "aid", "delta", "mtime"],
    }
}

impl PgbenchTables {
    fn load(
        &self,
        admin: &mut dyn Admin,
        dialect: Dialect,
        number: usize,
        progress: &Progress,
    ) -> Result<u64, Fault> {
        let (name, rows) = (NAMES[number - 1], self.rows(number));
        let of_branch = rows / self.scale;
        let blanks = if dialect == Dialect::Sqlite {
            FILLER_BYTES
        } else {
            0
        };
        let fill = |id: u64, args: &mut Args| {
            args.push_int(id.cast_signed());
            if name != BRANCHES {
                args.push_int(((id - 1) / of_branch + 1).cast_signed());
            }
            args.push_int(0);
            if name == ACCOUNTS {
                args.push_text(|out| out.resize(out.len() + blanks, b' '));
            }
        };
        load(admin, name, columns(name), 1..=rows, progress, fill)
    }

    fn definition(&self, name: &str, dialect: Dialect, with_key: bool) -> String {
        // Only a key of the type INTEGER is the order of SQLite's rows.
        let int = if dialect == Dialect::Sqlite {
            "INTEGER"
        } else {
            "INT"
        };
        let account = if self.scale >= LARGE_SCALE && dialect != Dialect::Sqlite {
            "BIGINT"
        } else {
            int
        };
        let columns = match name {
            BRANCHES => format!("bid {int} NOT NULL, bbalance INT, filler CHAR(88)"),
            TELLERS => format!("tid {int} NOT NULL, bid INT, tbalance INT, filler CHAR(84)"),
            ACCOUNTS => {
                format!("aid {account} NOT NULL, bid INT, abalance INT, filler CHAR(84)")
            }
            _ => format!(
                "tid INT, bid INT, aid {account}, delta INT, mtime TIMESTAMP, filler CHAR(22)"
            ),
        };
        let key = if with_key {
            format!(", PRIMARY KEY ({})", self::columns(name)[0])
        } else {
            String::new()
        };
        let suffix = match dialect {
            Dialect::Mysql => format!(" ENGINE={}", self.engine),
            Dialect::Postgres if name != HISTORY => " WITH (fillfactor = 100)".to_owned(),
            Dialect::Postgres | Dialect::Sqlite => String::new(),
        };
        format!("CREATE TABLE {name} ({columns}{key}){suffix}")
    }
}
