//! What every session begins with, also when the one before was lost.

use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::server::{Database, database_or_skip};

const ROWS_LOADED: u64 = 99;
const ROWS_PER_COMMIT: u64 = 100;

#[test]
fn a_session_made_again_commits_only_when_it_is_told_to() {
    let database = database_or_skip!(Database::shared());
    let load = Running(begin_load(&database.socket_url("root")));
    wait_until("commits", || committed(&database) > ROWS_LOADED);
    let lost = newest_session(&database);
    database.sql(&format!("KILL {lost}"));
    wait_until("comes again", || newest_session(&database) > lost);
    let before = committed(&database);
    for _ in 0..20 {
        let by_commits = committed(&database) - ROWS_LOADED;
        assert_eq!(by_commits % ROWS_PER_COMMIT, 0, "{by_commits} rows");
    }
    wait_until("commits again", || committed(&database) > before);
    let summary = load.interrupted();
    assert_eq!(summary["reconnects"], 1, "{summary}");
}

/// A load that writes for longer than the test takes.
fn begin_load(url: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_diskproof-load"))
        .args(["run", "slap", "--url", url, "--json"])
        .args(["--load-type", "write", "--engine", "InnoDB"])
        .args(["--commit", "100", "--queries", "100000000"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// Rows that others see.
fn committed(database: &Database) -> u64 {
    let there = "SELECT count(*) FROM information_schema.tables \
                 WHERE table_schema = database() AND table_name = 'slap_t1'";
    if database.sql(there) == "0" {
        return 0;
    }
    let count = database.sql("SELECT count(*) FROM slap_t1");
    count.parse().expect("a number")
}

/// The client's: it connects after the session that makes the table.
fn newest_session(database: &Database) -> u64 {
    let newest = "SELECT coalesce(max(id), 0) FROM information_schema.processlist \
                  WHERE db = database() AND id <> connection_id()";
    database.sql(newest).parse().expect("a number")
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < deadline, "never {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Ended with the test, also where that fails.
struct Running(Child);

impl Running {
    /// Ends it as a user would; its summary.
    fn interrupted(mut self) -> serde_json::Value {
        let pid = rustix::process::Pid::from_child(&self.0);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it is there");
        let mut stdout = self.0.stdout.take().expect("it is piped");
        let told = std::io::read_to_string(&mut stdout).expect("text");
        let last = told.lines().last().expect("a last line");
        serde_json::from_str(last).expect("JSON")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
