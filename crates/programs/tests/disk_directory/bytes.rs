//! Bytes of files come back, whichever way they are written: through the kernel's cache, past it, or
//! both at once.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use nix::libc::O_DIRECT;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rusqlite::Connection;
use rustix::fs::{FallocateFlags, fallocate};

use crate::directory;

const FILE_BYTES: u64 = 400_000;
const STEPS: u32 = 800;

fn open(path: &Path, flags: i32) -> File {
    File::options()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .custom_flags(flags)
        .open(path)
        .expect("it opens")
}

/// A file through two doors, and a vector that has had the same done to it.
struct Twin {
    doors: [File; 2],
    bytes: Vec<u8>,
    random: Xoshiro256PlusPlus,
}

impl Twin {
    fn range(&mut self) -> (u64, usize) {
        let offset = self.random.random_range(0..FILE_BYTES);
        (offset, self.random.random_range(1..60_000))
    }

    fn step(&mut self) {
        let door = self.random.random_range(0..2);
        let (offset, length) = self.range();
        let from = usize::try_from(offset).expect("small");
        match self.random.random_range(0..12) {
            0..5 => {
                let data: Vec<u8> = (0..length).map(|_| self.random.random()).collect();
                self.doors[door]
                    .write_all_at(&data, offset)
                    .expect("written");
                self.bytes.resize(self.bytes.len().max(from + length), 0);
                self.bytes[from..from + length].copy_from_slice(&data);
            }
            5 => {
                self.doors[door].set_len(offset).expect("cut or grown");
                self.bytes.resize(from, 0);
            }
            6 => self.allocate(door, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE),
            7 => self.allocate(door, FallocateFlags::ZERO_RANGE),
            8 => self.allocate(door, FallocateFlags::empty()),
            9 => self.doors[door].sync_all().expect("synced"),
            _ => self.compare(door, offset, length),
        }
    }

    fn allocate(&mut self, door: usize, mode: FallocateFlags) {
        let (offset, length) = self.range();
        fallocate(&self.doors[door], mode, offset, length as u64).expect("allocated");
        let from = usize::try_from(offset).expect("small");
        if !mode.contains(FallocateFlags::KEEP_SIZE) {
            self.bytes.resize(self.bytes.len().max(from + length), 0);
        }
        let size = self.bytes.len();
        if !mode.is_empty() {
            self.bytes[from.min(size)..(from + length).min(size)].fill(0);
        }
    }

    fn compare(&self, door: usize, offset: u64, length: usize) {
        let from = usize::try_from(offset)
            .expect("small")
            .min(self.bytes.len());
        let expected = &self.bytes[from..(from + length).min(self.bytes.len())];
        let mut found = vec![0; expected.len()];
        self.doors[door]
            .read_exact_at(&mut found, from as u64)
            .expect("read");
        assert!(
            found == expected,
            "{length} bytes at {offset} through door {door}"
        );
        let size = self.doors[door].metadata().expect("open").len();
        assert_eq!(size, self.bytes.len() as u64);
    }
}

/// The doors' flags, and a seed.
fn work(flags: [i32; 2], seed: u64) {
    let served = directory(&["--size", "64 MiB"]);
    let path = served.mount().join("file");
    let mut twin = Twin {
        doors: flags.map(|flags| open(&path, flags)),
        bytes: Vec::new(),
        random: Xoshiro256PlusPlus::seed_from_u64(seed),
    };
    for _ in 0..STEPS {
        twin.step();
    }
    drop(twin.doors);
    assert!(fs::read(&path).expect("read") == twin.bytes);
}

#[test]
fn through_the_cache() {
    work([0, 0], 1);
}

#[test]
fn past_the_cache() {
    work([O_DIRECT, O_DIRECT], 2);
}

#[test]
fn both_ways_at_once() {
    work([0, O_DIRECT], 3);
}

#[test]
fn a_database_that_maps_and_locks_its_files_works() {
    let served = directory(&["--size", "64 MiB"]);
    let path = served.mount().join("database");
    let connect = || {
        let connection = Connection::open(&path).expect("it opens");
        connection
            .busy_timeout(crate::served::PATIENCE)
            .expect("set");
        connection
    };
    let (one, other) = (connect(), connect());
    let mode: String = one
        .query_row("pragma journal_mode = wal", [], |row| row.get(0))
        .expect("a mode");
    assert_eq!(mode, "wal", "which maps a file that both share");
    for connection in [&one, &other] {
        connection
            .pragma_update(None, "mmap_size", 1 << 24)
            .expect("set");
    }
    one.execute_batch("create table t (a integer primary key, b blob)")
        .expect("made");
    for number in 0..200 {
        let connection = if number % 2 == 0 { &one } else { &other };
        connection
            .execute("insert into t values (?1, randomblob(3000))", [number])
            .expect("inserted");
    }
    let begun = one.unchecked_transaction().expect("begun");
    begun
        .execute("delete from t where a < 100", [])
        .expect("deleted");
    other.busy_timeout(std::time::Duration::ZERO).expect("set");
    let locked = other
        .execute("delete from t", [])
        .expect_err("it is locked");
    assert_eq!(
        locked.sqlite_error_code(),
        Some(rusqlite::ErrorCode::DatabaseBusy)
    );
    begun.commit().expect("committed");
    let count = |connection: &Connection| -> u32 {
        connection
            .query_row("select count(*) from t", [], |row| row.get(0))
            .expect("a count")
    };
    assert_eq!((count(&one), count(&other)), (100, 100));
    let checked: String = other
        .query_row("pragma integrity_check", [], |row| row.get(0))
        .expect("a word");
    assert_eq!(checked, "ok");
}
