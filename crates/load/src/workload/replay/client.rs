//! One client of a replay: the sessions of its lane, statement by statement.

use std::io;
use std::sync::Arc;

use super::marks::{Around, Beside, Mark};
use super::{Shared, Sort};
use crate::driver::rows::Rows;
use crate::driver::{Args, Dialect, Reply, ServerError};
use crate::recording::{Recorded, SessionReader};
use crate::workload::{NO_TYPE, Next, Script};

/// A statement that waits for commits looks again after this, and after longer and longer times.
const FIRST_LOOK_US: u64 = 20;
const LONGEST_LOOK_US: u64 = 1000;
/// A commit that does not come in this time will not come: the order is given up for this statement.
const LONGEST_HOLD_US: u64 = 10_000_000;

/// Whose the connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Connection {
    Own,
    /// That of the session before.
    Another,
    /// Its own, since a moment ago.
    New,
}

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
}

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
    connection: Connection,
    step: Step,
    /// The session has sent a statement of a transaction that has not ended.
    in_transaction: bool,
    /// A session has ended in a transaction, which the server must not hold.
    rolls_back: bool,
    /// Statements belong to a transaction that began before the part that is replayed.
    is_amid: bool,
    /// Since when the next statement waits for commits, and how long until it looks again.
    held_since_us: Option<u64>,
    look_us: u64,
    mistake: String,
    /// The session under way.
    session: usize,
    /// The session of the transaction under way, and when it began there.
    place: (usize, u64),
    mark: Mark,
    around: Around,
    /// The commit of the log that the one around a statement stands for.
    commit: Option<u64>,
    /// The client's last mark.
    marked: u64,
    /// The mark whose commit has just been acknowledged.
    acknowledged: Option<u64>,
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
            connection: Connection::Own,
            step: Step::Due,
            in_transaction: false,
            rolls_back: false,
            is_amid: false,
            held_since_us: None,
            look_us: FIRST_LOOK_US,
            mistake: String::new(),
            session: 0,
            place: (0, 0),
            mark: Mark::None,
            around: Around::None,
            commit: None,
            marked: 0,
            acknowledged: None,
        }
    }

    /// Reads on to the next statement that is to be sent; false after the last.
    fn read_on(&mut self) -> bool {
        while self.next.is_none() {
            let Some(reader) = &mut self.reader else {
                let Some(session) = self.sessions.pop() else {
                    return false;
                };
                self.session = session;
                let recording = Arc::clone(&self.shared.recording);
                self.reader = Some(SessionReader::new(recording, session));
                continue;
            };
            match reader.next() {
                Ok(Some(recorded)) if recorded.begin_us >= self.shared.options.until_us => {
                    self.end_session();
                }
                Ok(Some(recorded)) => self.take_in_part(recorded),
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
        self.connection = Connection::Another;
        self.rolls_back = std::mem::take(&mut self.in_transaction);
        self.unlock();
        self.forget_mark();
        self.is_amid = false;
    }

    /// Takes a statement if it lies in the part that is replayed, or sets the session up for it.
    fn take_in_part(&mut self, recorded: Recorded) {
        let is_early = recorded.begin_us < self.shared.options.from_us;
        if !is_early && !self.is_amid {
            return self.take(recorded);
        }
        self.is_amid = !recorded.ends;
        if is_early && self.shared.sort(&recorded) == Sort::Setting {
            self.take(recorded);
        } else if !is_early {
            self.leave_out(&recorded, "of a transaction that began before the part");
        }
    }

    fn leave_out(&self, recorded: &Recorded, reason: &'static str) {
        self.shared.counts(self.number).leave_out(reason);
        self.pass(recorded);
    }

    /// Passes over the rest of a transaction that the server has given up.
    fn leave_transaction(&mut self, reason: &'static str) {
        while self.in_transaction && !self.rolls_back && self.read_on() {
            let Some(recorded) = self.next.take_if(|_| !self.rolls_back) else {
                break;
            };
            self.leave_out(&recorded, reason);
            self.in_transaction = !recorded.ends;
        }
        self.in_transaction = false;
        self.rolls_back = false;
        self.forget_mark();
    }

    /// The transaction has ended without a commit; one of ours around a statement goes on.
    fn forget_mark(&mut self) {
        if self.around == Around::None {
            self.mark = Mark::None;
        }
    }

    /// Keeps a statement as the next one, unless it is left out.
    fn take(&mut self, recorded: Recorded) {
        // The connection is in its database, whatever that is called here.
        if self.shared.sort(&recorded) == Sort::Use {
            return self.pass(&recorded);
        }
        if let Some(reason) = self.shared.leaves_out(&recorded) {
            return self.leave_out(&recorded, reason);
        }
        if self.shared.options.fence.admit(&recorded.sql).is_err() {
            let text = self.shared.text(&recorded).to_owned();
            self.shared.counts(self.number).refused.get_or_insert(text);
            return self.leave_out(&recorded, "it would leave the database");
        }
        self.next = Some(recorded);
    }

    /// A statement that is not sent keeps no other waiting.
    fn pass(&self, recorded: &Recorded) {
        if let Some(commit) = recorded.commit {
            self.shared.orders[self.copy].done(commit);
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
        counts.tally.held += u64::from(is_new);
        if now_us - since_us > LONGEST_HOLD_US {
            counts.tally.gave_up_order += 1;
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
        counts.tally.sent += 1;
        // A histogram of latencies has no zero.
        counts.late.record(1000 * now_us.saturating_sub(due_us) + 1);
        counts.own.record(1000 * now_us.saturating_sub(free_us) + 1);
        counts.server.record(1000 * (free_us - due_us) + 1);
    }

    /// What has to be sent for a mark before the next statement of the log, or behind the last one.
    fn mark_before(&self, recorded: Option<&Recorded>) -> Option<Beside> {
        self.shared.marks.as_ref()?;
        let sort = recorded.map(|recorded| self.shared.sort(recorded));
        match (self.around, self.mark) {
            (Around::Through, Mark::None) => Some(Beside::Mark),
            (Around::Through, _) => Some(Beside::Commit),
            (Around::None, Mark::Wanted) => (sort == Some(Sort::Commit)).then_some(Beside::Mark),
            (Around::None, Mark::None) if !self.in_transaction => {
                let writes = sort == Some(Sort::Write) && recorded.is_some_and(|own| own.ends);
                writes.then_some(Beside::Begin)
            }
            _ => None,
        }
    }

    fn send_beside(&mut self, beside: Beside, args: &mut Args) -> Next {
        self.step = Step::Beside(beside);
        let sql = args.begin_sql();
        match beside {
            Beside::RollBack => sql.extend_from_slice(b"ROLLBACK"),
            Beside::Begin => sql.extend_from_slice(b"BEGIN"),
            Beside::Commit => sql.extend_from_slice(b"COMMIT"),
            Beside::Mark => {
                self.marked += 1;
                if let Some(marks) = &self.shared.marks {
                    marks.push_sql(self.number, self.marked, sql);
                }
            }
        }
        Next::Sql {
            type_index: NO_TYPE,
        }
    }

    /// The answer to what was sent beside the log.
    fn conclude_beside(&mut self, refusal: Option<&str>) {
        let Step::Beside(beside) = self.step else {
            return;
        };
        // It took no time of ours.
        self.free_us = self.shared.now_us();
        match beside {
            Beside::RollBack => {}
            Beside::Begin => {
                self.around = Around::Open;
                if refusal.is_some() {
                    self.mark = Mark::Refused;
                }
            }
            Beside::Mark => {
                self.mark = Mark::Set;
                if let Some(code) = refusal {
                    self.fail_mark(code);
                    self.mark = Mark::Refused;
                }
            }
            Beside::Commit => {
                self.around = Around::None;
                let commit = self.commit.take();
                self.count_commit(commit);
                self.end_mark(refusal.is_none());
            }
        }
    }

    fn count_commit(&self, commit: Option<u64>) {
        let Some(commit) = commit else { return };
        let overtook = self.shared.orders[self.copy].done(commit);
        let mut counts = self.shared.counts(self.number);
        counts.tally.commits += 1;
        counts.tally.commits_overtook += u64::from(overtook);
    }

    /// The transaction of a mark has ended.
    fn end_mark(&mut self, is_through: bool) {
        if std::mem::replace(&mut self.mark, Mark::None) == Mark::Set {
            if is_through {
                self.acknowledged = Some(self.marked);
            } else {
                self.fail_mark("refused");
            }
        }
    }

    fn fail_mark(&self, code: &str) {
        if let Some(marks) = &self.shared.marks {
            marks.add_failure(self.number, self.marked, code);
        }
    }

    fn unlock(&mut self) {
        if self.around == Around::Locked {
            self.around = Around::None;
        }
    }

    fn is_mysql(&self) -> bool {
        self.shared.recording.contents.dialect() == Dialect::Mysql
    }

    /// Whether a write is there if the commit of its transaction is.
    fn is_held_by_commit(&self, sent: &Recorded) -> bool {
        match self.shared.sort(sent) {
            Sort::Write => self.around != Around::Locked,
            Sort::Change => !self.is_mysql(),
            _ => false,
        }
    }

    /// Writes down an acknowledged write of which no mark tells; keeps account of locks.
    fn tell_of_unmarked(&mut self, sent: &Recorded) {
        let sort = self.shared.sort(sent);
        match sort {
            Sort::Lock(true) if self.is_mysql() => self.around = Around::Locked,
            // A transaction unlocks them.
            Sort::Lock(_) => self.unlock(),
            Sort::Bracket if !sent.ends => self.unlock(),
            _ => {}
        }
        let why = match sort {
            Sort::Write if self.around == Around::Locked => "locked",
            Sort::Write if self.shared.untransactional[sent.fingerprint as usize] => {
                "untransactional"
            }
            Sort::Change if sent.ends || !self.is_held_by_commit(sent) => "change",
            _ => return,
        };
        if let Some(marks) = &self.shared.marks {
            marks.add_unmarked(self.number, why);
        }
    }

    /// A reply, or a refusal, to the statement under way.
    fn conclude_statement(&mut self, reply: Option<Reply>) {
        let Some(sent) = self.sent.take() else { return };
        let now_us = self.shared.now_us();
        self.free_us = now_us;
        let took_us = now_us - self.sent_us;
        if reply.is_some() {
            self.tell_of_unmarked(&sent);
        }
        if self.around == Around::Open {
            self.around = Around::Through;
            self.commit = sent.commit;
            if reply.is_none() {
                self.mark = Mark::Refused;
            }
        } else {
            self.count_commit(sent.commit);
            if sent.ends {
                self.end_mark(reply.is_some());
            } else if reply.is_some() && self.is_held_by_commit(&sent) {
                self.mark = Mark::Wanted;
            }
        }
        let mut counts = self.shared.counts(self.number);
        counts.busy_us += took_us;
        counts.recorded_busy_us = counts
            .recorded_busy_us
            .saturating_add(sent.duration_us.unwrap_or(0));
        counts.end_us = counts.end_us.max(now_us);
        let recorded_end_us = sent.begin_us.saturating_add(sent.duration_us.unwrap_or(0));
        counts.recorded_end_us = counts.recorded_end_us.max(recorded_end_us);
        counts.shortest_us = Some(
            counts
                .shortest_us
                .map_or(took_us, |least| least.min(took_us)),
        );
        match (reply, sent.failed) {
            (None, true) => counts.tally.refusals_in_both += 1,
            (None, false) => counts.tally.refusals_in_replay_only += 1,
            (Some(_), true) => counts.tally.refusals_in_log_only += 1,
            (Some(reply), false) => {
                let differs =
                    |recorded: Option<u64>, own: u64| recorded.is_some_and(|rows| rows != own);
                if sent.rows.is_some() || sent.affected.is_some() {
                    counts.tally.rows_compared += 1;
                    let different = differs(sent.rows, reply.rows)
                        || (reply.rows == 0 && differs(sent.affected, reply.affected));
                    counts.tally.rows_different += u64::from(different);
                }
            }
        }
    }
}

/// Each statement is a transaction of the engine: pauses between them are the log's, and no time of ours.
impl Script for Client {
    fn begin(&mut self) -> bool {
        self.step = Step::Due;
        self.shared.now_us();
        self.read_on() || self.rolls_back || self.around == Around::Through
    }

    fn next(&mut self, args: &mut Args) -> Option<Next> {
        if self.step != Step::Due {
            return None;
        }
        let goes_on = self.read_on();
        if !self.mistake.is_empty() {
            return Some(Next::Fail);
        }
        if self.around == Around::Through
            && let Some(beside) = self.mark_before(None)
        {
            return Some(self.send_beside(beside, args));
        }
        if std::mem::take(&mut self.rolls_back) {
            return Some(self.send_beside(Beside::RollBack, args));
        }
        let recorded = self.next.as_ref().filter(|_| goes_on)?;
        let (due_us, after) = (self.shared.due_us(recorded), recorded.after_commits);
        let now_us = self.shared.now_us();
        if due_us > now_us {
            return Some(Next::Wait {
                us: due_us - now_us,
            });
        }
        if let Some(us) = after.and_then(|after| self.hold(after, now_us)) {
            return Some(Next::Wait { us });
        }
        if self.connection == Connection::Another {
            self.step = Step::Connect;
            self.connection = Connection::New;
            return Some(Next::Reconnect {
                type_index: self.shared.connect_type,
            });
        }
        if self.connection == Connection::New {
            // The server's log-in is not our lateness.
            self.free_us = now_us;
            self.connection = Connection::Own;
        }
        if let Some(beside) = self.mark_before(self.next.as_ref()) {
            return Some(self.send_beside(beside, args));
        }
        let recorded = self.next.take()?;
        if !self.in_transaction {
            self.place = (self.session, recorded.begin_us);
        }
        // As soon as it may is when it is due.
        let due_us = if self.shared.options.speed.is_some() {
            due_us
        } else {
            self.free_us
        };
        self.account_for_lateness(due_us, now_us);
        self.sent_us = now_us;
        self.step = Step::Statement;
        self.in_transaction = !recorded.ends;
        args.begin_sql().extend_from_slice(&recorded.sql);
        let type_index = self.shared.types[recorded.fingerprint as usize];
        self.sent = Some(recorded);
        Some(Next::Sql { type_index })
    }

    fn counts(&self) -> bool {
        !matches!(self.step, Step::Beside(_) | Step::Connect)
    }

    fn take_reply(&mut self, reply: Reply, _rows: Option<&Rows>, type_index: usize) -> usize {
        self.conclude_beside(None);
        self.conclude_statement(Some(reply));
        type_index
    }

    fn take_refusal(&mut self, error: &ServerError, _again: bool) -> bool {
        self.conclude_beside(Some(&error.code));
        self.conclude_statement(None);
        // InnoDB has rolled all of it back.
        if error.code == "1213" {
            self.leave_transaction("of a transaction that a deadlock ended");
        }
        true
    }

    fn lost(&mut self) {
        if let Some(sent) = self.sent.take() {
            self.pass(&sent);
        }
        if self.mark == Mark::Set || self.step == Step::Beside(Beside::Mark) {
            self.fail_mark("lost");
        }
        let commit = self.commit.take();
        self.count_commit(commit);
        self.around = Around::None;
        self.leave_transaction("the connection was lost in its transaction");
        self.connection = Connection::Own;
        self.free_us = self.shared.now_us();
    }

    fn acknowledged(&mut self) -> io::Result<()> {
        match (&self.shared.marks, self.acknowledged.take()) {
            (Some(marks), Some(mark)) => marks.add(self.number, mark, self.place),
            _ => Ok(()),
        }
    }

    fn mistake(&self) -> String {
        self.mistake.clone()
    }
}
