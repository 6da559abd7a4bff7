//! Events become a recording: one pass, in bounded memory.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::io::{self, Write};

use postcard::{ser_flavors::Size, serialize_with_flavor};

use super::fingerprint::{Effect, Nature, Reader};
use super::{Anonymiser, Contents, Database, Fingerprint, Known, MARK, Recorded, Session};
use crate::driver::{Dialect, Kind};
use crate::log::{self, Bound, Commit, Event, LONGEST_BYTES, Sink, Statement, What};

/// A block's bytes before it is packed.
const BLOCK_BYTES: usize = 32 << 10;
/// The blocks of all sessions together that are not written yet.
const MOST_OPEN_BYTES: usize = 48 << 20;
/// Fingerprints beyond these are one: a log whose statements are all different must not fill the memory.
const MOST_FINGERPRINTS: usize = 10_000;
pub(crate) const OTHER_STATEMENTS: &str = "(other statements)";
/// A clock that goes back farther has been set, as at the end of summer time.
const LONGEST_STEP_BACK_US: i64 = 600_000_000;
/// Ends of commits that are remembered: no statement takes longer than so many commits.
const MOST_COMMITS: usize = 1 << 20;

/// A session whose log is being read.
#[derive(Default)]
struct Open {
    number: usize,
    block: Vec<u8>,
    /// The last statement, which later events may still complete.
    last: Option<Recorded>,
    end_us: u64,
    database: u32,
    is_in_transaction: bool,
    is_without_autocommit: bool,
    has_written: bool,
    /// The keys of what was prepared, and not executed since.
    prepared: HashSet<Option<u64>>,
}

impl Open {
    /// Takes up what a statement does to the transaction; true if it commits what was written.
    fn take_effect(&mut self, effect: Effect, after: u64, recorded: &mut Recorded) -> bool {
        let mut commits = false;
        match effect {
            Effect::Begins => {
                self.is_in_transaction = true;
                self.has_written = false;
                recorded.ends = false;
            }
            Effect::Commits | Effect::RollsBack => {
                commits = effect == Effect::Commits && self.has_written;
                self.is_in_transaction = self.is_without_autocommit;
                self.has_written = false;
                recorded.ends = true;
            }
            Effect::Autocommit(on) => {
                self.is_without_autocommit = !on;
                self.is_in_transaction = !on;
                recorded.ends = true;
            }
            Effect::Writes if !recorded.failed => {
                if !self.has_written {
                    recorded.after_commits = Some(after);
                }
                commits = !self.is_in_transaction;
                self.has_written = !commits;
            }
            _ => {}
        }
        commits
    }
}

/// Takes up the events of a log and writes the recording.
pub(crate) struct Recorder<W: Write> {
    out: W,
    /// Bytes written.
    place: u64,
    reader: Reader,
    anonymiser: Option<Anonymiser>,
    start_us: Option<i64>,
    /// The latest instant, and what is added to the log's clock since it went back.
    latest_us: i64,
    shift_us: i64,
    open: HashMap<u64, Open>,
    open_bytes: usize,
    known: HashMap<Vec<u8>, u32>,
    database_numbers: HashMap<String, u32>,
    /// Ends of the last commits, in their order, and how many came before these.
    commits: VecDeque<u64>,
    commits_before: u64,
    /// What a first reading notes for the binary log, and what the second one knows from it.
    pub(crate) noted: Option<Vec<Commit>>,
    pub(crate) order: Option<Known>,
    pub(crate) contents: Contents,
    /// How often for which reason something could not be read, and the first line.
    unread: BTreeMap<&'static str, (u64, u64)>,
}

