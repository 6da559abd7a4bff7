//! Requests from outside that wait for their pieces.

use crate::ledger::Ledger;
use crate::request::{Kind, Nanos, Tag};
use crate::timing::Event;

/// Requests under way: each is answered with its last answer and stable with its last stability.
#[derive(Default)]
pub(in crate::timing) struct Wholes {
    ledger: Ledger<Whole>,
    answers_due: usize,
}

struct Whole {
    /// The caller's tag.
    tag: Tag,
    answers: u32,
    stables: u32,
    answered: bool,
    stable: bool,
}

impl Wholes {
    /// Takes a request; what it is to wait for is said with `await_answer` and `await_stable`.
    pub(in crate::timing) fn open(&mut self, tag: Tag, kind: Kind) -> Tag {
        self.answers_due += 1;
        self.ledger.insert(Whole {
            tag,
            answers: 0,
            stables: 0,
            answered: false,
            stable: !matches!(kind, Kind::Write | Kind::Discard),
        })
    }

    /// Requests that are not answered.
    pub(in crate::timing) fn answers_due(&self) -> usize {
        self.answers_due
    }

    /// Requests that are answered and stable are forgotten; whether none is left.
    #[cfg(test)]
    pub(in crate::timing) fn are_done(&self) -> bool {
        self.ledger.is_empty()
    }

    pub(in crate::timing) fn await_answer(&mut self, id: Tag) {
        self.whole(id).answers += 1;
    }

    pub(in crate::timing) fn await_stable(&mut self, id: Tag) {
        self.whole(id).stables += 1;
    }

    /// One answer less to wait for.
    pub(in crate::timing) fn answer(&mut self, id: Tag, at: Nanos, events: &mut Vec<Event>) {
        self.whole(id).answers -= 1;
        self.settle(id, at, events);
    }

    /// One stability less to wait for.
    pub(in crate::timing) fn stable(&mut self, id: Tag, at: Nanos, events: &mut Vec<Event>) {
        self.whole(id).stables -= 1;
        self.settle(id, at, events);
    }

    /// Returns the events of a request once all its pieces are named. Stability is reported before
    /// the answer.
    pub(in crate::timing) fn settle(&mut self, id: Tag, at: Nanos, events: &mut Vec<Event>) {
        let whole = self.whole(id);
        let tag = whole.tag;
        if whole.stables == 0 && !whole.stable {
            whole.stable = true;
            events.push(Event::Stable { tag, at });
        }
        let answers_now = whole.answers == 0 && !whole.answered;
        if answers_now {
            whole.answered = true;
            events.push(Event::Answered { tag, at });
        }
        let done = whole.answered && whole.stable;
        if answers_now {
            self.answers_due -= 1;
        }
        if done {
            self.ledger.remove(id);
        }
    }

    fn whole(&mut self, id: Tag) -> &mut Whole {
        self.ledger.get_mut(id).expect("it is under way")
    }
}
