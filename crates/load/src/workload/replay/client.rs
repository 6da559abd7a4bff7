//! One client of a replay: the statements of its course, at their times and in the order of commits.

use std::io;
use std::sync::Arc;

use super::course::{Connection, Course};
use super::marks::{Beside, DEADLOCK, Marker};
use super::prepared::Prepared;
use super::{Shared, Sort};
use crate::driver::rows::Rows;
use crate::driver::{Args, Reply, ServerError};
use crate::recording::Recorded;
use crate::workload::{NO_TYPE, Next, Script};

/// A statement that waits for commits looks again after this, and after longer and longer times.
const FIRST_LOOK_US: u64 = 20;
const LONGEST_LOOK_US: u64 = 1000;
/// A commit that does not come in this time will not come: the order is given up for this statement.
const LONGEST_HOLD_US: u64 = 10_000_000;

/// What the client has done since it was asked to begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Nothing yet.
    Due,
    /// It has sent a statement of the log.
    Statement,
    /// It has sent what the log does not have.
    Beside(Beside),
    /// It connects anew.
    Connect,
    /// It prepares the next statement.
    Prepare,
}

/// A client's course through its sessions.
pub struct Client {
    shared: Arc<Shared>,
    course: Course,
    marker: Marker,
    step: Step,
    prepared: Prepared,
    /// The statement under way.
    sent: Option<Recorded>,
    sent_us: u64,
    /// When the session was free for its next statement.
    free_us: u64,
    /// Since when the next statement waits for commits, and how long until it looks again.
    held_since_us: Option<u64>,
    look_us: u64,
}

impl Client {
    pub(super) fn new(shared: Arc<Shared>, number: usize) -> Self {
        Self {
            course: Course::new(&shared, number),
            marker: Marker::new(&shared, number),
            shared,
            step: Step::Due,
            prepared: Prepared::default(),
            sent: None,
            sent_us: 0,
            free_us: 0,
            held_since_us: None,
            look_us: FIRST_LOOK_US,
        }
    }

    fn read_on(&mut self) -> bool {
        let goes_on = self.course.read_on();
        if self.course.connection == Connection::Another {
            self.marker.leave_session();
        }
        goes_on
    }

    fn leave_transaction(&mut self, reason: &'static str) {
        self.course.leave_transaction(reason);
        self.marker.forget();
    }

    /// How long the next statement still has to wait for commits.
    fn hold(&mut self, after_commits: u64, now_us: u64) -> Option<u64> {
        if self.shared.orders[self.course.copy].allows(after_commits) {
            self.held_since_us = None;
            return None;
        }
        let is_new = self.held_since_us.is_none();
        let since_us = *self.held_since_us.get_or_insert(now_us);
        let mut counts = self.shared.counts(self.course.client);
        counts.tally.held += u64::from(is_new);
        if now_us - since_us > LONGEST_HOLD_US {
            counts.tally.gave_up_order += 1;
            self.held_since_us = None;
            return None;
        }
        let longer_us = (self.look_us * 2).min(LONGEST_LOOK_US);
        self.look_us = if is_new { FIRST_LOOK_US } else { longer_us };
        // What it waited for is not our lateness.
        self.free_us = now_us;
        Some(self.look_us)
    }

    fn send_beside(&mut self, beside: Beside, args: &mut Args) -> Next {
        self.step = Step::Beside(beside);
        let sql = self.marker.sql(beside);
        args.begin_sql().extend_from_slice(sql.as_bytes());
        Next::Sql {
            type_index: NO_TYPE,
        }
    }

    /// Asks for a statement to be prepared, if one was in the log and is not yet on this connection, or was anew.
    fn prepare(&mut self, args: &mut Args) -> Option<Next> {
        let is_mysql = self.shared.is_mysql();
        // Without values, PostgreSQL's `?` is an operator, which the driver would take for a mark.
        if let Some(next) = &mut self.course.next
            && let Some(bound) = &next.bound
            && (is_mysql || !bound.values.is_empty() || !bound.sql.contains(&b'?'))
        {
            let connections = self.shared.lanes.len() * self.shared.options.copies;
            let is_fresh = std::mem::take(&mut next.is_fresh);
            self.prepared.ask(&bound.sql, connections, is_fresh);
            if is_fresh {
                self.shared
                    .counts(self.course.client)
                    .tally
                    .preparations_recorded += 1;
            }
        }
        let sql = self.prepared.waiting.last()?;
        let replaces = self.prepared.number(sql);
        // In a transaction, PostgreSQL would give that up with what it refuses; this it has taken before.
        if self.course.in_transaction && !is_mysql && replaces.is_none() {
            return None;
        }
        args.begin_sql().extend_from_slice(sql);
        self.step = Step::Prepare;
        Some(Next::Prepare { replaces })
    }

    /// A reply, or a refusal, to what was sent last.
    fn conclude(&mut self, reply: Result<Reply, &str>) {
        let now_us = self.shared.now_us();
        self.free_us = now_us;
        if self.step == Step::Prepare {
            self.prepared.conclude(reply.is_ok());
            self.shared.counts(self.course.client).tally.preparations += u64::from(reply.is_ok());
        }
        if let Step::Beside(beside) = self.step {
            let commit = self.marker.conclude_beside(beside, reply.err());
            self.count_commit(commit);
        }
        if let Some(sent) = self.sent.take() {
            let commit = self.marker.conclude(&sent, reply.is_ok());
            self.count_commit(commit);
            let mut counts = self.shared.counts(self.course.client);
            counts.conclude(&sent, [self.sent_us, now_us], reply.ok());
        }
    }