impl<W: Write> Recorder<W> {
    /// With `anonymises`, values become others of the same form.
    pub(crate) fn new(mut out: W, dialect: Dialect, anonymises: bool) -> io::Result<Self> {
        out.write_all(MARK)?;
        let name = match dialect {
            Dialect::Postgres => "postgresql",
            _ => "mysql",
        };
        Ok(Self {
            out,
            place: MARK.len() as u64,
            reader: Reader::new(dialect),
            anonymiser: anonymises.then(|| Anonymiser::new(dialect)),
            start_us: None,
            latest_us: i64::MIN,
            shift_us: 0,
            open: HashMap::new(),
            open_bytes: 0,
            known: HashMap::new(),
            database_numbers: HashMap::from([(String::new(), 0)]),
            commits: VecDeque::new(),
            commits_before: 0,
            noted: None,
            order: None,
            contents: Contents {
                dialect: name.to_owned(),
                has_bound: true,
                has_fresh: true,
                databases: vec![Database::default()],
                ..Contents::default()
            },
            unread: BTreeMap::new(),
        })
    }

    /// Writes what is open and the table of contents.
    pub(crate) fn finish(mut self, format: &str) -> io::Result<Contents> {
        let keys: Vec<_> = self.open.keys().copied().collect();
        keys.into_iter().try_for_each(|key| self.close(key))?;
        let contents = &mut self.contents;
        contents.ordered = self.order.as_ref().map(|order| order.found);
        contents.sessions.sort_by_key(|session| session.begin_us);
        format.clone_into(&mut contents.format);
        let has_statements = |number: &usize| !contents.sessions[*number].blocks.is_empty();
        let used = (0..contents.sessions.len()).filter(has_statements);
        contents.most_at_once = contents.lanes(used).len();
        let unread = self.unread.iter();
        let unread = unread.map(|(&reason, &(count, line))| (reason.to_owned(), count, line));
        contents.unread = unread.collect();
        let text = serde_json::to_vec(&self.contents).map_err(io::Error::other)?;
        self.out.write_all(&text)?;
        self.out.write_all(&(text.len() as u64).to_le_bytes())?;
        self.out.write_all(MARK)?;
        self.out.flush()?;
        Ok(self.contents)
    }

    /// The session's entry, begun if it is new.
    fn session(&mut self, key: u64, begin_us: u64) -> &mut Open {
        self.open.entry(key).or_insert_with(|| {
            self.contents.sessions.push(Session {
                begin_us,
                end_us: begin_us,
                blocks: Vec::new(),
            });
            Open {
                number: self.contents.sessions.len() - 1,
                end_us: begin_us,
                ..Open::default()
            }
        })
    }

    /// Ends a session.
    fn close(&mut self, key: u64) -> io::Result<()> {
        self.settle(key)?;
        self.write_block(key)?;
        if let Some(session) = self.open.remove(&key) {
            self.contents.sessions[session.number].end_us = session.end_us;
        }
        Ok(())
    }

    /// Puts the session's last statement into its block: nothing can complete it any more.
    fn settle(&mut self, key: u64) -> io::Result<()> {
        let Some(session) = self.open.get_mut(&key) else {
            return Ok(());
        };
        let Some(last) = session.last.take() else {
            return Ok(());
        };
        session.end_us = session.end_us.max(last.end_us());
        let before = session.block.len();
        let block = std::mem::take(&mut session.block);
        session.block = postcard::to_extend(&(&last, &last.bound, last.is_fresh), block)
            .map_err(io::Error::other)?;
        self.open_bytes += session.block.len() - before;
        let is_full = session.block.len() >= BLOCK_BYTES;
        let fingerprint = &mut self.contents.fingerprints[last.fingerprint as usize];
        fingerprint.count += 1;
        let duration_us = last.duration_us.unwrap_or(0);
        fingerprint.total_us = fingerprint.total_us.saturating_add(duration_us);
        self.contents.databases[last.database as usize].statements += 1;
        if is_full {
            self.write_block(key)?;
        }
        if self.open_bytes > MOST_OPEN_BYTES {
            let keys: Vec<_> = self.open.keys().copied().collect();
            keys.into_iter().try_for_each(|key| self.write_block(key))?;
        }
        Ok(())
    }

