//! A recorded load, sent again: each client has one of the log's sessions at a time, and keeps its times.

mod certificate;
mod client;
mod course;
mod marks;
mod order;
mod plans;
mod prepared;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

pub use certificate::Certificate;
use certificate::Counts;
use client::Client;
pub(crate) use marks::Marks;
use order::Order;

use super::sql::{Fence, WRITING};
use super::{Account, Catalogue, Workload};
use crate::driver::{Dialect, Driver, Fault, Kind};
use crate::recording::{
    Contents, Fingerprint, OTHER_STATEMENTS, Recorded, Recording, RecordingError, SessionReader,
};

/// Fingerprints with an account of their own: each takes a histogram of 0.3 MiB a worker.
const MOST_TYPES: usize = 64;
/// A type's name is as much of its fingerprint as fits a table.
const NAME_CHARS: usize = 60;

/// How a load is replayed.
#[derive(Debug, Clone)]
pub struct ReplayOptions {
    /// The database whose statements are sent; `None`: the one that has most.
    pub database: Option<String>,
    /// So many times as fast as the log; `None`: as fast as the order allows.
    pub speed: Option<f64>,
    /// How often each session is there.
    pub copies: usize,
    /// The part of the log that is replayed, in microseconds.
    pub from_us: u64,
    pub until_us: u64,
    /// The share of the sessions that are replayed.
    pub share: f64,
    pub only_reads: bool,
    /// Whether the server is asked for the plans of what was read.
    pub explain: bool,
    pub fence: Fence,
    /// How many times slower than the machine's the run's time passes.
    pub dilation: u32,
}

/// What all clients share.
struct Shared {
    recording: Arc<Recording>,
    options: ReplayOptions,
    database: usize,
    /// The type and the sort of each fingerprint.
    types: Vec<usize>,
    sorts: Vec<Sort>,
    /// Whether each fingerprint names a table whose rows no transaction holds.
    untransactional: Vec<bool>,
    connect_type: usize,
    /// The sessions of each client of a copy, in their order.
    lanes: Vec<Vec<usize>>,
    marks: Option<Marks>,
    /// One of each copy.
    orders: Vec<Order>,
    start: OnceLock<Instant>,
    counts: Vec<Mutex<Counts>>,
}

impl Shared {
    /// Microseconds of the load's own time since the first client began.
    fn now_us(&self) -> u64 {
        let elapsed = self.start.get_or_init(Instant::now).elapsed();
        u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX) / u64::from(self.options.dilation)
    }

    /// When a statement is due; 0 if it is as soon as the order allows.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn due_us(&self, recorded: &Recorded) -> u64 {
        let since_us = recorded.begin_us.saturating_sub(self.options.from_us);
        self.options
            .speed
            .map_or(0, |speed| (since_us as f64 / speed) as u64)
    }

    fn is_mysql(&self) -> bool {
        self.recording.contents.dialect() == Dialect::Mysql
    }

    /// The counts of one client's part.
    fn counts(&self, client: usize) -> MutexGuard<'_, Counts> {
        let part = &self.counts[client % self.counts.len()];
        part.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn all_counts(&self) -> Counts {
        let mut all = Counts::default();
        (0..self.counts.len()).for_each(|part| all.add(&self.counts(part)));
        all
    }

    fn text(&self, recorded: &Recorded) -> &str {
        &self.recording.contents.fingerprints[recorded.fingerprint as usize].text
    }

    fn sort(&self, recorded: &Recorded) -> Sort {
        self.sorts[recorded.fingerprint as usize]
    }

    /// Whether a statement may be explained: one that reads, whose fingerprint has an account of its own.
    fn explains(&self, recorded: &Recorded, type_index: usize) -> bool {
        self.options.explain
            && self.sort(recorded) == Sort::MereRead
            && type_index < self.types.len().min(MOST_TYPES)
            && !recorded.failed
            && recorded.sql.len() <= plans::LONGEST_BYTES
    }

    /// Why a statement is not sent; the brackets of transactions always are.
    fn leaves_out(&self, recorded: &Recorded) -> Option<&'static str> {
        let sort = self.sort(recorded);
        let text = || self.text(recorded).to_ascii_lowercase();
        let relaxes = || text().contains("synchronous_commit");
        if self.marks.is_some() && sort == Sort::Setting && relaxes() {
            return Some("it lets commits not wait, and each acknowledged one is to be a promise");
        }
        if matches!(sort, Sort::Bracket(_) | Sort::Commit | Sort::Setting) {
            return None;
        }
        if ![0, self.database].contains(&(recorded.database as usize)) {
            return Some("of another database");
        }
        if self.options.only_reads && sort != Sort::MereRead {
            return Some("no mere read, and only reads were asked for");
        }
        None
    }
}

