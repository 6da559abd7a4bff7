//! sysbench's tables: made, filled with the same rows each time, looked at.

use crate::driver::{Admin, Args, Dialect, Fault};
use crate::workload::digits::Filling;
use crate::workload::distribution::Law;
use crate::workload::tables::Progress;

mod rows;

use super::Schema;
use rows::Rows;

/// The options of the tables.
#[derive(Debug, Clone)]
pub struct OltpTables {
    pub schema: Schema,
    pub rows: u64,
    /// Whether the numbers are unsigned, as before sysbench 1.0 (MySQL family only).
    pub unsigned: bool,
    /// Distribution of column `k`, as in sysbench: it decides which part of the index updates hit.
    pub distribution: Law,
    pub seed: u64,
    /// MySQL family only: `innodb`, `myisam`, …
    pub engine: String,
    pub filling: Filling,
}

const COLUMNS: [&str; 4] = ["id", "k", "c", "pad"];

impl OltpTables {
    /// Makes one table with its index; returns the rows loaded.
    pub fn build(
        &self,
        admin: &mut dyn Admin,
        dialect: Dialect,
        number: usize,
        progress: &Progress,
    ) -> Result<u64, Fault> {
        let name = self.schema.table_name(number);
        admin.execute(&self.definition(&name, dialect))?;
        let index = format!(
            "CREATE INDEX {} ON {name}(k)",
            self.schema.index_name(number)
        );
        match self.schema {
            Schema::Numbered => {
                let loaded = self.load(admin, number, progress)?;
                if dialect == Dialect::Postgres {
                    // Ids were given, not drawn from the sequence: it must go on after them.
                    admin.query_value(&format!(
                        "SELECT setval(pg_get_serial_sequence('{name}', 'id'), {})",
                        self.rows
                    ))?;
                }
                admin.execute(&index)?;
                Ok(loaded)
            }
            Schema::Single => {
                admin.execute(&index)?;
                self.insert_alike(admin, &name, progress)
            }
        }
    }

    fn load(
        &self,
        admin: &mut dyn Admin,
        number: usize,
        progress: &Progress,
    ) -> Result<u64, Fault> {
        let mut rows = Rows::new(number, self);
        admin.load(
            &self.schema.table_name(number),
            &COLUMNS,
            &mut |args: &mut Args| {
                progress.row(rows.done(), self.rows);
                rows.next(args)
            },
        )
    }

    /// sysbench 0.4's rows differ by the ids alone, which the database chooses. An INSERT of 10,000
    /// of them is 620 kB, less than any server's limit.
    fn insert_alike(
        &self,
        admin: &mut dyn Admin,
        name: &str,
        progress: &Progress,
    ) -> Result<u64, Fault> {
        const ROWS_PER_INSERT: u64 = 10_000;
        const ROW: &str = "(0,' ','qqqqqqqqqqwwwwwwwwwweeeeeeeeeerrrrrrrrrrtttttttttt')";
        let mut loaded = 0;
        let mut left = self.rows;
        while left > 0 {
            let rows = left.min(ROWS_PER_INSERT);
            let values: Vec<&str> = (0..rows).map(|_| ROW).collect();
            let insert = format!("INSERT INTO {name}(k, c, pad) VALUES{}", values.join(","));
            loaded += admin.execute(&insert)?.affected;
            progress.add(rows);
            left -= rows;
        }
        Ok(loaded)
    }

    fn definition(&self, name: &str, dialect: Dialect) -> String {
        let sign = if self.unsigned { " UNSIGNED" } else { "" };
        let (id, number, suffix) = match dialect {
            Dialect::Mysql => (
                format!("INTEGER{sign} NOT NULL AUTO_INCREMENT"),
                format!("INTEGER{sign}"),
                format!(" ENGINE={}", self.engine),
            ),
            Dialect::Postgres => ("SERIAL".to_owned(), "INTEGER".to_owned(), String::new()),
            Dialect::Sqlite => (
                "INTEGER NOT NULL".to_owned(),
                "INTEGER".to_owned(),
                String::new(),
            ),
        };
        format!(
            "CREATE TABLE {name} (\
               id {id}, \
               k {number} DEFAULT '0' NOT NULL, \
               c CHAR(120) DEFAULT '' NOT NULL, \
               pad CHAR(60) DEFAULT '' NOT NULL, \
               PRIMARY KEY (id)\
             ){suffix}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::distribution::Choice;

    #[test]
    fn definitions_follow_the_family() {
        let legacy = OltpTables {
            schema: Schema::Numbered,
            rows: 500,
            unsigned: true,
            distribution: Choice::Special.into(),
            seed: 42,
            engine: "innodb".into(),
            filling: Filling::RANDOM,
        };
        let mysql = legacy.definition("sbtest1", Dialect::Mysql);
        assert!(
            mysql.contains("id INTEGER UNSIGNED NOT NULL AUTO_INCREMENT"),
            "{mysql}"
        );
        assert!(mysql.ends_with("ENGINE=innodb"), "{mysql}");
        assert!(
            legacy
                .definition("sbtest1", Dialect::Postgres)
                .contains("id SERIAL")
        );
        let sqlite = legacy.definition("sbtest1", Dialect::Sqlite);
        assert!(!sqlite.contains("ENGINE"), "{sqlite}");
        let signed = OltpTables {
            unsigned: false,
            ..legacy
        };
        assert!(
            !signed
                .definition("sbtest1", Dialect::Mysql)
                .contains("UNSIGNED")
        );
    }
}
