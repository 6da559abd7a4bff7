//! The operating system's account of this process.

use nix::sys::resource::{Resource, UsageWho, getrlimit, getrusage, setrlimit};
use nix::sys::time::TimeValLike;

use crate::report::ClientCost;

/// CPU time of all threads so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cpu {
    user_us: i64,
    system_us: i64,
}

impl Cpu {
    pub(super) fn now() -> Self {
        getrusage(UsageWho::RUSAGE_SELF).map_or_else(
            |_| Self::default(),
            |usage| Self {
                user_us: usage.user_time().num_microseconds(),
                system_us: usage.system_time().num_microseconds(),
            },
        )
    }

    /// The cost between two instants; the delays are filled in by who knows them.
    pub(super) fn cost_since(self, start: Self) -> ClientCost {
        ClientCost {
            cpu_user_s: (self.user_us - start.user_us) as f64 / 1e6,
            cpu_system_s: (self.system_us - start.system_us) as f64 / 1e6,
            max_rss_bytes: max_rss_bytes(),
            ..ClientCost::default()
        }
    }
}

/// The most memory that the process has held: `VmHWM` of `/proc/self/status` (proc(5)). `ru_maxrss`
/// outlives exec, so it would be that of the parent process if that was larger.
fn max_rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = peak.and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}

/// How long the calling thread has been ready to run and had no core, since it started: the second
/// number of `/proc/thread-self/schedstat` (Linux, Documentation/scheduler/sched-stats). `None` on
/// a kernel that keeps no such account.
pub(super) fn waited_for_cpu_ns() -> Option<u64> {
    let account = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    account.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// File descriptors beside the clients' and the workers': standard streams, administration.
const OTHER_FILES: usize = 64;
/// A worker's event queue, its second handle for registering, what wakes it, and its alarm.
const FILES_PER_WORKER: usize = 4;

/// Raises the limit of open files so that every client gets its own; the error is the number
/// that is needed and the limit.
pub fn allow_open_files(
    clients: usize,
    files_per_client: usize,
    workers: usize,
) -> Result<(), (u64, u64)> {
    let wanted = (clients * files_per_client + workers * FILES_PER_WORKER + OTHER_FILES) as u64;
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else {
        return Ok(());
    };
    if soft >= wanted {
        return Ok(());
    }
    setrlimit(Resource::RLIMIT_NOFILE, wanted.min(hard), hard).map_err(|_| (wanted, soft))?;
    if hard < wanted {
        return Err((wanted, hard));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_counts_workers_and_every_file_of_a_client() {
        let many = 1 << 40;
        let (wanted, limit) = allow_open_files(many, 3, 5).unwrap_err();
        assert_eq!(wanted, 3 * (1 << 40) + 20 + 64);
        assert!(limit < wanted);
    }
}