/// What a statement is to its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    /// It enters a database.
    Use,
    Setting,
    /// It begins a transaction, or it ends one or a part of one.
    Bracket(bool),
    /// It ends one for good.
    Commit,
    /// It changes rows.
    Write,
    /// It changes data, and may end the transaction around it or be several statements.
    Change,
    /// It locks tables until they are unlocked, or unlocks them.
    Lock(bool),
    /// It gives up all statements that the session has prepared, or one.
    GiveUp(bool),
    /// It reads, and neither locks nor changes anything.
    MereRead,
    Other,
}

/// What makes or changes objects, or does what it likes.
const CHANGING: [&str; 12] = [
    "CREATE", "ALTER", "DROP", "TRUNCATE", "RENAME", "LOAD", "CALL", "DO", "EXECUTE", "COPY",
    "REFRESH", "XA",
];

impl Sort {
    fn of(print: &Fingerprint) -> Self {
        let text = print.text.to_ascii_uppercase();
        let words = || text.split(|letter: char| !letter.is_ascii_alphabetic());
        let locks = [" FOR ", " IN SHARE "];
        let several = text.trim_end_matches(';').contains(';');
        let is_change = |word: &str| WRITING.contains(&word) || CHANGING.contains(&word);
        match words().next().unwrap_or_default() {
            // Several in one text may be anything.
            _ if several && words().any(is_change) => Self::Change,
            _ if several => Self::Other,
            // Too many different ones for each to be known.
            _ if text.eq_ignore_ascii_case(OTHER_STATEMENTS) => Self::Change,
            "CREATE" | "DROP" if matches!(words().nth(1), Some("TEMP" | "TEMPORARY")) => {
                Self::Other
            }
            "LOCK" => Self::Lock(true),
            "UNLOCK" => Self::Lock(false),
            "DISCARD" | "DEALLOCATE" if words().any(|own| own == "ALL") => Self::GiveUp(true),
            "DEALLOCATE" => Self::GiveUp(false),
            first if CHANGING.contains(&first) => Self::Change,
            "USE" => Self::Use,
            "SET" => Self::Setting,
            "BEGIN" | "START" => Self::Bracket(true),
            "ROLLBACK" | "ABORT" | "SAVEPOINT" | "RELEASE" => Self::Bracket(false),
            "COMMIT" | "END" => Self::Commit,
            "EXPLAIN" | "FETCH" => Self::Other,
            // PostgreSQL makes a table so.
            "SELECT" if text.contains(" INTO ") && !text.contains(" INTO @") => Self::Change,
            _ if print.kind == Kind::Read && !locks.iter().any(|own| text.contains(own)) => {
                Self::MereRead
            }
            _ if print.kind == Kind::Write => Self::Write,
            _ => Self::Other,
        }
    }
}

/// The workload of a recorded load.
pub struct ReplayWorkload {
    catalogue: Catalogue,
    shared: Arc<Shared>,
}

impl ReplayWorkload {
    pub(crate) fn new(
        recording: Recording,
        options: ReplayOptions,
        marks: Option<Marks>,
    ) -> Result<Self, String> {
        let contents = &recording.contents;
        let names = || contents.databases.iter().map(|own| own.name.as_str());
        let database = match &options.database {
            None => contents.main_database(),
            Some(name) => names().position(|own| own == name).ok_or_else(|| {
                let known: Vec<_> = names().collect();
                format!(
                    "the load has no statement of the database {name:?}; it has: {}",
                    known.join(", ")
                )
            })?,
        };
        let (catalogue, types, connect_type) = catalogue(contents);
        let sessions: Vec<_> = (0..contents.sessions.len())
            .filter(|&number| takes(contents, &options, number))
            .collect();
        if sessions.is_empty() {
            return Err("no session of the load lies in the part that is asked for".into());
        }
        let lanes = contents.lanes(sessions.iter().copied());
        let sorts = contents.fingerprints.iter().map(Sort::of).collect();
        let orders: Vec<_> = (0..options.copies).map(|_| Order::default()).collect();
        let recording = Arc::new(recording);
        if sessions.len() < recording.contents.sessions.len() || options.from_us > 0 {
            pass_left_out(&recording, &options, &orders).map_err(|error| error.to_string())?;
        }
        let parts = lanes.len() * options.copies;
        let shared = Shared {
            database,
            types,
            sorts,
            untransactional: untransactional(&recording.contents, marks.as_ref()),
            connect_type,
            counts: (0..parts.clamp(1, 16)).map(|_| Mutex::default()).collect(),
            lanes,
            marks,
            orders,
            start: OnceLock::new(),
            recording,
            options,
        };
        Ok(Self {
            catalogue,
            shared: Arc::new(shared),
        })
    }

