//! The statements that a client prepares on its connection.

use std::collections::HashMap;

/// What all connections may prepare together: MySQL has at most 16,382 statements, and we and the driver keep each text.
const MOST: usize = 16_000;
const MOST_BYTES: usize = 128 << 20;

#[derive(Default)]
pub(super) struct Prepared {
    /// Their numbers on the connection; `None`: not yet, or the server has refused it.
    pub(super) numbers: HashMap<Vec<u8>, Option<usize>>,
    /// Those that are to be prepared, the next one last.
    pub(super) waiting: Vec<Vec<u8>>,
    /// How many the connection has made, and the bytes of all that it asked for, with those that are gone.
    made: usize,
    bytes: usize,
}

impl Prepared {
    pub(super) fn number(&self, sql: &[u8]) -> Option<usize> {
        *self.numbers.get(sql)?
    }

    /// Takes up a statement that is to be prepared, unless one of so many connections has enough; one that it has is
    /// prepared anew in the place of the earlier one.
    pub(super) fn ask(&mut self, sql: &[u8], connections: usize, is_fresh: bool) {
        // Few of them have no more each than these many.
        let connections = connections.max(32);
        let has_room = self.made + self.waiting.len() < MOST / connections
            && self.bytes + sql.len() <= MOST_BYTES / connections;
        if has_room && !self.numbers.contains_key(sql) {
            self.bytes += sql.len();
            self.numbers.insert(sql.to_vec(), None);
            self.waiting.push(sql.to_vec());
        } else if is_fresh && self.number(sql).is_some() {
            self.waiting.push(sql.to_vec());
        }
    }

    pub(super) fn conclude(&mut self, is_done: bool) {
        if let Some(sql) = self.waiting.pop() {
            let known = self.number(&sql);
            if known.is_some() && !is_done {
                // Perhaps the transaction had failed: the next execution asks again.
                self.numbers.remove(&sql);
                return;
            }
            let number = known.unwrap_or(self.made);
            self.made += usize::from(is_done && known.is_none());
            self.numbers.insert(sql, is_done.then_some(number));
        }
    }

    /// The connection is lost; the preparation under way may be why.
    pub(super) fn lose(&mut self, is_preparing: bool) {
        let refused = self.waiting.pop().filter(|_| is_preparing);
        *self = Self::default();
        self.numbers.extend(refused.map(|sql| (sql, None)));
    }
}
