//! Ends of all kinds: nothing hangs, and nothing stays mounted.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::mount::{UnmountFlags, unmount};
use rustix::process::Signal;

use crate::served::{self, FuseForAll, PATIENCE, Served, serve, slow};

/// Reads and writes until it fails; how it failed.
fn until_failure(file: &File, stop: &AtomicBool) -> Option<io::Error> {
    let mut block = [1; 4096];
    for number in 0_u64.. {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        let at = number % 64 * 4096;
        let outcome = if number % 2 == 0 {
            file.write_all_at(&block, at)
        } else {
            file.read_exact_at(&mut block, at)
        };
        if let Err(error) = outcome {
            return Some(error);
        }
    }
    None
}

/// Does something to a disk at which eight threads work: each gets an error, soon.
fn fails_under_load(served: &Served, what: impl FnOnce(&Served)) {
    let file = served.open();
    let stop = AtomicBool::new(false);
    std::thread::scope(|threads| {
        let workers: Vec<_> = (0..8)
            .map(|_| threads.spawn(|| until_failure(&file, &stop)))
            .collect();
        std::thread::sleep(Duration::from_millis(100));
        let begun = Instant::now();
        what(served);
        while begun.elapsed() < PATIENCE && workers.iter().any(|worker| !worker.is_finished()) {
            std::thread::sleep(Duration::from_millis(5));
        }
        stop.store(true, Ordering::Relaxed);
        for worker in workers {
            let error = worker
                .join()
                .expect("a worker")
                .expect("an error, not the end of patience");
            let known = [
                rustix::io::Errno::IO,
                rustix::io::Errno::NOTCONN,
                rustix::io::Errno::CONNABORTED,
            ];
            let errno = rustix::io::Errno::from_io_error(&error).expect("the system's");
            assert!(known.contains(&errno), "{error}");
        }
    });
}

#[test]
fn a_detach_under_load_fails_what_is_under_way() {
    let mut served = slow(20_000, &[]);
    fails_under_load(&served, |served| {
        assert_eq!(served.control(&["detach"])["ok"], true);
    });
    assert_eq!(served.ended(), Some(0));
    served.check_clean();
}

#[test]
fn signals_end_it_in_order() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let mut served = serve("null", &[]);
        served.signal(signal);
        assert_eq!(served.ended(), Some(0), "{signal:?}");
        served.check_clean();
    }
}

#[test]
fn an_interrupt_under_load() {
    let mut served = slow(20_000, &[]);
    fails_under_load(&served, |served| served.signal(Signal::INT));
    assert_eq!(served.ended(), Some(0));
    served.check_clean();
}

#[test]
fn a_kill_ends_in_errors_and_can_be_cleared_away() {
    let mut served = slow(20_000, &[]);
    fails_under_load(&served, |served| served.signal(Signal::KILL));
    assert_eq!(served.ended(), None);
    let error = File::open(served.mount().join("disk")).expect_err("it is dead");
    assert_eq!(
        rustix::io::Errno::from_io_error(&error),
        Some(rustix::io::Errno::NOTCONN)
    );
    let said = served::command("null", served.folder.path(), &[])
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&said.stderr);
    assert!(said.contains("umount -l"), "{said}");
    unmount(served.mount(), UnmountFlags::empty()).expect("unmounted");
    // The old socket lies there still, and does not stand in the way.
    assert!(served.socket().exists());
    let again = served::command("null", served.folder.path(), &[]);
    let folder = std::mem::replace(&mut served.folder, served::folder());
    let mut again = served::start(folder, again);
    again.control(&["detach"]);
    assert_eq!(again.ended(), Some(0));
    again.check_clean();
}

#[test]
fn somebody_unmounts() {
    let mut served = serve("null", &[]);
    unmount(served.mount(), UnmountFlags::empty()).expect("unmounted");
    assert_eq!(served.ended(), Some(0));
    served.check_clean();
}

#[test]
fn an_open_file_does_not_keep_it() {
    let mut served = serve("null", &["--size", "1 MiB"]);
    let file = served.open();
    served.control(&["detach"]);
    assert_eq!(served.ended(), Some(0));
    served.check_clean();
    file.read_at(&mut [0; 512], 0).expect_err("it is gone");
}

#[test]
fn bytes_do_not_change_under_requests() {
    let served = slow(300_000, &[]);
    served.control(&["snapshot", "before"]);
    let file = served.open();
    std::thread::scope(|threads| {
        threads.spawn(|| file.write_all_at(&[1; 4096], 0).expect("written"));
        let begun = Instant::now();
        while served.statistics()["write"]["requests"] == 0 {
            assert!(begun.elapsed() < PATIENCE, "the write never arrives");
        }
        let said = served
            .try_control(&["restore", "before"])
            .expect_err("in use");
        assert!(said.contains("unmount"), "{said}");
    });
    served.control(&["restore", "before"]);
}

/// A mount needs no privileges where fusermount3 is installed.
#[test]
fn an_ordinary_user_has_a_disk_too() {
    const NOBODY: u32 = 65_534;
    let _open = FuseForAll::new();
    let folder = served::folder();
    let program = folder.path().join("diskproof-disk");
    // The built one may lie where nobody may go.
    std::fs::copy(served::program(), &program).expect("a copy");
    for path in [folder.path(), &folder.path().join("mount")] {
        std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).expect("given");
    }
    let mut command = std::process::Command::new(&program);
    command
        .args(["serve", "null", "--size", "1 MiB", "--mount"])
        .arg(folder.path().join("mount"))
        .arg("--socket")
        .arg(folder.path().join("socket"))
        .current_dir("/")
        .uid(NOBODY)
        .gid(NOBODY);
    let mut served = served::start(folder, command);
    let disk = served.mount().join("disk");
    let copied = std::process::Command::new("dd")
        .args([
            "if=/dev/zero",
            "bs=4096",
            "count=16",
            "conv=notrunc,fsync",
            "status=none",
        ])
        .arg(format!("of={}", disk.display()))
        .current_dir("/")
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .expect("dd starts");
    assert!(
        copied.status.success(),
        "{}",
        String::from_utf8_lossy(&copied.stderr)
    );
    assert_eq!(served.statistics()["write"]["requests"], 16);
    served.control(&["detach"]);
    assert_eq!(served.ended(), Some(0));
    served.check_clean();
}
