//! The ledger on a real database: what is in it is held against the file of acknowledgements.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use diskproof_load::driver::{Admin, Driver};
use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;
use tempfile::TempDir;

use crate::program::events;

const FIRST_BALANCE: i64 = 1_000_000;

/// By client, the numbers of its transactions, in their order.
pub(crate) type Numbers = BTreeMap<u64, Vec<u64>>;

/// A ledger in a database, with a place for acknowledgements.
pub(crate) struct Ledger<'a, D> {
    pub(crate) url: String,
    driver: &'a D,
    accounts: u32,
    directory: TempDir,
}

impl<'a, D: Driver> Ledger<'a, D> {
    /// Makes the tables.
    pub(crate) fn prepare(url: &str, driver: &'a D, accounts: u32) -> Self {
        let ledger = Self {
            url: url.to_owned(),
            driver,
            accounts,
            directory: tempfile::tempdir().expect("a temporary directory"),
        };
        succeed(&mut ledger.command("prepare", &[]));
        ledger
    }

    /// Makes them anew.
    pub(crate) fn again(&self) {
        succeed(&mut cleanup(&self.url));
        succeed(&mut self.command("prepare", &[]));
        let _ = fs::remove_file(self.file());
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.directory.path().join("acknowledged")
    }

    /// `run` or `prepare`, of this ledger.
    pub(crate) fn command(&self, verb: &str, arguments: &[&str]) -> Command {
        let mut command = program(verb);
        command.args(["--url", &self.url, "--accounts", &self.accounts.to_string()]);
        command.args(arguments);
        command
    }

    /// `run` with acknowledgements.
    pub(crate) fn acknowledged(&self, arguments: &[&str]) -> Command {
        let mut command = self.command("run", arguments);
        command
            .arg("--json")
            .arg("--acknowledgements")
            .arg(self.file());
        command
    }

    /// A run that must be good, with acknowledgements; its summary.
    pub(crate) fn run(&self, arguments: &[&str]) -> Value {
        let output = succeed(&mut self.acknowledged(arguments));
        let summary = events(&output).pop().expect("a last line");
        assert_eq!(summary["event"], "summary", "{summary}");
        summary
    }

    pub(crate) fn admin(&self) -> Box<dyn Admin> {
        self.driver.admin().expect("a connection")
    }

    pub(crate) fn execute(&self, sql: &str) {
        self.admin().execute(sql).expect(sql);
    }

    /// What the file says; all that must hold of it alone is checked.
    pub(crate) fn acknowledgements(&self) -> Numbers {
        let text = fs::read_to_string(self.file()).expect("the file");
        assert!(text.is_empty() || text.ends_with('\n'), "lines are whole");
        let mut last_us: BTreeMap<u64, u64> = BTreeMap::new();
        let mut found = Numbers::new();
        for line in text.lines() {
            let [client, number, at_us] = numbers(line)[..] else {
                panic!("{line}")
            };
            let last_us = last_us.entry(client).or_default();
            assert!(*last_us <= at_us && at_us <= monotonic_us(), "{line}");
            *last_us = at_us;
            found.entry(client).or_default().push(number);
        }
        for (client, numbers) in &found {
            assert!(
                numbers.iter().copied().eq(1..=numbers.len() as u64),
                "{client}"
            );
        }
        found
    }

    /// The numbers in the database, or what contradicts itself there.
    pub(crate) fn check(&self) -> Result<Numbers, String> {
        let mut admin = self.admin();
        let mut rows = |sql: &str| -> Vec<Vec<i64>> {
            let rows = admin.query_column(sql).expect(sql);
            rows.into_iter()
                .map(|row| numbers(&row.expect("a row")))
                .collect()
        };
        let entries = rows(
            "SELECT CONCAT(client, ' ', number, ' ', source, ' ', target, ' ', amount) FROM ledger_entries",
        );
        let accounts = rows("SELECT CONCAT(id, ' ', balance, ' ', transfers) FROM ledger_accounts");
        let mut expected: BTreeMap<i64, (i64, i64)> = (1..=self.accounts.into())
            .map(|id| (id, (FIRST_BALANCE, 0)))
            .collect();
        let mut found: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        for entry in &entries {
            let [client, number, source, target, amount] = entry[..] else {
                panic!("{entry:?}")
            };
            for (account, change) in [(source, -amount), (target, amount)] {
                let (balance, transfers) = expected.get_mut(&account).expect("one of the accounts");
                *balance += change;
                *transfers += 1;
            }
            let numbers = found.entry(client.unsigned_abs()).or_default();
            if !numbers.insert(number.unsigned_abs()) {
                return Err(format!("{client} {number} is there twice"));
            }
        }
        let held: BTreeMap<i64, (i64, i64)> = accounts
            .iter()
            .map(|row| (row[0], (row[1], row[2])))
            .collect();
        if held != expected {
            return Err(format!(
                "the accounts hold {held:?}, the entries make {expected:?}"
            ));
        }
        let gap = found.iter().find(|(_, numbers)| {
            let last = numbers.last().copied();
            last != Some(numbers.len() as u64)
        });
        match gap {
            Some((client, numbers)) => Err(format!("client {client} has gaps: {numbers:?}")),
            None => Ok(found
                .into_iter()
                .map(|(client, numbers)| (client, numbers.into_iter().collect()))
                .collect()),
        }
    }

