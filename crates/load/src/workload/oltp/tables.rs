//! The tables `sbtest1` to `sbtestN`: made, filled with the same rows each time, dropped.

use std::sync::atomic::{AtomicU64, Ordering};

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::Mix;
use crate::driver::{Admin, Args, Dialect, Fault};
use crate::workload::digits::{push_c, push_pad};
use crate::workload::distribution::{Choice, Distribution};

/// What a table is made from.
#[derive(Debug, Clone)]
pub struct TableOptions {
    pub mix: Mix,
    pub rows: u64,
    /// Of column `k`, as in sysbench: it decides where updates of the index fall.
    pub distribution: Choice,
    pub seed: u64,
    /// MySQL family only: `innodb`, `myisam`, …
    pub engine: String,
}

/// Progress is raised by so many rows at a time: a shared counter costs more than a row.
const PROGRESS_ROWS: u64 = 1000;
const COLUMNS: [&str; 4] = ["id", "k", "c", "pad"];

#[must_use]
pub fn table_name(number: usize) -> String {
    format!("sbtest{number}")
}

/// Whether the table is there already; an empty table counts.
pub fn exists(admin: &mut dyn Admin, dialect: Dialect, number: usize) -> Result<bool, Fault> {
    let name = table_name(number);
    let sql = match dialect {
        Dialect::Mysql => format!(
            "SELECT COUNT(*) FROM information_schema.tables \
             WHERE table_schema = DATABASE() AND table_name = '{name}'"
        ),
        Dialect::Postgres => format!("SELECT COUNT(to_regclass('{name}'))"),
        Dialect::Sqlite => {
            format!("SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = '{name}'")
        }
    };
    let count = admin.query_value(&sql)?;
    Ok(count.is_some_and(|count| count != "0"))
}

/// The highest id in the table; `None`: the table is empty.
pub fn highest_id(admin: &mut dyn Admin, number: usize) -> Result<Option<u64>, Fault> {
    let value = admin.query_value(&format!("SELECT MAX(id) FROM {}", table_name(number)))?;
    Ok(value.and_then(|id| id.parse().ok()))
}

/// Makes one table, fills it and then builds its secondary index `k_N`; returns the rows loaded.
/// `progress` is raised as rows are handed over.
pub fn build(
    admin: &mut dyn Admin,
    dialect: Dialect,
    number: usize,
    options: &TableOptions,
    progress: &AtomicU64,
) -> Result<u64, Fault> {
    let name = table_name(number);
    admin.execute(&definition(&name, dialect, options))?;
    let mut rows = Rows::new(number, options);
    let loaded = admin.load(&name, &COLUMNS, &mut |args| {
        if rows.row.is_multiple_of(PROGRESS_ROWS) {
            progress.fetch_add(
                PROGRESS_ROWS.min(options.rows - rows.row),
                Ordering::Relaxed,
            );
        }
        rows.next(args)
    })?;
    if dialect == Dialect::Postgres {
        // Ids were given, not drawn from the sequence: it must go on after them.
        admin.query_value(&format!(
            "SELECT setval(pg_get_serial_sequence('{name}', 'id'), {})",
            options.rows
        ))?;
    }
    admin.execute(&format!("CREATE INDEX k_{number} ON {name}(k)"))?;
    admin.settle(&name)?;
    Ok(loaded)
}

pub fn drop(admin: &mut dyn Admin, number: usize) -> Result<(), Fault> {
    admin.execute(&format!("DROP TABLE IF EXISTS {}", table_name(number)))?;
    Ok(())
}

fn definition(name: &str, dialect: Dialect, options: &TableOptions) -> String {
    let sign = if options.mix.unsigned() {
        " UNSIGNED"
    } else {
        ""
    };
    let (id, number, suffix) = match dialect {
        Dialect::Mysql => (
            format!("INTEGER{sign} NOT NULL AUTO_INCREMENT"),
            format!("INTEGER{sign}"),
            format!(" ENGINE={}", options.engine),
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

/// The rows of one table: a pure function of seed, table and row number.
struct Rows {
    table: u64,
    seed: u64,
    keys: Distribution,
    row: u64,
    last: u64,
}

impl Rows {
    fn new(number: usize, options: &TableOptions) -> Self {
        Self {
            table: number as u64,
            seed: options.seed,
            keys: Distribution::new(options.distribution, options.rows.max(1)),
            row: 0,
            last: options.rows,
        }
    }

    /// Fills the next row's columns; false after the last.
    fn next(&mut self, args: &mut Args) -> bool {
        if self.row == self.last {
            return false;
        }
        self.row += 1;
        // Weyl constants keep the three apart; the generator's own seeding mixes them well.
        let place = self.table.wrapping_mul(0x9E37_79B9_7F4A_7C15)
            ^ self.row.wrapping_mul(0xD1B5_4A32_D192_ED03);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed.wrapping_add(place));
        args.clear();
        args.push_int(self.row.cast_signed());
        args.push_int(self.keys.draw(&mut rng).cast_signed());
        args.push_text(|out| push_c(&mut rng, out));
        args.push_text(|out| push_pad(&mut rng, out));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Arg;

    fn options() -> TableOptions {
        TableOptions {
            mix: Mix::Complex,
            rows: 500,
            distribution: Choice::Special,
            seed: 42,
            engine: "innodb".into(),
        }
    }

    fn rows(number: usize, options: &TableOptions) -> Vec<(Arg, Arg, Vec<u8>)> {
        let mut rows = Rows::new(number, options);
        let mut args = Args::default();
        let mut all = Vec::new();
        while rows.next(&mut args) {
            let [id, k, Arg::Text(c), Arg::Text(pad)] = args.values() else {
                panic!("{args:?}")
            };
            assert_eq!((c.len(), pad.len()), (119, 59));
            all.push((id.clone(), k.clone(), args.text(c).to_vec()));
        }
        all
    }

    #[test]
    fn rows_depend_on_seed_table_and_number_alone() {
        let first = rows(1, &options());
        assert_eq!(first.len(), 500);
        assert_eq!(first, rows(1, &options()));
        let longer = TableOptions {
            rows: 600,
            ..options()
        };
        let texts =
            |rows: &[(Arg, Arg, Vec<u8>)]| rows.iter().map(|row| row.2.clone()).collect::<Vec<_>>();
        assert_ne!(texts(&first), texts(&rows(2, &options())));
        assert_ne!(
            texts(&first),
            texts(&rows(
                1,
                &TableOptions {
                    seed: 43,
                    ..options()
                }
            ))
        );
        let distinct: std::collections::BTreeSet<_> =
            texts(&rows(1, &longer)).into_iter().collect();
        assert_eq!(distinct.len(), 600, "no row repeats another");
    }

    #[test]
    fn definitions_follow_the_family() {
        let mysql = definition("sbtest1", Dialect::Mysql, &options());
        assert!(
            mysql.contains("id INTEGER UNSIGNED NOT NULL AUTO_INCREMENT"),
            "{mysql}"
        );
        assert!(mysql.ends_with("ENGINE=innodb"), "{mysql}");
        let signed = TableOptions {
            mix: Mix::ReadWrite,
            ..options()
        };
        assert!(!definition("sbtest1", Dialect::Mysql, &signed).contains("UNSIGNED"));
        assert!(definition("sbtest1", Dialect::Postgres, &options()).contains("id SERIAL"));
        assert!(!definition("sbtest1", Dialect::Sqlite, &options()).contains("ENGINE"));
    }
}
