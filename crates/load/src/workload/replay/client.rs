//! One client of a replay: the sessions of its lane, statement by statement.

use std::sync::Arc;

use super::Shared;
use super::certificate::{IN_BOTH, IN_LOG, IN_REPLAY};
use crate::driver::rows::Rows;
use crate::driver::{Args, Reply, ServerError};
use crate::recording::{Recorded, SessionReader};
use crate::workload::{Next, Script};

/// A statement that waits for commits looks again after this, and after longer and longer times.
const FIRST_LOOK_US: u64 = 20;
const LONGEST_LOOK_US: u64 = 1000;
/// A commit that does not come in this time will not come: the order is given up for this statement.
const LONGEST_HOLD_US: u64 = 10_000_000;

/// A client's course through its sessions.
pub struct Client {
    shared: Arc<Shared>,
    number: usize,
    copy: usize,
    /// The lane's sessions that are left, the next one last.
    sessions: Vec<usize>,
    reader: Option<SessionReader>,
    /// The next statement.
    next: Option<Recorded>,
    /// The statement under way.
    sent: Option<Recorded>,
    sent_us: u64,
    /// When the session was free for its next statement.
    free_us: u64,
    /// The connection has been another session's.
    reconnects: bool,
    is_first_of_transaction: bool,
    /// Since when the next statement waits for commits, and how long until it looks again.
    held_since_us: Option<u64>,
    look_us: u64,
    has_ended: bool,
    mistake: String,
}

impl Client {
    pub(super) fn new(shared: Arc<Shared>, number: usize) -> Self {
        let lanes = shared.lanes.len();
        let mut sessions = shared.lanes[number % lanes].clone();
        sessions.reverse();
        Self {
            number,
            copy: number / lanes,
            sessions,
            shared,
            reader: None,
            next: None,
            sent: None,
            sent_us: 0,
            free_us: 0,
            reconnects: false,
            is_first_of_transaction: true,
            held_since_us: None,
            look_us: FIRST_LOOK_US,
            has_ended: false,
            mistake: String::new(),
        }
    }

    /// Reads on to the next statement that is to be sent; false after the last.
    fn read_on(&mut self) -> bool {
        while self.next.is_none() {
            let Some(reader) = &mut self.reader else {
                let Some(session) = self.sessions.pop() else {
                    return false;
                };
                let recording = Arc::clone(&self.shared.recording);
                self.reader = Some(SessionReader::new(recording, session));
                continue;
            };
            match reader.next() {
                Ok(Some(recorded)) if recorded.begin_us >= self.shared.options.until_us => {
                    self.end_session();
                }
                Ok(Some(recorded)) if recorded.begin_us < self.shared.options.from_us => {}
                Ok(Some(recorded)) => self.take(recorded),
                Ok(None) => self.end_session(),
                Err(error) => {
                    self.mistake = error.to_string();
                    return true;
                }
            }
        }
        true
    }

    fn end_session(&mut self) {
        self.reader = None;
        self.reconnects = true;
    }

    /// Keeps a statement as the next one, unless it is left out.
    fn take(&mut self, recorded: Recorded) {
        let contents = &self.shared.recording.contents;
        let text = &contents.fingerprints[recorded.fingerprint as usize].text;
        // The connection is in its database, whatever that is called here.
        let is_use = text.len() > 4 && text.as_bytes()[..4].eq_ignore_ascii_case(b"USE ");
        if !is_use {
            let reason = self.shared.leaves_out(&recorded).or_else(|| {
                self.shared
                    .options
                    .fence
                    .admit(&recorded.sql)
                    .err()
                    .map(|why| {
                        self.shared.counts(self.number).refused.get_or_insert(why);
                        "it would leave the database"
                    })
            });
            let Some(reason) = reason else {
                self.next = Some(recorded);
                return;
            };
            self.shared.counts(self.number).leave_out(reason);
        }
        self.pass(&recorded);
    }

    /// A statement that is not sent keeps no other waiting.
    fn pass(&self, recorded: &Recorded) {
        if let Some(commit) = recorded.commit {
            self.shared.orders[self.copy].done(commit);
        }
    }

    /// Pauses before a transaction are none of its time.
    fn pause(&self, us: u64) -> Next {
        if self.is_first_of_transaction {
            Next::Wait { us }
        } else {
            Next::Sleep { us }
        }
    }

    /// How long the next statement still has to wait for commits.
    fn hold(&mut self, after_commits: u64, now_us: u64) -> Option<u64> {
        if self.shared.orders[self.copy].allows(after_commits) {
            self.held_since_us = None;
            return None;
        }
        let is_new = self.held_since_us.is_none();
        let since_us = *self.held_since_us.get_or_insert(now_us);
        let mut counts = self.shared.counts(self.number);
        counts.held += u64::from(is_new);
        if now_us - since_us > LONGEST_HOLD_US {
            counts.gave_up_order += 1;
            self.held_since_us = None;
            return None;
        }
        self.look_us = if is_new {
            FIRST_LOOK_US
        } else {
            (self.look_us * 2).min(LONGEST_LOOK_US)
        };
        // What it waited for is not our lateness.
        self.free_us = now_us;
        Some(self.look_us)
    }