    fn count_commit(&self, commit: Option<u64>) {
        let Some(commit) = commit else { return };
        let overtook = self.shared.orders[self.course.copy].done(commit);
        let mut counts = self.shared.counts(self.course.client);
        counts.tally.commits += 1;
        counts.tally.commits_overtook += u64::from(overtook);
    }
}

/// Each statement is a transaction of the engine: pauses between them are the log's, and no time of ours.
impl Script for Client {
    fn begin(&mut self) -> bool {
        self.step = Step::Due;
        self.shared.now_us();
        self.read_on() || self.course.rolls_back || self.marker.is_through()
    }

    fn next(&mut self, args: &mut Args) -> Option<Next> {
        if self.step != Step::Due {
            return None;
        }
        let goes_on = self.read_on();
        if !self.course.mistake.is_empty() {
            return Some(Next::Fail);
        }
        let in_transaction = self.course.in_transaction;
        if self.marker.is_through()
            && let Some(beside) = self.marker.before(None, in_transaction)
        {
            return Some(self.send_beside(beside, args));
        }
        if std::mem::take(&mut self.course.rolls_back) {
            return Some(self.send_beside(Beside::RollBack, args));
        }
        let recorded = self.course.next.as_ref().filter(|_| goes_on)?;
        let (due_us, after) = (self.shared.due_us(recorded), recorded.after_commits);
        let now_us = self.shared.now_us();
        let early_us = due_us.checked_sub(now_us).filter(|&us| us > 0);
        if let Some(us) = early_us.or_else(|| self.hold(after?, now_us)) {
            return Some(Next::Wait { us });
        }
        if self.course.connection == Connection::Another {
            self.step = Step::Connect;
            self.prepared = Prepared::default();
            self.course.connection = Connection::New;
            let type_index = self.shared.connect_type;
            return Some(Next::Reconnect { type_index });
        }
        if self.course.connection == Connection::New {
            // The server's log-in is not our lateness.
            self.free_us = now_us;
            self.course.connection = Connection::Own;
        }
        if let Some(next) = self.prepare(args) {
            return Some(next);
        }
        let next = self.course.next.as_ref();
        if let Some(beside) = self.marker.before(next, in_transaction) {
            return Some(self.send_beside(beside, args));
        }
        let recorded = self.course.next.take()?;
        if !in_transaction {
            self.marker.place = [self.course.session as u64, recorded.begin_us];
        }
        // As soon as it may is when it is due.
        let is_timed = self.shared.options.speed.is_some();
        let due_us = if is_timed { due_us } else { self.free_us };
        let bound = recorded.bound.as_ref();
        let number = bound.and_then(|bound| self.prepared.number(&bound.sql));
        let mut counts = self.shared.counts(self.course.client);
        counts.send(due_us, self.free_us, now_us);
        counts.tally.prepared += u64::from(number.is_some());
        counts.tally.prepared_as_text += u64::from(bound.is_some() && number.is_none());
        let type_index = self.shared.types[recorded.fingerprint as usize];
        if self.shared.explains(&recorded, type_index) {
            counts.keep_example(type_index, recorded.begin_us, &recorded.sql);
        }
        drop(counts);
        self.sent_us = now_us;
        self.step = Step::Statement;
        self.course.in_transaction = !recorded.ends;
        if self.shared.sort(&recorded) == Sort::GiveUp(true) {
            // Those that wait will be there all the same.
            self.prepared.numbers.clear();
        }
        let next = if let (Some(bound), Some(number)) = (bound, number) {
            bound.put(args);
            Next::Own { number, type_index }
        } else {
            let locking = self.marker.locking(&recorded);
            let sql = locking.as_ref().unwrap_or(&recorded.sql);
            args.begin_sql().extend_from_slice(sql);
            Next::Sql { type_index }
        };
        self.sent = Some(recorded);
        Some(next)
    }

    fn counts(&self) -> bool {
        matches!(self.step, Step::Due | Step::Statement)
    }

    fn take_reply(&mut self, reply: Reply, _rows: Option<&Rows>, type_index: usize) -> usize {
        self.conclude(Ok(reply));
        type_index
    }

    fn take_refusal(&mut self, error: &ServerError, _again: bool) -> bool {
        self.conclude(Err(&error.code));
        if error.code == DEADLOCK {
            self.leave_transaction("of a transaction that a deadlock ended");
        }
        true
    }

    fn lost(&mut self) {
        if let Some(sent) = self.sent.take() {
            self.course.pass(&sent);
        }
        self.prepared.lose(self.step == Step::Prepare);
        let commit = self.marker.lose(self.step == Step::Beside(Beside::Mark));
        self.count_commit(commit);
        self.leave_transaction("the connection was lost in its transaction");
        self.course.connection = Connection::Own;
        self.free_us = self.shared.now_us();
    }

    fn acknowledged(&mut self) -> io::Result<()> {
        self.marker.tell()
    }

    fn mistake(&self) -> String {
        self.course.mistake.clone()
    }
}