    /// As `check`, where sessions of clients that are gone may still come to their end.
    fn check_when_quiet(&self, acknowledged: &Numbers) -> Numbers {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            match self.check() {
                Ok(found) if acknowledged.keys().all(|client| found.contains_key(client)) => {
                    return found;
                }
                wrong if Instant::now() > deadline => panic!("{wrong:?}"),
                _ => thread::sleep(Duration::from_millis(100)),
            }
        }
    }

    /// Begins a run of four clients, and returns when so many transactions have been acknowledged.
    pub(crate) fn begin(&self, transactions: usize, arguments: &[&str]) -> Child {
        let all = [&["--clients", "4", "--seconds", "60"], arguments].concat();
        let mut run = self.acknowledged(&all);
        let run = run.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = run.spawn().expect("the program starts");
        self.follow(&mut child, transactions);
        child
    }

    /// Waits until so many transactions have been acknowledged.
    pub(crate) fn follow(&self, child: &mut Child, transactions: usize) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while self.lines() < transactions {
            let ended = child.try_wait().expect("a child");
            assert!(ended.is_none() && Instant::now() < deadline, "{ended:?}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Transactions acknowledged so far.
    pub(crate) fn lines(&self) -> usize {
        let text = fs::read_to_string(self.file()).unwrap_or_default();
        text.lines().count()
    }
}

/// Every commit is acknowledged and there, whatever is under way when the time is up.
pub(crate) fn check_a_good_run<D: Driver>(url: &str, driver: &D) {
    let ledger = Ledger::prepare(url, driver, 20);
    for protocol in ["text", "prepared"] {
        let begun_us = monotonic_us();
        let how = [
            "--clients",
            "8",
            "--warm-up",
            "0.05",
            "--transactions",
            "300",
        ];
        let how = [&how[..], &["--protocol", protocol]].concat();
        let summary = ledger.run(&how);
        let acknowledged = ledger.acknowledgements();
        assert_eq!(ledger.check(), Ok(acknowledged.clone()), "{protocol}");
        let all: usize = acknowledged.values().map(Vec::len).sum();
        assert_eq!(summary["transactions"], 300, "{summary}");
        assert!(all >= 300, "the warm-up's are there, too: {all}");
        assert_eq!(summary["failed_transactions"], 0, "{summary}");
        assert_eq!(summary["stopped_clients"], 0, "{summary}");
        let first = fs::read_to_string(ledger.file()).expect("the file");
        let first_us: u64 = numbers(first.lines().next().expect("a line"))[2];
        assert!(first_us > begun_us, "{first_us} {begun_us}");
        ledger.again();
    }
    // Without the file it is a load like others, as often as one likes.
    for _ in 0..2 {
        succeed(&mut ledger.command("run", &["--transactions", "20", "--clients", "2"]));
    }
    assert!(!ledger.file().exists());
    let refused = ledger
        .acknowledged(&[])
        .output()
        .expect("the program starts");
    assert_refused(&refused, "entries of an earlier run");
    assert!(!ledger.file().exists(), "the next run wants its name");
    succeed(&mut cleanup(url));
    let gone = ledger
        .acknowledged(&[])
        .output()
        .expect("the program starts");
    assert_refused(&gone, "prepare ledger --accounts 20 --filler-bytes 100");
}

/// The program is killed: what it wrote stands, and the database has at most one more of each client.
pub(crate) fn check_a_killed_program<D: Driver>(url: &str, driver: &D) {
    let ledger = Ledger::prepare(url, driver, 20);
    let mut child = ledger.begin(100, &[]);
    child.kill().expect("killed");
    child.wait().expect("gone");
    let acknowledged = ledger.acknowledgements();
    let found = ledger.check_when_quiet(&acknowledged);
    for (client, numbers) in &found {
        let known = acknowledged.get(client).map_or(0, Vec::len);
        assert!(
            numbers.len() == known || numbers.len() == known + 1,
            "client {client}: {known} acknowledged, {} there",
            numbers.len()
        );
    }
}

/// All clients have ended: the summary, where there is one, and a last line.
pub(crate) fn assert_stopped(output: &Output) -> Option<Value> {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let mut events = events(output);
    let last = events.pop().expect("a last line");
    assert_eq!(
        (&last["event"], &last["code"]),
        (&"failed".into(), &"stopped".into()),
        "{last}"
    );
    events.pop().filter(|event| event["event"] == "summary")
}

/// Refused because of the tables.
pub(crate) fn assert_refused(output: &Output, words: &str) {
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{complaint}");
    assert!(complaint.contains(words), "{complaint}");
}

pub(crate) fn cleanup(url: &str) -> Command {
    let mut command = program("cleanup");
    command.args(["--url", url]);
    command
}

pub(crate) fn succeed(command: &mut Command) -> Output {
    let output = command.output().expect("the program starts");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {complaint}");
    output
}

fn program(verb: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_diskproof-load"));
    command.args([verb, "ledger"]);
    command
}

fn numbers<T: std::str::FromStr>(line: &str) -> Vec<T> {
    let parse = |word: &str| word.parse().ok().expect("a number");
    line.split(' ').map(parse).collect()
}

fn monotonic_us() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.unsigned_abs() * 1_000_000 + now.tv_nsec.unsigned_abs() / 1000
}
