//! The mixes: which statements make one transaction, in which order.

use super::statements::Query;
use crate::driver::Protocol;

/// sysbench's OLTP scripts by the names of what they do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Mix {
    /// The legacy oltp.lua: 20 statements on one table, unsigned ids, text protocol
    Complex,
    /// BEGIN, 10 point and 4 range SELECTs, COMMIT
    ReadOnly,
    /// The 20 statements of complex, a table drawn for each group of statements
    ReadWrite,
    /// BEGIN, 2 UPDATEs, DELETE and INSERT of one row, COMMIT
    WriteOnly,
    /// One SELECT by primary key
    PointSelect,
    /// One UPDATE of the indexed column
    UpdateIndex,
    /// One UPDATE of a column without index
    UpdateNonIndex,
    /// One INSERT
    Insert,
    /// One DELETE by primary key
    Delete,
}

/// What a step of a transaction draws anew before its statement; the rest is kept from before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) query: Query,
    pub(super) new_table: bool,
    pub(super) new_id: bool,
}

/// A group of statements in a transaction: the query, how often it is sent, and whether each
/// execution draws an id of its own.
type Group = (Query, usize);

const READS: [Group; 5] = [
    (Query::PointSelect, 10),
    (Query::SimpleRange, 1),
    (Query::SumRange, 1),
    (Query::OrderRange, 1),
    (Query::DistinctRange, 1),
];
const WRITES: [Group; 4] = [
    (Query::IndexUpdate, 1),
    (Query::NonIndexUpdate, 1),
    (Query::Delete, 1),
    (Query::Insert, 1),
];

impl Mix {
    /// The name as it is written on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Complex => "complex",
            Self::ReadOnly => "read-only",
            Self::ReadWrite => "read-write",
            Self::WriteOnly => "write-only",
            Self::PointSelect => "point-select",
            Self::UpdateIndex => "update-index",
            Self::UpdateNonIndex => "update-non-index",
            Self::Insert => "insert",
            Self::Delete => "delete",
        }
    }

    /// How sysbench's own script of this mix sends its parameters.
    #[must_use]
    pub fn default_protocol(self) -> Protocol {
        match self {
            Self::Complex | Self::Insert => Protocol::Text,
            _ => Protocol::Prepared,
        }
    }

    /// Legacy tables have unsigned numbers (where the database has such a type).
    pub(super) fn unsigned(self) -> bool {
        self == Self::Complex
    }

    /// Whether the transaction is more than one statement, and so has a BEGIN and a COMMIT.
    fn is_transaction(self) -> bool {
        matches!(
            self,
            Self::Complex | Self::ReadOnly | Self::ReadWrite | Self::WriteOnly
        )
    }

    fn groups(self) -> Vec<Group> {
        match self {
            Self::Complex | Self::ReadWrite => [&READS[..], &WRITES].concat(),
            Self::ReadOnly => READS.to_vec(),
            Self::WriteOnly => WRITES.to_vec(),
            Self::PointSelect => vec![(Query::PointSelect, 1)],
            Self::UpdateIndex => vec![(Query::IndexUpdate, 1)],
            Self::UpdateNonIndex => vec![(Query::NonIndexUpdate, 1)],
            Self::Insert => vec![(Query::AppendedInsert, 1)],
            Self::Delete => vec![(Query::Delete, 1)],
        }
    }

    /// The steps of one transaction; without its brackets where `skip_trx` asks for autocommit.
    pub(super) fn steps(self, skip_trx: bool) -> Vec<Step> {
        let bracket = |query| Step {
            query,
            new_table: false,
            new_id: false,
        };
        let bracketed = self.is_transaction() && !skip_trx;
        let mut steps = Vec::new();
        if bracketed {
            steps.push(bracket(Query::Begin));
        }
        let mut first = true;
        for (query, times) in self.groups() {
            // DELETE and INSERT are one group: the row that was deleted is put back.
            let puts_back = query == Query::Insert;
            for execution in 0..times {
                let group_begins = execution == 0 && !puts_back;
                steps.push(Step {
                    query,
                    new_table: first || (group_begins && self != Self::Complex),
                    new_id: !puts_back,
                });
                first = false;
            }
        }
        if bracketed {
            steps.push(bracket(Query::Commit));
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Kind;

    fn count(mix: Mix, kind: Kind) -> usize {
        let steps = mix.steps(false);
        steps
            .iter()
            .filter(|step| step.query.kind() == kind)
            .count()
    }

    #[test]
    fn counts_are_the_published_ones() {
        for (mix, reads, writes, others) in [
            (Mix::Complex, 14, 4, 2),
            (Mix::ReadWrite, 14, 4, 2),
            (Mix::ReadOnly, 14, 0, 2),
            (Mix::WriteOnly, 0, 4, 2),
            (Mix::PointSelect, 1, 0, 0),
            (Mix::UpdateIndex, 0, 1, 0),
            (Mix::UpdateNonIndex, 0, 1, 0),
            (Mix::Insert, 0, 1, 0),
            (Mix::Delete, 0, 1, 0),
        ] {
            let counted = [Kind::Read, Kind::Write, Kind::Other].map(|kind| count(mix, kind));
            assert_eq!(counted, [reads, writes, others], "{}", mix.name());
        }
    }

    #[test]
    fn order_is_the_published_one() {
        let mut order: Vec<Query> = Mix::Complex
            .steps(false)
            .iter()
            .map(|step| step.query)
            .collect();
        order.dedup();
        assert_eq!(
            order,
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
        let tables = |mix: Mix| {
            mix.steps(false)
                .iter()
                .filter(|step| step.new_table)
                .count()
        };
        assert_eq!(tables(Mix::Complex), 1);
        // Five groups of reads, two updates, and DELETE with INSERT.
        assert_eq!(tables(Mix::ReadWrite), 8);
    }

    #[test]
    fn an_insert_puts_the_deleted_row_back() {
        let steps = Mix::WriteOnly.steps(true);
        assert_eq!(steps.len(), 4, "no BEGIN and no COMMIT");
        let insert = steps.last().unwrap();
        assert_eq!(insert.query, Query::Insert);
        assert!(!insert.new_table && !insert.new_id);
    }
}
