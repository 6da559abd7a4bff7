//! Files on a small disk of bytes, held against files that are plain vectors.

#![expect(clippy::cast_possible_truncation, reason = "a small disk")]

use std::time::SystemTime;

use fuser::Errno;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::super::BLOCK_BYTES;
use super::super::file::{Cleared, Piece};
use super::super::inode::{File, Kind, Number, Owner};
use super::super::space::{Run, Space};
use super::super::tree::{Moment, ROOT, Tree};

const DISK_BLOCKS: u64 = 300;
const MOMENT: Moment = Moment {
    now: SystemTime::UNIX_EPOCH,
    transaction: 1,
};
const OWNER: Owner = Owner {
    uid: 0,
    gid: 0,
    permissions: 0o755,
};

struct Disk {
    tree: Tree,
    bytes: Vec<u8>,
}

impl Disk {
    fn new() -> Self {
        let space = Space::new(0, DISK_BLOCKS);
        Self {
            tree: Tree::new(space, OWNER, SystemTime::UNIX_EPOCH),
            bytes: vec![0; (DISK_BLOCKS * BLOCK_BYTES) as usize],
        }
    }

    fn create(&mut self, name: &str) -> Number {
        let kind = Kind::File(File::default());
        let number = self.tree.make(ROOT, name.as_ref(), kind, OWNER, MOMENT);
        let number = number.expect("a free name");
        self.tree.open(number).expect("it is there");
        number
    }

    fn write(&mut self, number: Number, offset: u64, data: &[u8]) -> Result<(), Errno> {
        let mut rest = data;
        for piece in self.tree.write(number, offset, data.len() as u64, MOMENT)? {
            let (now, later) = rest.split_at(piece.length_bytes as usize);
            self.part(piece)
                .expect("written bytes lie on the disk")
                .copy_from_slice(now);
            rest = later;
        }
        assert!(rest.is_empty());
        Ok(())
    }

    fn read(&mut self, number: Number, offset: u64, length: u64) -> Vec<u8> {
        let mut data = Vec::new();
        for piece in self.tree.read(number, offset, length).expect("a file") {
            let hole = vec![0; piece.length_bytes as usize];
            data.extend_from_slice(self.part(piece).map_or(&hole[..], |part| part));
        }
        data
    }

    fn part(&mut self, piece: Piece) -> Option<&mut [u8]> {
        let start = piece.disk_bytes? as usize;
        Some(&mut self.bytes[start..start + piece.length_bytes as usize])
    }

    fn clear(&mut self, cleared: Cleared) {
        for part in cleared.parts {
            self.part(part).expect("holes need no clearing").fill(0);
        }
        self.free(&cleared.runs);
    }

    fn free(&mut self, runs: &[Run]) {
        for run in runs {
            let range = (run.start * BLOCK_BYTES) as usize..(run.end() * BLOCK_BYTES) as usize;
            self.bytes[range].fill(0);
        }
    }
}

fn pattern(random: &mut Xoshiro256PlusPlus, length: u64) -> Vec<u8> {
    (0..length).map(|_| random.random_range(1..=255)).collect()
}

#[test]
fn files_on_the_disk_agree_with_vectors() {
    for seed in 0..4 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut disk = Disk::new();
        let mut files: Vec<(Number, String, Vec<u8>)> = Vec::new();
        for step in 0..200 {
            if files.len() < 5 {
                let name = format!("file{step}");
                files.push((disk.create(&name), name, Vec::new()));
            }
            let index = random.random_range(0..files.len());
            act(&mut random, &mut disk, &mut files, index);
            for (number, _, bytes) in &files {
                let offset = random.random_range(0..=bytes.len() as u64 + 10);
                let length = random.random_range(0..50_000);
                let from = (offset as usize).min(bytes.len());
                let end = (from + length as usize).min(bytes.len());
                assert_eq!(
                    disk.read(*number, offset, length),
                    bytes[from..end],
                    "seed {seed}"
                );
            }
        }
        for (number, name, _) in files {
            let freed = disk
                .tree
                .unlink(ROOT, name.as_ref(), MOMENT)
                .expect("named");
            assert_eq!(freed, Vec::new(), "it is open");
            let freed = disk.tree.close(number);
            disk.free(&freed);
        }
        assert_eq!(disk.tree.free_blocks(), DISK_BLOCKS);
        assert!(
            disk.bytes.iter().all(|byte| *byte == 0),
            "free blocks are zero"
        );
    }
}

