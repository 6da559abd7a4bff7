//! One client of the OLTP workload: draws tables, rows and strings, step by step.

use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::mix::Step;
use super::statements::Query;
use crate::driver::{Args, StatementId};
use crate::workload::digits::{push_c, push_pad};
use crate::workload::distribution::Distribution;
use crate::workload::{Next, Script};

/// Rows that a range SELECT asks for: id to id + 99, sysbench's `--range_size`.
const RANGE_ROWS: u64 = 100;

/// A step with the catalogue's id of its statement on the first table.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlannedStep {
    pub(super) step: Step,
    pub(super) first_statement: StatementId,
}

/// A client's draws.
#[derive(Debug)]
pub struct OltpScript {
    plan: Arc<[PlannedStep]>,
    position: usize,
    tables: usize,
    rows: Distribution,
    rng: Xoshiro256PlusPlus,
    table: usize,
    id: u64,
}

impl OltpScript {
    pub(super) fn new(
        plan: Arc<[PlannedStep]>,
        tables: usize,
        rows: Distribution,
        seed: u64,
        client: usize,
    ) -> Self {
        // A Weyl step for each client; the generator's own seeding spreads it over 256 bits.
        let place = (client as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let rng = Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_add(place));
        Self {
            position: plan.len(),
            plan,
            tables,
            rows,
            rng,
            table: 0,
            id: 0,
        }
    }

    fn push_args(&mut self, query: Query, args: &mut Args) {
        let rng = &mut self.rng;
        match query {
            Query::Begin | Query::Commit => {}
            Query::PointSelect | Query::IndexUpdate | Query::Delete => push_row(self.id, args),
            Query::SimpleRange | Query::SumRange | Query::OrderRange | Query::DistinctRange => {
                push_row(self.id, args);
                push_row(self.id + RANGE_ROWS - 1, args);
            }
            Query::NonIndexUpdate => {
                args.push_text(|out| push_c(rng, out));
                push_row(self.id, args);
            }
            Query::Insert | Query::AppendedInsert => {
                if query == Query::Insert {
                    push_row(self.id, args);
                }
                push_row(self.rows.draw(rng), args);
                args.push_text(|out| push_c(rng, out));
                args.push_text(|out| push_pad(rng, out));
            }
        }
    }
}

impl Script for OltpScript {
    fn begin(&mut self) -> bool {
        self.position = 0;
        true
    }

    fn next(&mut self, args: &mut Args) -> Option<Next> {
        let PlannedStep {
            step,
            first_statement,
        } = *self.plan.get(self.position)?;
        self.position += 1;
        if step.new_table {
            self.table = self.rng.random_range(0..self.tables);
        }
        if step.new_id {
            self.id = self.rows.draw(&mut self.rng);
        }
        args.clear();
        self.push_args(step.query, args);
        let on_table = !matches!(step.query, Query::Begin | Query::Commit);
        let table = if on_table { self.table } else { 0 };
        Some(Next::Statement(first_statement + table))
    }
}

fn push_row(row: u64, args: &mut Args) {
    // Rows are counted by an integer column of the tables, far below the limit of i64.
    args.push_int(row.cast_signed());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::{Arg, Dialect};
    use crate::workload::Workload;
    use crate::workload::distribution::Choice;
    use crate::workload::oltp::{Mix, Oltp, OltpOptions};

    fn oltp(mix: Mix) -> Oltp {
        Oltp::new(
            OltpOptions {
                mix,
                tables: 4,
                rows: 1000,
                distribution: Choice::Uniform,
                skip_trx: false,
                seed: 11,
            },
            Dialect::Mysql,
        )
    }

    fn transaction(workload: &Oltp, script: &mut OltpScript) -> Vec<(String, Vec<Arg>)> {
        let mut args = Args::default();
        let mut statements = Vec::new();
        script.begin();
        while let Some(Next::Statement(id)) = script.next(&mut args) {
            let sql = workload.catalogue().statements()[id].sql.clone();
            statements.push((sql, args.values().to_vec()));
        }
        statements
    }

    #[test]
    fn complex_keeps_to_one_table() {
        let workload = oltp(Mix::Complex);
        let mut script = workload.script(0);
        let mut tables_seen = std::collections::BTreeSet::new();
        for _ in 0..50 {
            let statements = transaction(&workload, &mut script);
            assert_eq!(statements.len(), 20);
            let table = |sql: &str| {
                sql.split_whitespace()
                    .find(|word| word.starts_with("sbtest"))
                    .map(str::to_owned)
            };
            let tables: std::collections::BTreeSet<_> = statements
                .iter()
                .filter_map(|(sql, _)| table(sql))
                .collect();
            assert_eq!(tables.len(), 1, "{tables:?}");
            tables_seen.extend(tables);
        }
        assert_eq!(tables_seen.len(), 4, "and draws every table in time");
    }

    #[test]
    fn ranges_span_100_ids_and_the_deleted_row_returns() {
        let workload = oltp(Mix::ReadWrite);
        let statements = transaction(&workload, &mut workload.script(3));
        for (sql, args) in &statements[11..15] {
            assert!(sql.contains("BETWEEN"), "{sql}");
            let [Arg::Int(from), Arg::Int(to)] = args[..] else {
                panic!("{args:?}")
            };
            assert_eq!(to - from, 99);
        }
        let (delete, insert) = (&statements[17], &statements[18]);
        assert!(delete.0.starts_with("DELETE") && insert.0.starts_with("INSERT"));
        assert_eq!(delete.1[0], insert.1[0]);
        assert!(
            insert
                .0
                .contains(delete.0.split_whitespace().nth(2).unwrap()),
            "the same table"
        );
        assert_eq!(insert.1.len(), 4);
    }

    #[test]
    fn clients_differ_and_repeat_themselves() {
        let workload = oltp(Mix::PointSelect);
        let first = |client| transaction(&workload, &mut workload.script(client));
        assert_eq!(first(0), first(0));
        assert_ne!(first(0), first(1));
    }
}
