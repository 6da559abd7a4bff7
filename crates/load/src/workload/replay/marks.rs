//! Transactions that can be looked up after a power cut: each that writes puts a row into a table of ours, and
//! commits with it.

use std::io;
use std::sync::Arc;

use super::{Shared, Sort};
use crate::driver::{Dialect, Driver, Fault};
use crate::recording::Recorded;
use crate::workload::ledger::Acknowledgements;
use crate::workload::sql::Words;

/// The server has rolled a transaction back.
pub(super) const DEADLOCK: &str = "1213";

/// The mark of the transaction under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    None,
    /// The transaction has written something.
    Wanted,
    /// The row is there, and goes with the commit.
    Set,
    /// The server has refused the row; what the transaction has written may be committed.
    Refused,
    /// Nothing that the transaction has written will be there.
    Undone,
}

/// A transaction of ours around a statement that would commit itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Around {
    None,
    Open,
    /// The statement is through.
    Through,
}

/// What is sent beside the log's statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
    RollBack,
    Begin,
    Mark,
    Commit,
}

/// Some servers take no table without a primary key.
const COLUMNS: &str = "(client INTEGER, number BIGINT, PRIMARY KEY (client, number))";

/// The tables of single clients that are there.
const OF_CLIENTS: &str = "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() \
     AND table_name REGEXP '^diskproof_commits_[0-9]+$'";

/// In place of the number of a mark, which begin with 1.
const UNMARKED: u64 = 0;

/// The marks of all clients.
#[derive(Debug)]
pub(crate) struct Marks {
    pub(super) file: Acknowledgements,
    pub(super) table: &'static str,
    /// Tables whose rows no transaction holds: a mark says nothing of them.
    pub(super) untransactional: Vec<String>,
}

impl Marks {
    /// Makes the table, without rows.
    pub(crate) fn new<D: Driver>(file: Acknowledgements, driver: &D) -> Result<Self, Fault> {
        let mut admin = driver.admin()?;
        let (table, engine, others) = match driver.dialect() {
            Dialect::Mysql | Dialect::Sqlite => (
                "diskproof_commits",
                " ENGINE=InnoDB",
                "SELECT own.table_name FROM information_schema.tables own JOIN information_schema.engines kind \
                 ON kind.engine = own.engine WHERE own.table_schema = DATABASE() AND kind.transactions <> 'YES'",
            ),
            // A session of the log may have a search path of its own, or drop its schema.
            Dialect::Postgres => {
                admin.execute("CREATE SCHEMA IF NOT EXISTS diskproof")?;
                (
                    "diskproof.diskproof_commits",
                    "",
                    "SELECT relname FROM pg_class WHERE relpersistence = 'u'",
                )
            }
        };
        admin.execute(&format!("DROP TABLE IF EXISTS {table}"))?;
        if driver.dialect() == Dialect::Mysql {
            // Those of an earlier replay, which a dump may have brought along.
            for own in admin.query_column(OF_CLIENTS)?.into_iter().flatten() {
                admin.execute(&format!("DROP TABLE {own}"))?;
            }
        }
        admin.execute(&format!("CREATE TABLE {table} {COLUMNS}{engine}"))?;
        let untransactional = admin.query_column(others)?;
        Ok(Self {
            file,
            table,
            untransactional: untransactional.into_iter().flatten().collect(),
        })
    }

    /// Makes a table for each of so many clients, to be locked with the log's. If they locked the same one, each would
    /// hold up the rest.
    pub(super) fn make_own(&self, driver: &impl Driver, clients: usize) -> Result<(), Fault> {
        let mut admin = driver.admin()?;
        for client in 0..clients {
            let table = format!("{}_{client}", self.table);
            admin.execute(&format!("CREATE TABLE {table} {COLUMNS} ENGINE=InnoDB"))?;
        }
        Ok(())
    }
}

