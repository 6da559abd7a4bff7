//! What is written comes back, through a real mount, whatever else happens to the disk.

use std::fs::File;
use std::os::unix::fs::FileExt;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::fs::{FallocateFlags, SeekFrom, fallocate};

use crate::served::{self, Served, serve};

const SIZE_BYTES: usize = 3 * 1024 * 1024 + 512;
const SIZE: &str = "3146240";
const ROUNDS: u32 = 100;

/// A disk beside a plain array that has had the same done to it.
struct Twin {
    served: Served,
    file: File,
    bytes: Vec<u8>,
    random: Xoshiro256PlusPlus,
}

impl Twin {
    fn new(served: Served, bytes: Vec<u8>, seed: u64) -> Self {
        Self {
            file: served.open(),
            served,
            bytes,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }

    /// Any bytes of the disk, aligned to nothing; sometimes many.
    fn range(&mut self) -> (usize, usize) {
        let at_most = if self.random.random_bool(0.1) {
            600_000
        } else {
            20_000
        };
        let from = self.random.random_range(0..self.bytes.len());
        let length = self
            .random
            .random_range(1..=at_most)
            .min(self.bytes.len() - from);
        (from, from + length)
    }

    fn write(&mut self) {
        let (from, end) = self.range();
        let fill = self.random.random::<u8>() % 4;
        for byte in &mut self.bytes[from..end] {
            // Runs of zeroes are dealt with apart.
            *byte = if fill == 0 { 0 } else { self.random.random() };
        }
        self.file
            .write_all_at(&self.bytes[from..end], from as u64)
            .expect("written");
    }

    fn discard(&mut self) {
        let (from, end) = self.range();
        let mode = if self.random.random() {
            FallocateFlags::PUNCH_HOLE
        } else {
            FallocateFlags::ZERO_RANGE
        };
        fallocate(
            &self.file,
            mode | FallocateFlags::KEEP_SIZE,
            from as u64,
            (end - from) as u64,
        )
        .expect("discarded");
        self.bytes[from..end].fill(0);
    }

    fn compare(&mut self) {
        let (from, end) = self.range();
        let mut found = vec![1; end - from];
        self.file
            .read_exact_at(&mut found, from as u64)
            .expect("read");
        assert!(found == self.bytes[from..end], "{from} to {end} differ");
    }

    fn compare_all(&self) {
        let mut found = vec![1; self.bytes.len()];
        self.file.read_exact_at(&mut found, 0).expect("read");
        let differs = found
            .iter()
            .zip(&self.bytes)
            .position(|(one, other)| one != other);
        assert_eq!(differs, None);
    }

    fn work(&mut self, rounds: u32) {
        for _ in 0..rounds {
            match self.random.random_range(0..10) {
                0..5 => self.write(),
                5..7 => self.discard(),
                _ => self.compare(),
            }
        }
        self.compare_all();
    }

    fn snapshot(&self, name: &str) -> Vec<u8> {
        self.served.control(&["snapshot", name]);
        self.bytes.clone()
    }

    fn restore(&mut self, name: &str, bytes: &[u8]) {
        self.served.control(&["restore", name]);
        self.bytes.copy_from_slice(bytes);
        self.compare_all();
    }

    /// Two snapshots, restored in turn with work between, and forgotten.
    fn live(&mut self) {
        self.work(ROUNDS);
        let first = self.snapshot("first");
        self.work(ROUNDS);
        let second = self.snapshot("second");
        self.work(ROUNDS);
        self.restore("first", &first);
        self.work(ROUNDS / 10);
        self.restore("second", &second);
        self.served.control(&["forget", "second"]);
        self.work(ROUNDS / 10);
        self.restore("first", &first);
        self.restore("first", &first);
        self.served.control(&["forget", "first"]);
        fallocate(
            &self.file,
            FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE,
            0,
            SIZE_BYTES as u64,
        )
        .expect("discarded");
        self.bytes.fill(0);
        self.compare_all();
        let said = self.served.try_control(&["restore", "first"]);
        assert!(
            said.expect_err("it is gone")
                .contains("there is no snapshot `first`")
        );
        let held = self.settled_bytes();
        assert_eq!(held, 0, "everything was given back");
    }

    /// What is held once a restored-over state has been let go, which happens behind the answer.
    fn settled_bytes(&self) -> u64 {
        let begun = std::time::Instant::now();
        loop {
            let statistics = self.served.statistics();
            let held = statistics["contents_bytes"].as_u64().expect("a number");
            if held == 0 || begun.elapsed() > served::PATIENCE {
                return held;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}

#[test]
fn in_memory() {
    let served = serve("null", &["--size", SIZE]);
    Twin::new(served, vec![0; SIZE_BYTES], 1).live();
}

#[test]
fn in_a_file() {
    let folder = served::folder();
    let path = folder.path().join("contents");
    let contents = path.to_str().expect("plain").to_owned();
    let served = served::serve_in(folder, "null", &["--size", SIZE, "--contents", &contents]);
    assert!(
        !path.exists(),
        "scratch has no name: no kill leaves it behind"
    );
    Twin::new(served, vec![0; SIZE_BYTES], 2).live();
}

#[test]
fn over_an_image() {
    let folder = served::folder();
    let path = folder.path().join("image");
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    // It ends within a block, and well before the disk.
    let image: Vec<u8> = (0..2 * 1024 * 1024 + 777)
        .map(|_| random.random())
        .collect();
    std::fs::write(&path, &image).expect("an image");
    let name = path.to_str().expect("plain").to_owned();
    let served = served::serve_in(folder, "null", &["--size", SIZE, "--image", &name]);
    let mut bytes = image.clone();
    bytes.resize(SIZE_BYTES, 0);
    let mut twin = Twin::new(served, bytes, 3);
    twin.compare_all();
    assert_eq!(twin.served.statistics()["contents_bytes"], 0);
    twin.live();
    assert!(
        std::fs::read(&path).expect("still there") == image,
        "it is only read"
    );
}

#[test]
fn a_disk_ends_where_it_ends() {
    let served = serve("null", &["--size", "1 MiB"]);
    let file = served.open();
    assert_eq!(file.metadata().expect("a file").len(), 1 << 20);
    let mut block = [1; 4096];
    assert_eq!(file.read_at(&mut block, 1 << 20).expect("an end"), 0);
    assert_eq!(
        file.read_at(&mut block, (1 << 20) - 512).expect("a rest"),
        512
    );
    let error = file.write_at(&block, (1 << 20) - 512).expect_err("no room");
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull, "{error}");
    let error = file.set_len(1 << 21).expect_err("a disk does not grow");
    assert_eq!(
        error.kind(),
        std::io::ErrorKind::PermissionDenied,
        "{error}"
    );
    let error = fallocate(&file, FallocateFlags::empty(), 0, 4096).expect_err("nothing to reserve");
    assert_eq!(error, rustix::io::Errno::OPNOTSUPP);
    assert_eq!(served.statistics()["write"]["errors"], 1);
    assert_eq!(served.statistics()["errors"], 1);
}

#[test]
fn a_full_memory_fails_writes_and_nothing_else() {
    let served = serve("null", &["--size", "16 MiB", "--memory-limit", "1 MiB"]);
    let file = served.open();
    let block = vec![7; 64 * 1024];
    let mut written = 0;
    let error = loop {
        match file.write_all_at(&block, written) {
            Ok(()) => written += block.len() as u64,
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull, "{error}");
    assert_eq!(written, 1 << 20);
    let mut found = vec![0; 1 << 20];
    file.read_exact_at(&mut found, 0)
        .expect("what is there is there");
    assert!(found.iter().all(|byte| *byte == 7));
    file.write_all_at(&block, 0)
        .expect("in place there is room");
    served.control(&["snapshot", "full"]);
    file.write_all_at(&block, 0)
        .expect_err("a shared block needs another");
    served.control(&["forget", "full"]);
    fallocate(
        &file,
        FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE,
        0,
        64 * 1024,
    )
    .expect("room is made");
    file.write_all_at(&block, 8 << 20).expect("and used");
    assert_eq!(served.statistics()["contents_bytes"], 1 << 20);
}

/// What a restore let go is room for what is written next.
#[test]
fn a_disk_filled_twice_can_be_put_back_and_filled_again() {
    let served = serve("null", &["--size", "48 MiB", "--memory-limit", "32 MiB"]);
    let file = served.open();
    let half = vec![7; 16 << 20];
    file.write_all_at(&half, 0).expect("half of the room");
    served.control(&["snapshot", "half"]);
    for _ in 0..4 {
        file.write_all_at(&half, 16 << 20).expect("the other half");
        served.control(&["restore", "half"]);
    }
    assert_eq!(served.statistics()["errors"], 0);
}

#[test]
fn a_disk_larger_than_memory_is_told() {
    for (limit, warned) in [("64 KiB", true), ("1 MiB", false)] {
        let folder = served::folder();
        let arguments = ["--size", "1 MiB", "--memory-limit", limit];
        let mut command = served::command("null", folder.path(), &arguments);
        command.stderr(std::process::Stdio::piped());
        let mut served = served::start(folder, command);
        served.control(&["detach"]);
        assert_eq!(served.ended(), Some(0));
        let mut said = String::new();
        let mut stderr = served.process.stderr.take().expect("piped");
        std::io::Read::read_to_string(&mut stderr, &mut said).expect("words");
        assert_eq!(
            said.contains("1048576 bytes, but its contents may take only 65536"),
            warned,
            "{said}"
        );
    }
}

/// So that copying a thin disk takes time in proportion to what is on it.
#[test]
fn holes_are_told() {
    let served = serve("null", &["--size", "64 GiB"]);
    let file = served.open();
    let far = 40 << 30;
    file.write_all_at(&[1; 8192], far).expect("written");
    let seek = |to| rustix::fs::seek(&file, to);
    assert_eq!(seek(SeekFrom::Data(0)), Ok(far));
    assert_eq!(seek(SeekFrom::Data(far + 5000)), Ok(far + 5000));
    assert_eq!(seek(SeekFrom::Hole(far)), Ok(far + 8192));
    assert_eq!(seek(SeekFrom::Hole(7)), Ok(7));
    let nothing = Err(rustix::io::Errno::NXIO);
    assert_eq!(seek(SeekFrom::Data(far + 8192)), nothing);
    assert_eq!(seek(SeekFrom::Hole(64 << 30)), nothing);
}

#[test]
fn two_at_once_are_two() {
    let (one, other) = (
        serve("null", &["--size", "1 MiB"]),
        serve("null", &["--size", "1 MiB"]),
    );
    one.open().write_all_at(&[1; 4096], 0).expect("written");
    other.open().write_all_at(&[2; 4096], 0).expect("written");
    for (served, byte) in [(&one, 1), (&other, 2)] {
        let mut block = [0; 4096];
        served.open().read_exact_at(&mut block, 0).expect("read");
        assert_eq!(block, [byte; 4096]);
    }
}
