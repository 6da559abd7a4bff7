//! One run of the program against something hostile, and what it must never do.

use std::fs;
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// It must never be sent in clear text.
pub(crate) const PASSWORD: &str = "Geheim-4711-wort";

/// The most memory that the program may take.
const MOST_RSS_KIB: u64 = 300 << 10;

/// The seeds of a test: a few, or as many as the environment asks for, divided by what a case costs.
pub(crate) fn seeds(few: u64, cost: u64) -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let first = number("HOSTILE_SEED").unwrap_or(0);
    let count = number("PROPTEST_CASES").map_or(few, |cases| (cases / cost).max(1));
    first..first + count
}

/// Does something with each seed, a few at a time: most cases wait. Failures name their seeds.
pub(crate) fn each(seeds: std::ops::Range<u64>, at_once: usize, test: impl Fn(u64) + Sync) {
    let next = AtomicU64::new(seeds.start);
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        return;
                    }
                    test(seed);
                }
            });
        }
    });
}

/// How a run ended.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: Vec<u8>,
    pub(crate) took: Duration,
    /// It did not end by itself within its limit.
    pub(crate) interrupted: bool,
    /// Signals did not end it either.
    killed: bool,
    rss_kib: u64,
}

/// How long the program may take to end after signals.
const MERCY: Duration = Duration::from_secs(5);

/// Runs the program to its end. At the limit signals end it.
pub(crate) fn run(arguments: &[String], limit: Duration) -> Ended {
    run_with(arguments, Stdio::null(), b"", limit)
}

/// The same, with something on standard input.
pub(crate) fn run_with(arguments: &[String], input: Stdio, bytes: &[u8], limit: Duration) -> Ended {
    let begun = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_diskproof-load"))
        .args(arguments)
        .env("DISKPROOF_PASSWORD", PASSWORD)
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let out = reader(child.stdout.take().expect("a pipe"));
    let err = reader(child.stderr.take().expect("a pipe"));
    if let Some(mut input) = child.stdin.take() {
        // A program that has read enough closes it.
        let _ = input.write_all(bytes);
    }
    let (mut rss_kib, mut interrupted, mut killed) = (0, false, false);
    let status = loop {
        rss_kib = rss_kib.max(peak_kib(&child));
        if let Some(status) = child.try_wait().expect("a child") {
            break Some(status);
        }
        if begun.elapsed() > limit + MERCY {
            child.kill().expect("a child");
            child.wait().expect("a child");
            killed = true;
            break None;
        }
        if begun.elapsed() > limit {
            // The second one ends it at once.
            interrupted = true;
            let pid = Pid::from_raw(child.id().cast_signed()).expect("a pid");
            let _ = kill_process(pid, Signal::INT);
            thread::sleep(Duration::from_millis(100));
        }
        thread::sleep(Duration::from_millis(5));
    };
    Ended {
        code: status.and_then(|status| status.code()),
        out: out.join().expect("what it wrote"),
        err: err.join().expect("what it wrote"),
        took: begun.elapsed(),
        interrupted,
        killed,
        rss_kib,
    }
}

fn reader(mut pipe: impl std::io::Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).expect("a pipe");
        bytes
    })
}

fn peak_kib(child: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    number.unwrap_or(0)
}

impl Ended {
    pub(crate) fn text(&self) -> String {
        format!(
            "code {:?} after {:.1} s\n--- stdout\n{}\n--- stderr\n{}",
            self.code,
            self.took.as_secs_f64(),
            String::from_utf8_lossy(&self.out).escape_debug(),
            String::from_utf8_lossy(&self.err).escape_debug(),
        )
    }

    /// What holds for every run, whatever it met.
    pub(crate) fn check(&self, case: &str) {
        self.check_quiet(case);
        let has_words = !self.err.is_empty() || self.interrupted;
        assert!(self.code == Some(0) || has_words, "{case}: {}", self.text());
    }

    /// The same for a run that may fail without a word, because nobody listens.
    pub(crate) fn check_quiet(&self, case: &str) {
        let text = self.text();
        let ended = matches!(self.code, Some(0..=2)) || self.interrupted;
        assert!(ended && !self.killed, "{case}: {text}");
        assert!(!text.contains("panicked"), "{case}: {text}");
        assert!(
            self.rss_kib < MOST_RSS_KIB,
            "{case}: {} KiB; {text}",
            self.rss_kib
        );
        for written in [&self.out, &self.err] {
            let written = std::str::from_utf8(written).expect("UTF-8");
            let obeyed = written.chars().find(|&c| is_obeyed(c));
            assert_eq!(obeyed, None, "{case}: {text}");
            assert!(!written.contains(PASSWORD), "{case}: {text}");
        }
    }
}

/// Whether a terminal would take the character for a command, or turn the text around it.
fn is_obeyed(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
