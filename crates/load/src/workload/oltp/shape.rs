//! A transaction's shape: which statements make it, in which order.

use super::statements::Query;
use super::{Mix, OltpOptions, Schema};

/// The first and the last statement of a transaction; mixes of one statement need none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bracket {
    /// None: every statement commits itself.
    None,
    Transaction,
    /// LOCK TABLES and UNLOCK TABLES, for storage engines without transactions.
    Locks,
}

/// The values that a step draws before its statement; the others are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) query: Query,
    pub(super) new_table: bool,
    pub(super) new_id: bool,
}

/// Queries of a group that share one id, and how often they are sent, with an id of its own each
/// time.
type Group = (Vec<Query>, u32);

impl Mix {
    fn groups(self, shape: &OltpOptions) -> Vec<Group> {
        match self {
            Self::Insert => return vec![(vec![Query::AppendedInsert], 1)],
            Self::Delete => return vec![(vec![Query::Delete], 1)],
            _ => {}
        }
        let put_back = match shape.schema {
            Schema::Numbered => Query::Insert,
            Schema::Single => Query::FixedInsert,
        };
        let groups = [
            vec![Query::PointSelect],
            vec![Query::SimpleRange],
            vec![Query::SumRange],
            vec![Query::OrderRange],
            vec![Query::DistinctRange],
            vec![Query::IndexUpdate],
            vec![Query::NonIndexUpdate],
            vec![Query::Delete, put_back],
        ];
        groups.into_iter().zip(shape.counts).collect()
    }

    /// The steps of one transaction, with its brackets.
    pub(super) fn steps(self, shape: &OltpOptions) -> Vec<Step> {
        let mut steps = Vec::new();
        for (queries, times) in self.groups(shape) {
            for execution in 0..times {
                for (position, query) in queries.iter().enumerate() {
                    // The legacy script draws one table for the whole transaction.
                    let group_begins = execution == 0 && position == 0 && self != Self::Complex;
                    steps.push(Step {
                        query: *query,
                        new_table: steps.is_empty() || group_begins,
                        new_id: position == 0,
                    });
                }
            }
        }
        let ends = match shape.bracket {
            _ if !self.is_transaction() => None,
            Bracket::None => None,
            Bracket::Transaction => Some((Query::Begin, Query::Commit)),
            Bracket::Locks => Some((Query::Lock, Query::Unlock)),
        };
        if let Some((first, last)) = ends {
            let step = |query| Step {
                query,
                new_table: false,
                new_id: false,
            };
            steps.insert(0, step(first));
            steps.push(step(last));
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Kind;
    use crate::workload::distribution::Choice;

    fn shape(mix: Mix) -> OltpOptions {
        OltpOptions::new(mix, 1, 1, Choice::Uniform, 1)
    }

    fn counted(mix: Mix, shape: &OltpOptions) -> [usize; 3] {
        let steps = mix.steps(shape);
        [Kind::Read, Kind::Write, Kind::Other].map(|kind| {
            let of_kind = steps.iter().filter(|step| step.query.kind() == kind);
            of_kind.count()
        })
    }

    fn order(mix: Mix, shape: &OltpOptions) -> Vec<Query> {
        let mut order: Vec<Query> = mix.steps(shape).iter().map(|step| step.query).collect();
        order.dedup();
        order
    }

    #[test]
    fn counts_are_the_published_ones() {
        for (mix, counts) in [
            (Mix::Complex, [14, 4, 2]),
            (Mix::ReadWrite, [14, 4, 2]),
            (Mix::ReadOnly, [14, 0, 2]),
            (Mix::WriteOnly, [0, 4, 2]),
            (Mix::PointSelect, [1, 0, 0]),
            (Mix::UpdateIndex, [0, 1, 0]),
            (Mix::UpdateNonIndex, [0, 1, 0]),
            (Mix::Insert, [0, 1, 0]),
            (Mix::Delete, [0, 1, 0]),
        ] {
            assert_eq!(counted(mix, &shape(mix)), counts, "{mix:?}");
        }
    }

    #[test]
    fn order_is_the_published_one() {
        assert_eq!(
            order(Mix::Complex, &shape(Mix::Complex)),
            [
                Query::Begin,
                Query::PointSelect,
                Query::SimpleRange,
                Query::SumRange,
                Query::OrderRange,
                Query::DistinctRange,
                Query::IndexUpdate,
                Query::NonIndexUpdate,
                Query::Delete,
                Query::Insert,
                Query::Commit
            ]
        );
    }

    #[test]
    fn complex_draws_one_table_and_read_write_one_per_group() {
        let tables = |mix: Mix, shape: &OltpOptions| {
            let steps = mix.steps(shape);
            steps.iter().filter(|step| step.new_table).count()
        };
        assert_eq!(tables(Mix::Complex, &shape(Mix::Complex)), 1);
        // Five groups of reads, two updates, and DELETE with INSERT.
        assert_eq!(tables(Mix::ReadWrite, &shape(Mix::ReadWrite)), 8);
    }

    #[test]
    fn an_insert_puts_the_deleted_row_back() {
        let bare = OltpOptions {
            bracket: Bracket::None,
            ..shape(Mix::WriteOnly)
        };
        let steps = Mix::WriteOnly.steps(&bare);
        assert_eq!(steps.len(), 4, "no BEGIN and no COMMIT");
        let insert = steps.last().unwrap();
        assert_eq!(insert.query, Query::Insert);
        assert!(!insert.new_table && !insert.new_id);
    }

    #[test]
    fn counts_that_are_chosen_are_kept() {
        let mut counts = Mix::ReadWrite.counts();
        (counts[0], counts[2], counts[7]) = (0, 3, 2);
        let shape = OltpOptions {
            counts,
            ..shape(Mix::ReadWrite)
        };
        assert_eq!(counted(Mix::ReadWrite, &shape), [6, 6, 2]);
        let steps = Mix::ReadWrite.steps(&shape);
        assert_eq!(steps[0].query, Query::Begin);
        assert_eq!(
            (steps[1].query, steps[1].new_table),
            (Query::SimpleRange, true)
        );
        // The second pair keeps the table of the first and has an id of its own.
        let pair = &steps[steps.len() - 3];
        assert_eq!(pair.query, Query::Delete);
        assert!(!pair.new_table && pair.new_id);
    }

    #[test]
    fn tables_are_locked_where_there_are_no_transactions() {
        let locked = OltpOptions {
            bracket: Bracket::Locks,
            ..shape(Mix::Complex)
        };
        let order = order(Mix::Complex, &locked);
        assert_eq!(order.first(), Some(&Query::Lock));
        assert_eq!(order.last(), Some(&Query::Unlock));
        assert_eq!(counted(Mix::Complex, &locked), [14, 4, 2]);
        let single = OltpOptions {
            bracket: Bracket::Locks,
            ..shape(Mix::PointSelect)
        };
        assert_eq!(counted(Mix::PointSelect, &single), [1, 0, 0]);
    }
}
