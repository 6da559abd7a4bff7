//! Contents against a plain array, without a kernel between.

use std::sync::mpsc::{Receiver, Sender, channel};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

/// Four leaves and a bit, and a bit of a block.
const SIZE: usize = (4 * 512 + 3) * BLOCK_BYTES + 512;

/// Waits until what was given up is freed.
fn let_free(contents: &Contents) {
    let patience = Duration::from_secs(10);
    let nothing: Result<(), ()> = contents.reaper.try_until_free(patience, || Err(()));
    nothing.expect_err("it only waits");
}

struct Twin {
    contents: Contents,
    bytes: Vec<u8>,
    kept: BTreeMap<String, Vec<u8>>,
    random: Xoshiro256PlusPlus,
}

impl Twin {
    fn new(store: Store, image: Option<Image>, bytes: Vec<u8>, seed: u64) -> Self {
        Self {
            contents: Contents::new(SIZE as u64, store, image),
            bytes,
            kept: BTreeMap::new(),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }

    fn range(&mut self) -> (usize, usize) {
        let at_most = match self.random.random_range(0..20) {
            0 => SIZE,
            1..4 => 500_000,
            _ => 10_000,
        };
        let from = self.random.random_range(0..SIZE);
        (
            from,
            (from + self.random.random_range(0..=at_most)).min(SIZE),
        )
    }

    fn step(&mut self) {
        let (from, end) = self.range();
        match self.random.random_range(0..100) {
            0..45 => {
                let byte = self.random.random::<u8>() % 3;
                self.bytes[from..end].fill(byte);
                self.contents
                    .write(from as u64, &self.bytes[from..end])
                    .expect("written");
            }
            45..65 => {
                self.bytes[from..end].fill(0);
                self.contents
                    .discard(from as u64, (end - from) as u64)
                    .expect("discarded");
            }
            65..70 => self.snapshot(),
            70..75 => self.restore(),
            75..78 => self.forget(),
            _ => self.compare(from, end),
        }
    }

    fn snapshot(&mut self) {
        let name = self.random.random_range(0..4).to_string();
        self.contents.snapshot(&name).expect("kept");
        self.kept.insert(name, self.bytes.clone());
    }

    fn restore(&mut self) {
        let name = self.random.random_range(0..4).to_string();
        let Some(kept) = self.kept.get(&name) else {
            assert!(self.contents.restore(&name).is_err());
            return;
        };
        self.contents.restore(&name).expect("restored");
        self.bytes.clone_from(kept);
    }

    fn forget(&mut self) {
        let name = self.random.random_range(0..4).to_string();
        let known = self.kept.remove(&name).is_some();
        assert_eq!(self.contents.forget(&name).is_ok(), known);
    }

    fn compare(&self, from: usize, end: usize) {
        let mut found = vec![9; end - from];
        self.contents.read(from as u64, &mut found).expect("read");
        assert!(found == self.bytes[from..end], "{from} to {end}");
    }

    /// What is called a hole is zero, and all of the disk is either.
    fn check_holes(&self) {
        let mut at = 0;
        while at < SIZE as u64 {
            let hole = self.contents.next_hole(at);
            let data = self.contents.next_data(hole).unwrap_or(SIZE as u64);
            assert!(
                hole >= at && data >= hole && (data > at),
                "{at} {hole} {data}"
            );
            let place = |at: u64| usize::try_from(at).expect("within the disk");
            let zeroes = &self.bytes[place(hole)..place(data)];
            assert!(zeroes.iter().all(|byte| *byte == 0), "{hole} to {data}");
            at = data;
        }
    }

    fn live(mut self, steps: u32) {
        for _ in 0..steps {
            self.step();
        }
        self.compare(0, SIZE);
        self.check_holes();
        assert_eq!(
            self.contents.snapshots(),
            self.kept.keys().collect::<Vec<_>>()
        );
        for name in self.kept.keys() {
            self.contents.forget(name).expect("known");
        }
        self.bytes.fill(0);
        self.contents.discard(0, SIZE as u64).expect("discarded");
        self.compare(0, SIZE);
        let_free(&self.contents);
        assert_eq!(self.contents.held_bytes(), 0);
        assert_eq!(self.contents.next_data(0), None);
    }
}

fn image(length: usize) -> (tempfile::NamedTempFile, Vec<u8>) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    let mut bytes: Vec<u8> = (0..length).map(|_| random.random()).collect();
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), &bytes).expect("an image");
    bytes.resize(SIZE, 0);
    (file, bytes)
}

#[test]
fn in_memory() {
    for seed in 0..4 {
        Twin::new(Store::memory(u64::MAX), None, vec![0; SIZE], seed).live(300);
    }
}

#[test]
fn in_a_file() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let store = Store::file(&folder.path().join("contents"), u64::MAX).expect("a file");
    Twin::new(store, None, vec![0; SIZE], 5).live(150);
}

#[test]
fn over_images() {
    for length in [0, 1, 4096, 2 * 512 * BLOCK_BYTES + 1000, SIZE] {
        let (file, bytes) = image(length);
        let image = Image::open(file.path(), u64::MAX).expect("opened");
        Twin::new(Store::memory(u64::MAX), Some(image), bytes, 6).live(100);
    }
}

