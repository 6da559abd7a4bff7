//! The statements of one turn of a loop, and the rows that they must return.

use std::fmt::Arguments;
use std::io::Write;
use std::ops::Range;

/// Rows that all statements together must return.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Expected {
    /// Rows that the server sends.
    pub rows: u64,
    /// Rows that the server changes.
    pub affected: u64,
}

impl std::iter::Sum for Expected {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::default(), |sum, one| Self {
            rows: sum.rows + one.rows,
            affected: sum.affected + one.affected,
        })
    }
}

/// A statement or a new connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Text, which lies in the buffer.
    Sql(Range<usize>),
    /// Text that only begins, ends or prepares something.
    Aside(Range<usize>),
    /// The operation's prepared statement with these arguments.
    Prepared(i64),
    Reconnect,
}

/// The steps of one turn, in a buffer that is used again for the next.
#[derive(Debug, Default)]
pub struct Steps {
    list: Vec<Step>,
    text: Vec<u8>,
    expected: Expected,
}

impl Steps {
    /// A query that must return that many rows.
    pub fn ask(&mut self, rows: u64, sql: Arguments) {
        self.expected.rows += rows;
        self.push(sql, Step::Sql);
    }

    /// A statement that must change that many rows.
    pub fn change(&mut self, affected: u64, sql: Arguments) {
        self.expected.affected += affected;
        self.push(sql, Step::Sql);
    }

    /// A statement that neither sends nor changes rows, such as CREATE TABLE.
    pub fn tell(&mut self, sql: &str) {
        self.push(format_args!("{sql}"), Step::Sql);
    }

    /// Statements around the operation's own ones (BEGIN, COMMIT, PREPARE), counted separately.
    pub fn aside(&mut self, sql: &str) {
        self.push(format_args!("{sql}"), Step::Aside);
    }

    /// The operation's prepared statement, which must return that many rows.
    pub fn execute(&mut self, rows: u64, argument: i64) {
        self.expected.rows += rows;
        self.list.push(Step::Prepared(argument));
    }

    /// Leaves the server and comes again.
    pub fn reconnect(&mut self) {
        self.list.push(Step::Reconnect);
    }

    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.text.clear();
        self.expected = Expected::default();
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Step> {
        self.list.iter()
    }

    pub(super) fn get(&self, position: usize) -> Option<&Step> {
        self.list.get(position)
    }

    /// A statement of the operation's own.
    pub(super) fn example(&self) -> Option<String> {
        self.list.iter().find_map(|step| match step {
            Step::Sql(range) => Some(String::from_utf8_lossy(self.text(range)).into_owned()),
            _ => None,
        })
    }

    #[cfg(test)]
    pub(super) fn texts(&self) -> Vec<String> {
        let texts = self.list.iter().filter_map(|step| match step {
            Step::Sql(range) | Step::Aside(range) => {
                Some(String::from_utf8_lossy(self.text(range)).into_owned())
            }
            Step::Prepared(_) | Step::Reconnect => None,
        });
        texts.collect()
    }

    pub(super) fn text(&self, range: &Range<usize>) -> &[u8] {
        &self.text[range.clone()]
    }

    pub(super) fn expected(&self) -> Expected {
        self.expected
    }

    fn push(&mut self, sql: Arguments, step: fn(Range<usize>) -> Step) {
        let start = self.text.len();
        // Writing to memory cannot fail.
        let _ = self.text.write_fmt(sql);
        self.list.push(step(start..self.text.len()));
    }
}
