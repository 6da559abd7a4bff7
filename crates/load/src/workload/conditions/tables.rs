//! The tables `conditions1` to `conditionsN`.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::History;
use crate::driver::{Admin, Args, Dialect, Fault};
use crate::workload::digits::push_letters;
use crate::workload::tables::{Progress, TableSet, load};

/// The options of the tables.
#[derive(Debug, Clone)]
pub struct ConditionsTables {
    pub tables: usize,
    pub history: History,
    /// 1 to 60,000: what a row of the MySQL family can hold.
    pub payload_bytes: usize,
    /// Seed of the payloads; the times are the same in every data set.
    pub seed: u64,
    /// MySQL family only: `innodb`, `myisam`, …
    pub engine: String,
}

const COLUMNS: [&str; 7] = [
    "dataID",
    "entryTime",
    "elementID",
    "beginTime",
    "flavor",
    "deactive",
    "payload",
];

/// The first column of each table's index, by which all questions are answered.
pub const INDEXED_COLUMN: &str = "beginTime";

#[must_use]
pub fn table_name(number: usize) -> String {
    format!("conditions{number}")
}

impl TableSet for ConditionsTables {
    fn workload(&self) -> &'static str {
        "conditions"
    }

    fn count(&self) -> usize {
        self.tables
    }

    fn rows(&self, _number: usize) -> u64 {
        self.history.rows()
    }

    fn name(&self, number: usize) -> String {
        table_name(number)
    }

    fn build(
        &self,
        admin: &mut dyn Admin,
        dialect: Dialect,
        number: usize,
        progress: &Progress,
    ) -> Result<u64, Fault> {
        let name = table_name(number);
        admin.execute(&self.definition(&name, dialect))?;
        let loaded = self.load(admin, number, progress)?;
        if dialect == Dialect::Postgres {
            // Ids were given, not drawn from the sequence: it must go on after them.
            admin.query_value(&format!(
                "SELECT setval(pg_get_serial_sequence('{name}', 'dataid'), {})",
                self.history.rows()
            ))?;
        }
        // Time comes first: from the time that is asked for, a question goes back or on to the first
        // entry that stands for its element. With the element first, MariaDB reads every entry of
        // the element on one side of that time, by equality alone, and throws them away.
        admin.execute(&format!(
            "CREATE INDEX validity_{number} ON {name} ({INDEXED_COLUMN}, elementID, flavor)"
        ))?;
        Ok(loaded)
    }
}

impl ConditionsTables {
    fn load(
        &self,
        admin: &mut dyn Admin,
        number: usize,
        progress: &Progress,
    ) -> Result<u64, Fault> {
        let place = (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed.wrapping_add(place));
        let fill = |data_id: u64, args: &mut Args| {
            let entry = self.history.entry(number, data_id);
            args.push_int(entry.data_id.cast_signed());
            args.push_int(entry.entered_s.into());
            args.push_int(entry.element.cast_signed());
            args.push_int(entry.begin_s.into());
            args.push_text(|out| out.extend_from_slice(entry.flavor.as_bytes()));
            args.push_int(entry.deactive_s.into());
            args.push_text(|out| push_letters(self.payload_bytes, &mut rng, out));
        };
        let ids = 1..=self.history.rows();
        load(admin, &table_name(number), &COLUMNS, ids, progress, fill)
    }

    /// Times are whole seconds since 1970 in four bytes, as MySQL keeps a TIMESTAMP; so no client's
    /// or server's time zone has a say.
    fn definition(&self, name: &str, dialect: Dialect) -> String {
        let (id, letters, suffix) = match dialect {
            Dialect::Mysql => (
                "INTEGER NOT NULL AUTO_INCREMENT",
                // One byte a character, or a long payload would pass the limit of a row.
                " CHARACTER SET latin1",
                format!(" ENGINE={}", self.engine),
            ),
            Dialect::Postgres => ("SERIAL", "", String::new()),
            Dialect::Sqlite => ("INTEGER NOT NULL", "", String::new()),
        };
        format!(
            "CREATE TABLE {name} (\
               dataID {id}, \
               entryTime INTEGER NOT NULL, \
               elementID SMALLINT NOT NULL, \
               beginTime INTEGER NOT NULL, \
               flavor VARCHAR(16){letters} NOT NULL, \
               deactive INTEGER DEFAULT 0 NOT NULL, \
               payload VARCHAR({}){letters} NOT NULL, \
               PRIMARY KEY (dataID)\
             ){suffix}",
            self.payload_bytes
        )
    }
}
