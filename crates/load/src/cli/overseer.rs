//! The process beside one that runs a script. It passes on what that says, without commands to a
//! terminal; it ends it when it gives no sign of life; and a crash ends in words.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use rustix::process::{Pid, Signal, kill_process, set_parent_process_death_signal};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::kernel_fence;
use super::stop::{Stop, exit};
use crate::engine::Failure;
use crate::plain::Plain;
use crate::target::Target;

/// What the process beside it is called.
const NAME: &str = "diskproof-load: script";

/// A sign of life on standard error, which no script can print.
const SIGN: u8 = 0;
/// How long after its own limit the other process is given up.
const GRACE_S: u64 = 30;
const TICK: Duration = Duration::from_secs(1);

/// The C stack that callbacks of Lua's functions fill, before Lua's own stack is full.
const STACK_BYTES: u64 = 64 << 20;

/// The most of a line that waits for its end.
const LINE_BYTES: usize = 8 << 10;

/// Whether this is the process that runs the script.
pub(super) fn is_overseen() -> bool {
    std::env::args_os()
        .next()
        .is_some_and(|name| name == OsStr::new(NAME))
}

/// Ends this process with the other one.
pub(super) fn follow() {
    // Without it, the other one would outlive us only if we are killed.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
}

/// Says that the script's limit is still watched.
pub(super) fn give_sign() {
    if is_overseen() {
        let _ = io::stderr().write_all(&[SIGN]);
    }
}

/// Runs this program's arguments in another process, which may compute for so long, and ends as it ends.
pub(super) fn oversee(limit: Duration, url: &str, json: bool) -> Result<(), Stop> {
    let starting =
        |error: io::Error| Failure::internal(format!("starting a process for the script: {error}"));
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(starting)?;
    let temporary = match Target::parse(url, None) {
        Ok(Target::Sqlite(file)) => Some(kernel_fence::folder(&file.path)),
        _ => None,
    };
    let mut child = start(temporary).map_err(starting)?;
    let pid = Pid::from_child(&child);
    thread::spawn(move || {
        for signal in signals.forever() {
            let signal = if signal == SIGINT {
                Signal::INT
            } else {
                Signal::TERM
            };
            let _ = kill_process(pid, signal);
        }
    });
    let silent_s = Arc::new(AtomicU64::new(0));
    let seconds = Arc::clone(&silent_s);
    let longest_s = limit.as_secs().saturating_add(GRACE_S);
    thread::spawn(move || {
        // Its own seconds: both may have been stopped meanwhile.
        while seconds.fetch_add(1, Ordering::Relaxed) <= longest_s {
            thread::sleep(TICK);
        }
        let _ = kill_process(pid, Signal::KILL);
    });
    let last = pass_on(&mut child, &silent_s);
    let status = child.wait().map_err(starting)?;
    match status.code() {
        Some(0) => Ok(()),
        Some(code) => exit(code),
        None => {
            let gave_up = silent_s.load(Ordering::Relaxed) > longest_s;
            let words = crash(status, gave_up, &last);
            Err(Stop::Failed(Failure::new("script", words)).said(json))
        }
    }
}

/// This program's arguments for another process, around which a fence can close.
pub(super) fn again() -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg0(NAME).args(std::env::args_os().skip(1));
    command
}

fn start(temporary: Option<PathBuf>) -> io::Result<Child> {
    let (_, most) = getrlimit(Resource::RLIMIT_STACK)?;
    setrlimit(Resource::RLIMIT_STACK, most.min(STACK_BYTES), most)?;
    let mut command = again();
    command
        .env("RUST_MIN_STACK", STACK_BYTES.to_string())
        .stderr(Stdio::piped());
    if let Some(folder) = temporary {
        // SQLite's other places lie outside of the fence.
        command.env("SQLITE_TMPDIR", folder);
    }
    command.spawn()
}

/// Passes on what the process says; returns its last words.
fn pass_on(child: &mut Child, silent_s: &AtomicU64) -> Vec<u8> {
    let Some(mut said) = child.stderr.take() else {
        return Vec::new();
    };
    let mut out = Plain(io::stderr());
    let mut line = Vec::new();
    let mut last = Vec::new();
    let mut bytes = [0; LINE_BYTES];
    loop {
        let count = match said.read(&mut bytes) {
            Ok(0) => break,
            Err(error) if error.kind() != io::ErrorKind::Interrupted => break,
            Err(_) => continue,
            Ok(count) => count,
        };
        silent_s.store(0, Ordering::Relaxed);
        line.extend(bytes[..count].iter().filter(|&&byte| byte != SIGN));
        let whole = line
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |at| at + 1);
        let whole = if line.len() > LINE_BYTES {
            line.len()
        } else {
            whole
        };
        if whole > 0 {
            last = line.drain(..whole).collect();
            // Nobody may read it any more.
            let _ = out.write_all(&last);
        }
    }
    let _ = out.write_all(&line);
    last.extend(line);
    last
}

/// Why the process ended by a signal.
fn crash(status: ExitStatus, gave_up: bool, last: &[u8]) -> String {
    let last = String::from_utf8_lossy(last);
    if gave_up {
        return "the script's process gave no sign of life after the script's limit, and was killed".to_owned();
    }
    if last.contains("memory allocation") {
        return "the script's process had no more memory than it may have for its clients (--script-memory, of Lua); \
                what the script keeps, or the replies to it, are too large"
            .to_owned();
    }
    if last.contains("overflowed its stack") {
        return "the script called functions inside of each other until the stack was full"
            .to_owned();
    }
    let signal = status.signal().unwrap_or_default();
    let hint = if signal == 9 {
        ", perhaps for want of memory"
    } else {
        ""
    };
    format!(
        "the script ended its process by signal {signal}{hint}; nothing else was harmed, and nothing is measured"
    )
}