    /// Makes the tables of ours that clients of the MySQL family lock with the log's.
    pub(crate) fn make_own_tables(&self, driver: &impl Driver) -> Result<(), Fault> {
        let shared = &self.shared;
        let locks = shared.is_mysql() && shared.sorts.contains(&Sort::Lock(true));
        let marks = shared.marks.as_ref().filter(|_| locks);
        marks.map_or(Ok(()), |marks| marks.make_own(driver, self.clients()))
    }

    /// Connections of all copies.
    #[must_use]
    pub fn clients(&self) -> usize {
        self.shared.lanes.len() * self.shared.options.copies
    }
}

/// Which fingerprints name one of the tables whose rows no transaction holds.
fn untransactional(contents: &Contents, marks: Option<&Marks>) -> Vec<bool> {
    let tables = marks.map_or(&[][..], |marks| &marks.untransactional);
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let names_one = |print: &Fingerprint| {
        let mut words = print.text.split(|letter| !is_name(letter));
        words.any(|word| tables.iter().any(|table| table.eq_ignore_ascii_case(word)))
    };
    contents.fingerprints.iter().map(names_one).collect()
}

/// Whether a session is replayed.
fn takes(contents: &Contents, options: &ReplayOptions, number: usize) -> bool {
    let session = &contents.sessions[number];
    // Spread evenly over the sessions, whatever their number (Weyl's sequence of the golden ratio).
    let place = (number as f64 * 0.618_033_988_749_895).fract();
    !session.blocks.is_empty()
        && session.begin_us < options.until_us
        && session.end_us >= options.from_us
        && place < options.share
}

/// The commits of what is not replayed are taken as done.
fn pass_left_out(
    recording: &Arc<Recording>,
    options: &ReplayOptions,
    orders: &[Order],
) -> Result<(), RecordingError> {
    for number in 0..recording.contents.sessions.len() {
        let taken = takes(&recording.contents, options, number);
        let mut reader = SessionReader::new(Arc::clone(recording), number);
        while let Some(recorded) = reader.next()? {
            if taken && recorded.begin_us >= options.from_us {
                break;
            }
            if let Some(commit) = recorded.commit {
                for order in orders {
                    order.done(commit);
                }
            }
        }
    }
    Ok(())
}

/// A type each for the fingerprints that took most, and one for the rest of each kind.
fn catalogue(contents: &Contents) -> (Catalogue, Vec<usize>, usize) {
    let prints = &contents.fingerprints;
    let mut order: Vec<_> = (0..prints.len()).collect();
    order.sort_by_key(|&number| Reverse((prints[number].total_us, prints[number].count)));
    let mut catalogue = Catalogue::default();
    let mut types = vec![0; prints.len()];
    for &number in order.iter().take(MOST_TYPES) {
        let print = &prints[number];
        let mut name: String = print.text.chars().take(NAME_CHARS).collect();
        let is_known = |name: &str| catalogue.types().iter().any(|known| known.name == *name);
        if name.len() < print.text.len() || is_known(&name) {
            name = format!("{name}… #{number}");
        }
        types[number] = catalogue.types().len();
        catalogue.add(name, print.kind, []);
    }
    let kinds = [Kind::Read, Kind::Write, Kind::Other];
    let names = ["other reads", "other writes", "others"];
    let first_other = catalogue.types().len();
    for (kind, name) in kinds.into_iter().zip(names) {
        catalogue.add(name, kind, []);
    }
    for &number in order.iter().skip(MOST_TYPES) {
        let place = kinds.iter().position(|kind| *kind == prints[number].kind);
        types[number] = first_other + place.unwrap_or(2);
    }
    let connect_type = catalogue.types().len();
    catalogue.add("connect", Kind::Other, []);
    catalogue.shows_used_types_only = true;
    (catalogue, types, connect_type)
}

impl Workload for ReplayWorkload {
    type Script = Client;

    fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn script(&self, client: usize) -> Client {
        Client::new(Arc::clone(&self.shared), client)
    }

    fn account(&self) -> Option<Account> {
        let certificate = self.shared.all_counts().certificate(&self.shared);
        Some(Account::Replay(Box::new(certificate)))
    }

    fn explain(&self, driver: &impl Driver, tell: impl FnMut((String, String))) {
        if self.shared.options.explain {
            let (counts, types) = (self.shared.all_counts(), self.catalogue.types());
            // Without a connection there are no further plans.
            let _ = plans::explain(driver, counts, types, tell);
        }
    }
}
