//! Virtual disks as directories: real mounts, and all that a server does to files.

#[allow(dead_code, reason = "shared with the tests of disks as files")]
#[path = "../disk/served.rs"]
mod served;

mod bytes;
mod faults;
mod names;
mod room;
mod snapshots;
mod times;
mod trouble;
mod users;

use served::Served;

/// A directory on a disk that takes no time.
fn directory(arguments: &[&str]) -> Served {
    served::serve("null", &[&["--as", "directory"], arguments].concat())
}

/// A directory on a disk whose every command takes so long, one at a time.
fn slow_directory(command_us: u32, arguments: &[&str]) -> Served {
    served::slow(command_us, &[&["--as", "directory"], arguments].concat())
}

/// What was asked of the disk: reads, writes and flushes since the last time.
fn requests(served: &Served) -> [u64; 3] {
    let statistics = served.statistics();
    served.control(&["reset"]);
    ["read", "write", "flush"].map(|kind| statistics[kind]["requests"].as_u64().expect(kind))
}