    fn write_block(&mut self, key: u64) -> io::Result<()> {
        let session = self.open.get_mut(&key);
        let Some(session) = session.filter(|session| !session.block.is_empty()) else {
            return Ok(());
        };
        let block = std::mem::take(&mut session.block);
        self.open_bytes -= block.len();
        let packed = lz4_flex::compress_prepend_size(&block);
        self.out.write_all(&packed)?;
        let length = u32::try_from(packed.len()).map_err(io::Error::other)?;
        let blocks = &mut self.contents.sessions[session.number].blocks;
        blocks.push((self.place, length));
        self.place += packed.len() as u64;
        Ok(())
    }

    fn fingerprint(&mut self, kind: Kind) -> u32 {
        let is_full = self.known.len() + 1 >= MOST_FINGERPRINTS;
        let (text, kind) = if is_full && !self.known.contains_key(&self.reader.text) {
            (OTHER_STATEMENTS.as_bytes(), Kind::Other)
        } else {
            (&self.reader.text[..], kind)
        };
        if let Some(&known) = self.known.get(text) {
            return known;
        }
        let number = u32::try_from(self.known.len()).unwrap_or(0);
        self.contents.fingerprints.push(Fingerprint {
            text: String::from_utf8_lossy(text).into_owned(),
            kind,
            count: 0,
            total_us: 0,
        });
        self.known.insert(text.to_vec(), number);
        number
    }

    fn database(&mut self, name: &[u8]) -> u32 {
        let name = String::from_utf8_lossy(name);
        if let Some(&known) = self.database_numbers.get(&*name) {
            return known;
        }
        let number = u32::try_from(self.contents.databases.len()).unwrap_or(0);
        let (name, statements) = (name.into_owned(), 0);
        self.database_numbers.insert(name.clone(), number);
        self.contents.databases.push(Database { name, statements });
        number
    }

    /// How many commits had ended by this instant.
    fn commits_until(&self, us: u64) -> u64 {
        self.commits_before + self.commits.partition_point(|&end_us| end_us <= us) as u64
    }

    /// Takes up a commit that ended now; returns its number.
    fn commit(&mut self, end_us: u64) -> u64 {
        // The log is in the order of ends, but for what its clock blurs.
        let end_us = end_us.max(self.commits.back().copied().unwrap_or(0));
        if self.commits.len() == MOST_COMMITS {
            self.commits.pop_front();
            self.commits_before += 1;
        }
        self.commits.push_back(end_us);
        self.commits_before + self.commits.len() as u64 - 1
    }