/// The marks of one client.
pub(super) struct Marker {
    shared: Arc<Shared>,
    client: usize,
    mark: Mark,
    around: Around,
    /// The session has locked tables, which BEGIN would unlock: whether one of ours is among them.
    locks: Option<bool>,
    /// The commit of the log that the one around a statement stands for.
    commit: Option<u64>,
    /// The client's last mark.
    marked: u64,
    /// The mark whose commit has just been acknowledged.
    acknowledged: Option<u64>,
    /// The session of the transaction under way, and when it began there.
    pub(super) place: [u64; 2],
}

impl Marker {
    pub(super) fn new(shared: &Arc<Shared>, client: usize) -> Self {
        Self {
            shared: Arc::clone(shared),
            client,
            mark: Mark::None,
            around: Around::None,
            locks: None,
            commit: None,
            marked: 0,
            acknowledged: None,
            place: [0, 0],
        }
    }

    /// Whether the end of a transaction of ours has to be sent.
    pub(super) fn is_through(&self) -> bool {
        self.around == Around::Through
    }

    /// What has to be sent before the next statement of the log, or behind the last one.
    pub(super) fn before(&self, next: Option<&Recorded>, in_transaction: bool) -> Option<Beside> {
        self.shared.marks.as_ref()?;
        let sort = next.map(|next| self.shared.sort(next));
        let commits = sort.is_some_and(|own| own == Sort::Commit || self.unlocks(own));
        match (self.around, self.mark) {
            _ if self.locks == Some(false) => None,
            (Around::Through, Mark::None) => Some(Beside::Mark),
            (Around::Through, _) => Some(Beside::Commit),
            (Around::None, Mark::Wanted) => commits.then_some(Beside::Mark),
            (Around::None, Mark::None) if !in_transaction => {
                let writes = sort == Some(Sort::Write) && next.is_some_and(|own| own.ends);
                writes.then_some(Beside::Begin)
            }
            _ => None,
        }
    }

    pub(super) fn sql(&mut self, beside: Beside) -> String {
        let is_locked = self.locks == Some(true);
        match beside {
            Beside::RollBack => "ROLLBACK".to_owned(),
            Beside::Begin if is_locked => "SET autocommit=0".to_owned(),
            Beside::Begin => "BEGIN".to_owned(),
            // It commits.
            Beside::Commit if is_locked => "SET autocommit=1".to_owned(),
            Beside::Commit => "COMMIT".to_owned(),
            Beside::Mark => {
                self.marked += 1;
                let table = self.shared.marks.as_ref().map_or("", |marks| marks.table);
                let (client, number) = (self.client, self.marked);
                let own = is_locked.then(|| format!("_{client}"));
                let own = own.unwrap_or_default();
                format!("INSERT INTO {table}{own} VALUES ({client}, {number})")
            }
        }
    }

    /// A statement that locks tables with our own as the first; `None`: it is another one, or names no tables.
    pub(super) fn locking(&self, next: &Recorded) -> Option<Vec<u8>> {
        let marks = self.shared.marks.as_ref().filter(|_| {
            let locks = self.shared.sort(next) == Sort::Lock(true);
            locks && self.shared.is_mysql() && next.bound.is_none()
        })?;
        let mut words = Words::new(&next.sql, Dialect::Mysql);
        let tables = words.nth(1)?;
        // FOR BACKUP names none.
        words.next().filter(|word| !word.is("FOR"))?;
        let (locks, others) = next.sql.split_at(tables.end);
        let ours = format!(" {}_{} WRITE,", marks.table, self.client);
        Some([locks, ours.as_bytes(), others].concat())
    }

    /// Whether a statement unlocks what is locked with our own table, and commits what was written.
    fn unlocks(&self, sort: Sort) -> bool {
        self.locks == Some(true) && matches!(sort, Sort::Lock(_))
    }

    /// The answer to what was sent beside the log; the log's commit that it stands for, if that is done.
    pub(super) fn conclude_beside(&mut self, beside: Beside, refusal: Option<&str>) -> Option<u64> {
        match (beside, refusal) {
            (Beside::RollBack, _) => {}
            (Beside::Begin, _) => {
                self.around = Around::Open;
                if refusal.is_some() {
                    self.mark = Mark::Refused;
                }
            }
            (Beside::Mark, None) => self.mark = Mark::Set,
            (Beside::Mark, Some(code)) => {
                self.write_down(self.marked, code);
                // PostgreSQL's commit rolls back after an error.
                let undone = code == DEADLOCK || !self.shared.is_mysql();
                self.mark = if undone { Mark::Undone } else { Mark::Refused };
            }
            (Beside::Commit, _) => {
                self.around = Around::None;
                self.end(refusal.is_none());
                return self.commit.take();
            }
        }
        None
    }