    fn account_for_lateness(&self, due_us: u64, now_us: u64) {
        let free_us = self.free_us.max(due_us);
        let mut counts = self.shared.counts(self.number);
        counts.sent += 1;
        // A histogram of latencies has no zero.
        counts.late.record(1000 * now_us.saturating_sub(due_us) + 1);
        counts.own.record(1000 * now_us.saturating_sub(free_us) + 1);
        counts.server.record(1000 * (free_us - due_us) + 1);
    }

    /// A reply, or a refusal, to the statement under way.
    fn conclude_statement(&mut self, reply: Option<Reply>) {
        let Some(sent) = self.sent.take() else { return };
        let now_us = self.shared.now_us();
        self.free_us = now_us;
        let took_us = now_us - self.sent_us;
        let swapped = sent
            .commit
            .map(|commit| self.shared.orders[self.copy].done(commit));
        let mut counts = self.shared.counts(self.number);
        if let Some(swapped) = swapped {
            counts.commits += 1;
            counts.commits_overtook += u64::from(swapped);
        }
        counts.busy_us += took_us;
        counts.recorded_busy_us += sent.duration_us.unwrap_or(0);
        counts.end_us = counts.end_us.max(now_us);
        let recorded_end_us = sent.begin_us + sent.duration_us.unwrap_or(0);
        counts.recorded_end_us = counts.recorded_end_us.max(recorded_end_us);
        counts.shortest_us = Some(
            counts
                .shortest_us
                .map_or(took_us, |least| least.min(took_us)),
        );
        match (reply, sent.failed) {
            (None, true) => counts.refusals[IN_BOTH] += 1,
            (None, false) => counts.refusals[IN_REPLAY] += 1,
            (Some(_), true) => counts.refusals[IN_LOG] += 1,
            (Some(reply), false) => {
                let differs =
                    |recorded: Option<u64>, own: u64| recorded.is_some_and(|rows| rows != own);
                if sent.rows.is_some() || sent.affected.is_some() {
                    counts.rows_compared += 1;
                    let different = differs(sent.rows, reply.rows)
                        || (reply.rows == 0 && differs(sent.affected, reply.affected));
                    counts.rows_different += u64::from(different);
                }
            }
        }
    }
}

impl Script for Client {
    fn begin(&mut self) -> bool {
        self.is_first_of_transaction = true;
        self.has_ended = false;
        self.shared.now_us();
        self.read_on()
    }

    fn next(&mut self, args: &mut Args) -> Option<Next> {
        if self.has_ended || !self.read_on() {
            return None;
        }
        if !self.mistake.is_empty() {
            return Some(Next::Fail);
        }
        let recorded = self.next.as_ref()?;
        let (due_us, after) = (self.shared.due_us(recorded), recorded.after_commits);
        let now_us = self.shared.now_us();
        if due_us > now_us {
            return Some(self.pause(due_us - now_us));
        }
        if let Some(us) = after.and_then(|after| self.hold(after, now_us)) {
            return Some(self.pause(us));
        }
        if std::mem::take(&mut self.reconnects) {
            return Some(Next::Reconnect {
                type_index: self.shared.connect_type,
            });
        }
        let recorded = self.next.take()?;
        // As soon as it may is when it is due.
        let due_us = if self.shared.options.speed.is_some() {
            due_us
        } else {
            self.free_us
        };
        self.account_for_lateness(due_us, now_us);
        self.sent_us = now_us;
        self.is_first_of_transaction = false;
        self.has_ended = recorded.ends;
        args.begin_sql().extend_from_slice(&recorded.sql);
        let type_index = self.shared.types[recorded.fingerprint as usize];
        self.sent = Some(recorded);
        Some(Next::Sql { type_index })
    }

    fn take_reply(&mut self, reply: Reply, _rows: Option<&Rows>, type_index: usize) -> usize {
        self.conclude_statement(Some(reply));
        type_index
    }

    fn take_refusal(&mut self, _error: &ServerError, _again: bool) -> bool {
        self.conclude_statement(None);
        true
    }

    /// The rest of the transaction has no sense without its begin.
    fn lost(&mut self) {
        let mut ended = self.has_ended;
        if let Some(sent) = self.sent.take() {
            self.pass(&sent);
        }
        while !ended && self.read_on() {
            let Some(recorded) = self.next.take() else {
                break;
            };
            self.pass(&recorded);
            self.shared
                .counts(self.number)
                .leave_out("the connection was lost in its transaction");
            ended = recorded.ends;
        }
        self.reconnects = false;
        self.free_us = self.shared.now_us();
    }

    fn mistake(&self) -> String {
        self.mistake.clone()
    }
}
