//! One client: through the list from its beginning, again and again, until its share is done.

use std::sync::Arc;

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::Plan;
use crate::driver::Args;
use crate::workload::generator::generator;
use crate::workload::{Next, Script};

/// A client's position in its transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Beginning,
    /// Before a statement of the list; it may have to leave and come again first.
    Arriving,
    Asking,
    Committing,
    /// After its last transaction, mysqlslap commits once more.
    CommittingAgain,
    Done,
}

/// A client's place and draws.
#[derive(Debug)]
pub struct SlapScript {
    plan: Arc<Plan>,
    keys: Arc<[String]>,
    rng: Xoshiro256PlusPlus,
    /// The transaction's first statement, counted over the client's whole share, and the start of
    /// the next one.
    first: u64,
    end: u64,
    at: u64,
    place: Place,
}

impl SlapScript {
    pub(super) fn new(plan: Arc<Plan>, keys: Arc<[String]>, iteration: u64, client: usize) -> Self {
        let rng = generator(plan.seed, [client as u64 + 1, iteration]);
        Self {
            plan,
            keys,
            rng,
            first: 0,
            end: 0,
            at: 0,
            place: Place::Done,
        }
    }

    fn restart(&mut self) {
        self.at = self.first;
        self.place = Place::Beginning;
    }

    /// Position in this pass through the list.
    fn place_in_list(&self) -> usize {
        let length = self.plan.list.len() as u64;
        usize::try_from(self.at % length).unwrap_or_default()
    }

    /// The next statement of the list.
    fn ask(&mut self, args: &mut Args) -> Next {
        let item = self.plan.list[self.place_in_list()];
        self.at += 1;
        if item.keyed {
            let key = &self.keys[self.rng.random_range(0..self.keys.len())];
            args.push_text(|out| out.extend_from_slice(key.as_bytes()));
        }
        Next::Statement(item.statement)
    }
}

impl Script for SlapScript {
    fn begin(&mut self) -> bool {
        self.first = self.end;
        self.end = (self.first + self.plan.transaction_queries()).min(self.plan.queries);
        self.restart();
        self.first < self.end
    }

    fn begin_again(&mut self) -> bool {
        self.restart();
        true
    }

    fn next(&mut self, args: &mut Args) -> Option<Next> {
        args.clear();
        loop {
            match self.place {
                Place::Beginning => {
                    self.place = Place::Arriving;
                    if let Some(begin) = self.plan.brackets.and_then(|brackets| brackets.begin) {
                        return Some(Next::Statement(begin));
                    }
                }
                Place::Arriving if self.at == self.end => self.place = Place::Committing,
                Place::Arriving => {
                    self.place = Place::Asking;
                    // Counted anew in every pass, as mysqlslap does.
                    let place = self.place_in_list() as u64;
                    let detach = self.plan.detach;
                    if let Some(detach) = detach.filter(|d| place.is_multiple_of(d.every)) {
                        let type_index = detach.type_index;
                        return Some(Next::Reconnect { type_index });
                    }
                }
                Place::Asking => {
                    self.place = Place::Arriving;
                    return Some(self.ask(args));
                }
                Place::Committing => {
                    let brackets = self.plan.brackets?;
                    let is_full = self.end - self.first == brackets.size;
                    let is_last = self.end == self.plan.queries;
                    self.place = if is_last && is_full && brackets.begin.is_none() {
                        Place::CommittingAgain
                    } else {
                        Place::Done
                    };
                    return Some(Next::Statement(brackets.commit));
                }
                Place::CommittingAgain => {
                    self.place = Place::Done;
                    return self.plan.brackets.map(|b| Next::Statement(b.commit));
                }
                Place::Done => return None,
            }
        }
    }
}