    /// The answer to a statement of the log; the commit that is done with it.
    pub(super) fn conclude(&mut self, sent: &Recorded, is_done: bool) -> Option<u64> {
        let unlocks = self.unlocks(self.shared.sort(sent));
        if is_done {
            self.tell_of_unmarked(sent);
        }
        if self.around == Around::Open {
            self.around = Around::Through;
            self.commit = sent.commit;
            if !is_done {
                self.mark = Mark::Undone;
            }
            return None;
        }
        if sent.ends || unlocks {
            self.end(is_done);
        } else if is_done && self.is_held_by_commit(sent) {
            self.mark = Mark::Wanted;
        }
        sent.commit
    }

    /// The transaction of a mark has ended.
    fn end(&mut self, is_through: bool) {
        match std::mem::replace(&mut self.mark, Mark::None) {
            Mark::Set if is_through => self.acknowledged = Some(self.marked),
            Mark::Set => self.write_down(self.marked, "refused"),
            Mark::Refused if is_through => self.write_down(UNMARKED, "mark"),
            _ => {}
        }
    }

    /// The transaction has ended without a commit; one of ours around a statement goes on.
    pub(super) fn forget(&mut self) {
        if self.around == Around::None {
            self.mark = Mark::None;
        }
    }

    pub(super) fn leave_session(&mut self) {
        if self.around == Around::None {
            (self.mark, self.locks) = (Mark::None, None);
        }
    }

    /// The connection is lost; the commit that nothing will acknowledge.
    pub(super) fn lose(&mut self, was_sending_mark: bool) -> Option<u64> {
        if self.mark == Mark::Set || was_sending_mark {
            self.write_down(self.marked, "lost");
        }
        (self.around, self.locks) = (Around::None, None);
        self.commit.take()
    }

    /// Whether a write is there if the commit of its transaction is.
    fn is_held_by_commit(&self, sent: &Recorded) -> bool {
        match self.shared.sort(sent) {
            Sort::Write => self.locks != Some(false),
            Sort::Change => !self.shared.is_mysql(),
            _ => false,
        }
    }

    /// Writes down an acknowledged write of which no mark tells; keeps account of locks.
    fn tell_of_unmarked(&mut self, sent: &Recorded) {
        let sort = self.shared.sort(sent);
        match sort {
            Sort::Lock(true) if self.shared.is_mysql() => {
                self.locks = Some(self.locking(sent).is_some());
            }
            // A transaction unlocks them.
            Sort::Lock(_) | Sort::Bracket(true) => self.locks = None,
            _ => {}
        }
        let why = match sort {
            Sort::Write if self.locks == Some(false) => "locked",
            Sort::Write if self.shared.untransactional[sent.fingerprint as usize] => {
                "untransactional"
            }
            Sort::Change if sent.ends || !self.is_held_by_commit(sent) => "change",
            _ => return,
        };
        self.write_down(UNMARKED, why);
    }

    /// Writes down that a transaction has failed, which may be there after all, or a write without a mark. A line that
    /// cannot be written leaves a gap in the numbers, which whoever reads them refuses.
    fn write_down(&self, number: u64, why: &str) {
        if let Some(marks) = &self.shared.marks {
            let _ = marks.file.add_failure(self.client, number, why);
        }
    }

    /// Writes down the commit that was acknowledged, if there is one, and which transaction of the log it is.
    pub(super) fn tell(&mut self) -> io::Result<()> {
        match (&self.shared.marks, self.acknowledged.take()) {
            (Some(marks), Some(mark)) => marks.file.add(self.client, mark, &self.place),
            _ => Ok(()),
        }
    }
}
