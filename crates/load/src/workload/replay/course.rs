//! The statements that a client sends: those of its sessions, one after the other, but for what is left out.

use std::sync::Arc;

use super::{Shared, Sort};
use crate::recording::{Recorded, SessionReader};

/// Whose the connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Connection {
    Own,
    /// That of the session before.
    Another,
    /// Its own, since a moment ago.
    New,
}

pub(super) struct Course {
    shared: Arc<Shared>,
    pub(super) client: usize,
    pub(super) copy: usize,
    /// The lane's sessions that are left, the next one last.
    sessions: Vec<usize>,
    reader: Option<SessionReader>,
    /// The session under way.
    pub(super) session: usize,
    /// The next statement.
    pub(super) next: Option<Recorded>,
    pub(super) connection: Connection,
    /// The session has sent a statement of a transaction that has not ended.
    pub(super) in_transaction: bool,
    /// A session has ended in a transaction, which the server must not hold.
    pub(super) rolls_back: bool,
    /// Statements belong to a transaction that began before the part that is replayed.
    is_amid: bool,
    /// Why the recording cannot be read.
    pub(super) mistake: String,
}

impl Course {
    pub(super) fn new(shared: &Arc<Shared>, client: usize) -> Self {
        let lanes = shared.lanes.len();
        Self {
            shared: Arc::clone(shared),
            client,
            copy: client / lanes,
            sessions: shared.lanes[client % lanes].iter().rev().copied().collect(),
            reader: None,
            session: 0,
            next: None,
            connection: Connection::Own,
            in_transaction: false,
            rolls_back: false,
            is_amid: false,
            mistake: String::new(),
        }
    }

    /// Reads on to the next statement that is to be sent; false after the last.
    pub(super) fn read_on(&mut self) -> bool {
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
                Ok(Some(recorded)) if recorded.begin_us < self.shared.options.until_us => {
                    self.take_in_part(recorded);
                }
                Ok(_) => {
                    self.reader = None;
                    self.connection = Connection::Another;
                    self.rolls_back = std::mem::take(&mut self.in_transaction);
                    self.is_amid = false;
                }
                Err(error) => {
                    self.mistake = error.to_string();
                    return true;
                }
            }
        }
        true
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

    /// Keeps a statement as the next one, unless it is left out.
    fn take(&mut self, recorded: Recorded) {
        // The connection is in its database, and its prepared statements are its own, whatever those are
        // called in the log.
        let sort = self.shared.sort(&recorded);
        if sort == Sort::Use || (sort == Sort::GiveUp(false) && !self.shared.is_mysql()) {
            return self.pass(&recorded);
        }
        if let Some(reason) = self.shared.leaves_out(&recorded) {
            return self.leave_out(&recorded, reason);
        }
        let fence = &self.shared.options.fence;
        let leaves = |sql: &Vec<u8>| fence.admit(sql).is_err();
        let bound = recorded.bound.as_ref();
        if leaves(&recorded.sql) || bound.is_some_and(|bound| leaves(&bound.sql)) {
            let text = self.shared.text(&recorded).to_owned();
            self.shared.counts(self.client).refused.get_or_insert(text);
            return self.leave_out(&recorded, "it would leave the database");
        }
        self.next = Some(recorded);
    }

    fn leave_out(&self, recorded: &Recorded, reason: &'static str) {
        self.shared.counts(self.client).leave_out(reason, 1);
        self.pass(recorded);
    }

    /// A statement that is not sent keeps no other waiting.
    pub(super) fn pass(&self, recorded: &Recorded) {
        if let Some(commit) = recorded.commit {
            self.shared.orders[self.copy].done(commit);
        }
    }

    /// Passes over the rest of a transaction that the server has given up.
    pub(super) fn leave_transaction(&mut self, reason: &'static str) {
        while self.in_transaction && self.read_on() {
            // It has ended with its session.
            let Some(recorded) = self.next.take_if(|_| !self.rolls_back) else {
                break;
            };
            self.leave_out(&recorded, reason);
            self.in_transaction = !recorded.ends;
        }
        self.in_transaction = false;
        self.rolls_back = false;
    }
}