    fn statement(
        &mut self,
        (key, line): (u64, u64),
        statement: Statement,
        end_us: u64,
        second: i64,
    ) -> io::Result<()> {
        if statement.sql.len() >= LONGEST_BYTES {
            self.unread(log::TOO_LONG, line);
            return Ok(());
        }
        let nature = self.reader.read(&statement.sql);
        if nature.lacks_values {
            self.unread(log::WITHOUT_VALUES, line);
            return Ok(());
        }
        if nature.copies {
            self.unread("COPY from a client, whose rows are not replayed", line);
            return Ok(());
        }
        let fingerprint = self.fingerprint(nature.kind);
        let begin_us = end_us.saturating_sub(statement.duration_us.unwrap_or(0));
        let (mut sql, mut bound) = (statement.sql, statement.bound);
        let was_bound = bound.is_some();
        if let Some(anonymiser) = &self.anonymiser {
            sql = anonymiser.replace(&sql);
            let prepared = bound.map(|own| anonymiser.replace(&own.sql));
            let dialect = self.contents.dialect();
            bound = prepared.and_then(|own| Bound::read(&own, &sql, dialect));
        }
        let bytes = serialize_with_flavor(&bound, Size::default()).map_err(io::Error::other)?;
        bound.take_if(|_| sql.len() + bytes > LONGEST_BYTES);
        if was_bound && bound.is_none() {
            self.unread(log::AS_TEXT, line);
        }
        let database = statement.database.as_deref();
        let database = database.map(|name| self.database(name));
        let Nature { effect, .. } = nature;
        let after = self.commits_until(begin_us);
        let session = self.session(key, begin_us);
        // A second message about the same statement: it failed, or its time came with another one.
        if statement.is_further
            && let Some(last) = &mut session.last
            && last.duration_us.is_none()
            && last.sql == sql
            && !last.failed
        {
            last.failed |= statement.failed;
            last.duration_us = statement.duration_us;
            self.contents.has_durations |= statement.duration_us.is_some();
            return Ok(());
        }
        // A session's statements follow one another, whatever a clock says that jumped or is coarse.
        let last_end_us = session.last.as_ref().map(Recorded::end_us);
        let begin_us = begin_us.max(last_end_us.unwrap_or(session.end_us));
        let mut recorded = Recorded {
            begin_us,
            duration_us: statement.duration_us,
            fingerprint,
            database: database.unwrap_or(session.database),
            failed: statement.failed,
            rows: statement.rows,
            affected: statement.affected,
            ends: !session.is_in_transaction,
            is_fresh: session.prepared.remove(&statement.key),
            ..Recorded::default()
        };
        session.database = recorded.database;
        let commits = session.take_effect(effect, after, &mut recorded);
        (recorded.sql, recorded.bound) = (sql, bound);
        let ended_us = recorded.end_us();
        if commits {
            recorded.commit = Some(self.commit(ended_us));
            if let Some(noted) = &mut self.noted {
                noted.push((key, second));
            }
        }
        if let Some(order) = &self.order {
            order.give(&mut recorded);
        }
        self.settle(key)?;
        self.contents.statements += 1;
        self.contents.has_durations |= recorded.duration_us.is_some();
        self.contents.length_us = self.contents.length_us.max(ended_us);
        if let Some(session) = self.open.get_mut(&key) {
            session.last = Some(recorded);
        }
        Ok(())
    }
}

impl<W: Write> Sink for Recorder<W> {
    fn take(&mut self, event: Event) -> io::Result<()> {
        let early_us = match &event.what {
            What::Statement(statement) => statement.duration_us.unwrap_or(0).cast_signed(),
            _ => 0,
        };
        let mut at_us = event.at_us.saturating_add(self.shift_us);
        if self.start_us.is_some() && at_us.saturating_add(LONGEST_STEP_BACK_US) < self.latest_us {
            self.shift_us += self.latest_us - at_us;
            at_us = self.latest_us;
            self.unread("the time by which the clock went back", event.line);
        }
        self.latest_us = at_us.max(self.latest_us);
        let start_us = *self.start_us.get_or_insert(at_us - early_us);
        let now_us = u64::try_from(at_us - start_us).unwrap_or(0);
        self.contents.length_us = self.contents.length_us.max(now_us);
        let key = event.session;
        // The second in which it began. A clock of whole seconds has it already.
        let is_fine = event.step_us < 1_000_000;
        let second = (event.at_us - if is_fine { early_us } else { 0 }).div_euclid(1_000_000);
        match event.what {
            What::Statement(said) => self.statement((key, event.line), said, now_us, second),
            What::Connect => {
                self.close(key)?;
                self.session(key, now_us);
                Ok(())
            }
            What::Quit => {
                if let Some(session) = self.open.get_mut(&key) {
                    session.end_us = session.end_us.max(now_us);
                }
                self.close(key)
            }
            What::Took { us } => {
                let last = self.open.get_mut(&key).and_then(|open| open.last.as_mut());
                if let Some(last) = last.filter(|last| last.duration_us.is_none()) {
                    last.duration_us = Some(us);
                    self.contents.has_durations = true;
                }
                Ok(())
            }
            What::Prepared(prepared) => {
                let known = &mut self.session(key, now_us).prepared;
                if known.len() < MOST_FINGERPRINTS {
                    known.insert(Some(prepared));
                }
                Ok(())
            }
        }
    }

    fn unread(&mut self, reason: &'static str, line: u64) {
        self.unread.entry(reason).or_insert((0, line)).0 += 1;
    }
}