/// One random change of a file, on both sides.
fn act(
    random: &mut Xoshiro256PlusPlus,
    disk: &mut Disk,
    files: &mut Vec<(Number, String, Vec<u8>)>,
    index: usize,
) {
    let (number, _, bytes) = &mut files[index];
    let number = *number;
    let offset = random.random_range(0..150_000);
    let length = random.random_range(1..60_000);
    let end = (offset + length) as usize;
    match random.random_range(0..10) {
        0..5 => {
            let data = pattern(random, length);
            let free = disk.tree.free_blocks();
            match disk.write(number, offset, &data) {
                Ok(()) => {
                    bytes.resize(bytes.len().max(end), 0);
                    bytes[offset as usize..end].copy_from_slice(&data);
                }
                Err(error) => {
                    assert_eq!(error, Errno::ENOSPC);
                    assert!(free < length.div_ceil(BLOCK_BYTES) + 1);
                    assert_eq!(disk.tree.free_blocks(), free, "nothing was taken");
                }
            }
        }
        5 => {
            let cleared = disk.tree.truncate(number, offset, MOMENT).expect("a file");
            disk.clear(cleared);
            bytes.resize(offset as usize, 0);
        }
        6 => {
            let cleared = disk
                .tree
                .punch(number, offset, length, MOMENT)
                .expect("a file");
            disk.clear(cleared);
            let size = bytes.len();
            bytes[(offset as usize).min(size)..end.min(size)].fill(0);
        }
        7 => {
            let keep_size = random.random();
            let done = disk
                .tree
                .preallocate(number, offset, length, keep_size, MOMENT);
            if done.is_ok() && !keep_size {
                bytes.resize(bytes.len().max(end), 0);
            }
        }
        8 => {
            let freed = disk.tree.close(number);
            disk.free(&freed);
            disk.tree.open(number).expect("named");
        }
        _ => {
            let (number, name, _) = files.swap_remove(index);
            let freed = disk.tree.close(number);
            assert_eq!(freed, Vec::new(), "it has a name");
            let freed = disk
                .tree
                .unlink(ROOT, name.as_ref(), MOMENT)
                .expect("named");
            disk.free(&freed);
            assert_eq!(disk.tree.attributes(number), Err(Errno::ESTALE));
        }
    }
}

#[test]
fn files_that_grow_side_by_side_stay_in_few_pieces() {
    const STEPS: u64 = 64;
    let mut disk = Disk::new();
    let files = [disk.create("a"), disk.create("b")];
    for step in 0..STEPS {
        for number in files {
            disk.write(number, step * BLOCK_BYTES, &[1; BLOCK_BYTES as usize])
                .expect("space");
        }
    }
    for number in files {
        let pieces = disk
            .tree
            .read(number, 0, STEPS * BLOCK_BYTES)
            .expect("a file")
            .len();
        assert!(
            pieces <= 7,
            "a piece at each doubling, not at each block: {pieces}"
        );
    }
}

#[test]
fn what_is_kept_for_growth_is_given_when_it_is_needed() {
    let mut disk = Disk::new();
    let (first, second) = (disk.create("a"), disk.create("b"));
    let half = vec![1; (DISK_BLOCKS / 2 * BLOCK_BYTES) as usize];
    disk.write(first, 0, &half).expect("space");
    disk.write(first, half.len() as u64, &[1]).expect("space");
    assert_eq!(disk.tree.free_blocks(), DISK_BLOCKS / 2 - 1);
    let rest = vec![2; half.len() - BLOCK_BYTES as usize];
    disk.write(second, 0, &rest)
        .expect("the reserve of the first");
    assert_eq!(
        disk.write(second, rest.len() as u64, &[2]),
        Err(Errno::ENOSPC)
    );
    assert_eq!(
        disk.write(first, half.len() as u64 + 1, &[3]),
        Ok(()),
        "within its last block"
    );
    assert_eq!(disk.read(second, 0, u64::MAX / 4), rest);
}

#[test]
fn impossible_offsets_are_refused() {
    let mut disk = Disk::new();
    let file = disk.create("a");
    assert_eq!(disk.tree.truncate(file, 1 << 63, MOMENT), Err(Errno::EFBIG));
    assert_eq!(
        disk.tree.write(file, u64::MAX, 2, MOMENT),
        Err(Errno::EFBIG)
    );
    assert_eq!(
        disk.tree.write(file, 1 << 62, 1 << 40, MOMENT),
        Err(Errno::ENOSPC)
    );
    assert_eq!(disk.tree.read(ROOT, 0, 1), Err(Errno::EISDIR));
    assert_eq!(disk.tree.write(99, 0, 1, MOMENT), Err(Errno::ESTALE));
}

#[test]
fn a_snapshot_waits_until_all_is_closed_and_keeps_what_was() {
    let mut disk = Disk::new();
    let file = disk.create("a");
    disk.write(file, 0, b"before").expect("space");
    assert!(matches!(disk.tree.snapshot(), Err(Errno::EBUSY)));
    disk.tree.close(file);
    let snapshot = disk.tree.snapshot().expect("nothing is open");
    let freed = disk.tree.unlink(ROOT, "a".as_ref(), MOMENT).expect("named");
    assert_eq!(freed.len(), 1);
    assert_eq!(disk.tree.find(ROOT, "a".as_ref()), Err(Errno::ENOENT));
    let found = snapshot.find(ROOT, "a".as_ref()).expect("it was there");
    assert_eq!(
        snapshot.read(found, 0, 100).expect("a file")[0].length_bytes,
        6
    );
}