/// A block that a snapshot shares is held twice once it is written to, others once.
#[test]
fn what_is_shared_is_held_once() {
    let mut contents = Contents::new(SIZE as u64, Store::memory(u64::MAX), None);
    let block = BLOCK_BYTES as u64;
    contents
        .write(0, &vec![1; 10 * BLOCK_BYTES])
        .expect("written");
    assert_eq!(contents.held_bytes(), 10 * block);
    contents.snapshot("a").expect("kept");
    contents.snapshot("b").expect("kept");
    assert_eq!(contents.held_bytes(), 10 * block);
    contents.write(100, &[2]).expect("written");
    contents.write(200, &[2]).expect("written");
    assert_eq!(contents.held_bytes(), 11 * block);
    contents
        .write(5 * block, &vec![0; BLOCK_BYTES])
        .expect("written");
    assert_eq!(contents.held_bytes(), 11 * block, "snapshots have it still");
    contents.forget("a").expect("known");
    let_free(&contents);
    assert_eq!(contents.held_bytes(), 11 * block);
    contents.forget("b").expect("known");
    let_free(&contents);
    assert_eq!(contents.held_bytes(), 9 * block);
}

#[test]
fn the_limit_is_exact_and_an_error_harms_nothing() {
    let limit = 8 * BLOCK_BYTES as u64;
    let mut contents = Contents::new(SIZE as u64, Store::memory(limit), None);
    contents
        .write(0, &vec![1; 8 * BLOCK_BYTES])
        .expect("just fits");
    let error = contents.write(1 << 20, &[1]).expect_err("no more");
    assert!(
        matches!(error, ContentsError::Full { limit_bytes } if limit_bytes == limit),
        "{error}"
    );
    assert_eq!(contents.held_bytes(), limit);
    contents
        .write(1 << 20, &vec![0; 64 * BLOCK_BYTES])
        .expect("zeroes take no room");
    contents.discard(0, 4096).expect("room");
    contents.write(1 << 20, &[1]).expect("used");
    let mut found = vec![0; BLOCK_BYTES];
    contents.read(4096, &mut found).expect("read");
    assert_eq!(found, [1; BLOCK_BYTES]);
}

/// Something whose end takes until it is told.
struct Heavy(Receiver<()>);

impl Drop for Heavy {
    fn drop(&mut self) {
        let _ = self.0.recv();
    }
}

/// Contents that are full up to their limit of so many leaves; nothing comes free until told.
fn full_with_busy_reaper(leaves: usize) -> (Contents, Sender<()>) {
    let bytes = leaves * 512 * BLOCK_BYTES;
    let mut contents = Contents::new(SIZE as u64, Store::memory(bytes as u64), None);
    contents.write(0, &vec![1; bytes]).expect("just fits");
    let (tell, told) = channel();
    contents.reaper.take(Heavy(told));
    (contents, tell)
}

/// Whoever has the lock of the contents waits for nothing to be freed.
#[test]
fn what_is_let_go_is_freed_beside() {
    let leaf = 512 * BLOCK_BYTES as u64;
    let (mut contents, tell) = full_with_busy_reaper(3);
    contents.snapshot("a").expect("kept");
    contents.discard(0, leaf).expect("discarded");
    contents.snapshot("a").expect("kept in its place");
    contents.discard(leaf, leaf).expect("discarded");
    contents.restore("a").expect("put back");
    contents.forget("a").expect("forgotten");
    contents.discard(2 * leaf, leaf).expect("discarded");
    assert_eq!(contents.held_bytes(), 3 * leaf, "freed under the lock");
    tell.send(()).expect("it waits");
    let_free(&contents);
    assert_eq!(contents.held_bytes(), leaf);
}

/// Room that comes free in a moment is room.
#[test]
fn a_full_disk_waits_for_what_is_being_let_go() {
    let (mut contents, tell) = full_with_busy_reaper(2);
    contents.snapshot("a").expect("kept");
    contents.discard(0, SIZE as u64).expect("discarded");
    contents.forget("a").expect("forgotten");
    let freed = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        tell.send(()).expect("it waits");
    });
    let bytes = vec![2; 2 * 512 * BLOCK_BYTES];
    contents.write(4096, &bytes).expect("there is room");
    freed.join().expect("no panic");
    contents
        .write(0, &[2; BLOCK_BYTES])
        .expect_err("now there is none, and none comes");
}

/// A file is no larger than the most that it ever held.
#[test]
fn slots_are_used_again() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let store = Store::file(&folder.path().join("contents"), u64::MAX).expect("a file");
    let mut contents = Contents::new(SIZE as u64, store, None);
    let bytes = vec![3; 64 * BLOCK_BYTES];
    for round in 0..8 {
        let at = round * bytes.len() as u64;
        contents.write(at, &bytes).expect("written");
        contents.discard(at, bytes.len() as u64).expect("discarded");
        let_free(&contents);
    }
    assert_eq!(contents.store.file_bytes(), Some(bytes.len() as u64));
}

#[test]
fn outside_of_the_disk() {
    let mut contents = Contents::new(4096, Store::memory(u64::MAX), None);
    for (offset, length) in [(4096, 1), (0, 4097), (u64::MAX, 1), (4095, 2)] {
        let bytes = vec![1; length];
        let error = contents.write(offset, &bytes).expect_err("outside");
        assert!(error.to_string().contains("4096"), "{error}");
        contents
            .read(offset, &mut bytes.clone())
            .expect_err("outside");
        contents
            .discard(offset, length as u64)
            .expect_err("outside");
    }
    assert_eq!(contents.held_bytes(), 0);
    contents
        .write(4096, &[])
        .expect("nothing at the end is nothing");
}

#[test]
fn images_that_are_none() {
    let folder = tempfile::TempDir::new().expect("a folder");
    Image::open(folder.path(), u64::MAX).expect_err("a folder");
    Image::open(&folder.path().join("absent"), u64::MAX).expect_err("absent");
}
