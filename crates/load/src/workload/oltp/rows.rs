//! The rows of tables `sbtest1` to `sbtestN`.

use crate::driver::{Admin, Args, Fault};
use crate::workload::digits::{push_c, push_pad};
use crate::workload::distribution::{Distribution, Law};
use crate::workload::generator::generator;
use crate::workload::tables::Progress;

/// The options of the rows.
#[derive(Debug, Clone, Copy)]
pub struct OltpRows {
    pub rows: u64,
    /// Distribution of column `k`, as in sysbench: it decides which part of the index updates hit.
    pub distribution: Law,
    pub seed: u64,
}

impl OltpRows {
    /// Fills the table of this number; returns the rows loaded.
    pub fn load(
        &self,
        number: u64,
        name: &str,
        columns: &[&str],
        admin: &mut dyn Admin,
        progress: &Progress,
    ) -> Result<u64, Fault> {
        let mut rows = Rows::new(number, self);
        admin.load(name, columns, &mut |args: &mut Args| {
            progress.row(rows.row, self.rows);
            rows.next(args)
        })
    }
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
    fn new(number: u64, tables: &OltpRows) -> Self {
        Self {
            table: number,
            seed: tables.seed,
            keys: Distribution::new(tables.distribution, tables.rows.max(1)),
            row: 0,
            last: tables.rows,
        }
    }

    /// Fills the next row's columns; false after the last.
    fn next(&mut self, args: &mut Args) -> bool {
        if self.row == self.last {
            return false;
        }
        self.row += 1;
        let mut rng = generator(self.seed, [self.table, self.row]);
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
    use crate::workload::distribution::Choice;

    fn tables() -> OltpRows {
        OltpRows {
            rows: 500,
            distribution: Choice::Special.into(),
            seed: 42,
        }
    }

    fn rows(number: u64, tables: &OltpRows) -> Vec<(Arg, Arg, Vec<u8>)> {
        let mut rows = Rows::new(number, tables);
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
        let first = rows(1, &tables());
        assert_eq!(first.len(), 500);
        assert_eq!(first, rows(1, &tables()));
        let longer = OltpRows {
            rows: 600,
            ..tables()
        };
        let texts =
            |rows: &[(Arg, Arg, Vec<u8>)]| rows.iter().map(|row| row.2.clone()).collect::<Vec<_>>();
        assert_ne!(texts(&first), texts(&rows(2, &tables())));
        let other_seed = OltpRows {
            seed: 43,
            ..tables()
        };
        assert_ne!(texts(&first), texts(&rows(1, &other_seed)));
        let distinct: std::collections::BTreeSet<_> =
            texts(&rows(1, &longer)).into_iter().collect();
        assert_eq!(distinct.len(), 600, "no row repeats another");
    }
}
