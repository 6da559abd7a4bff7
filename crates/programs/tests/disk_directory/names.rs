//! Names and what they lead to, held against a file system of the kernel's own: whatever is done, both
//! say the same, errors included.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::directory;

const STEPS: u32 = 3_000;
/// Few names in few directories, so that they meet.
const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// Something that was done to a tree, and what came of it.
type Outcome = Result<String, Option<i32>>;

fn said<T: std::fmt::Debug>(outcome: io::Result<T>) -> Outcome {
    outcome
        .map(|done| format!("{done:?}"))
        .map_err(|error| error.raw_os_error())
}

/// One step; the same on every tree that is given the same numbers.
#[derive(Debug)]
enum Step {
    Create(PathBuf),
    Write(PathBuf, u64, Vec<u8>),
    Append(PathBuf, Vec<u8>),
    Truncate(PathBuf, u64),
    Read(PathBuf),
    MakeDirectory(PathBuf),
    Remove(PathBuf),
    RemoveDirectory(PathBuf),
    Rename(PathBuf, PathBuf, RenameFlags),
    Link(PathBuf, PathBuf),
    Symlink(PathBuf, PathBuf),
    Permissions(PathBuf, u32),
}

fn step(random: &mut Xoshiro256PlusPlus) -> Step {
    let one = path(random);
    let bytes = |random: &mut Xoshiro256PlusPlus| {
        let length = random.random_range(0..10_000);
        vec![random.random(); length]
    };
    match random.random_range(0..14) {
        0 => Step::Create(one),
        1 | 2 => Step::Write(one, random.random_range(0..20_000), bytes(random)),
        3 => Step::Append(one, bytes(random)),
        4 => Step::Truncate(one, random.random_range(0..30_000)),
        5 => Step::Read(one),
        6 | 7 => Step::MakeDirectory(one),
        8 => Step::Remove(one),
        9 => Step::RemoveDirectory(one),
        10 | 11 => {
            let how = [RenameFlags::empty(), RenameFlags::NOREPLACE];
            Step::Rename(one, path(random), *how.choose(random).expect("two"))
        }
        12 if random.random() => Step::Link(one, path(random)),
        12 => Step::Symlink(one, path(random)),
        _ => Step::Permissions(one, *[0o600, 0o644, 0o755].choose(random).expect("three")),
    }
}

fn path(random: &mut Xoshiro256PlusPlus) -> PathBuf {
    let depth = random.random_range(1..4);
    let names = (0..depth).map(|_| *NAMES.choose(random).expect("four"));
    names.collect()
}

impl Step {
    fn perform(&self, root: &Path) -> Outcome {
        match self {
            Self::Create(path) => said(File::create_new(root.join(path)).map(|_| ())),
            Self::Write(path, offset, bytes) => said(write(&root.join(path), *offset, bytes)),
            Self::Append(path, bytes) => {
                let file = File::options().append(true).open(root.join(path));
                said(file.and_then(|mut file| file.write_all(bytes)))
            }
            Self::Truncate(path, size) => {
                let file = File::options().write(true).open(root.join(path));
                said(file.and_then(|file| file.set_len(*size)))
            }
            Self::Read(path) => said(fs::read(root.join(path))),
            Self::MakeDirectory(path) => said(fs::create_dir(root.join(path))),
            Self::Remove(path) => said(fs::remove_file(root.join(path))),
            Self::RemoveDirectory(path) => said(fs::remove_dir(root.join(path))),
            Self::Rename(from, to, how) => {
                let done = renameat_with(CWD, root.join(from), CWD, root.join(to), *how);
                said(done.map_err(io::Error::from))
            }
            Self::Link(from, to) => said(fs::hard_link(root.join(from), root.join(to))),
            Self::Symlink(target, name) => said(symlink(target, root.join(name))),
            Self::Permissions(path, mode) => {
                let mode = fs::Permissions::from_mode(*mode);
                said(fs::set_permissions(root.join(path), mode))
            }
        }
    }
}

fn write(path: &Path, offset: u64, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::options().write(true).open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    file.write_all(bytes)
}

/// Everything below a directory: kind, mode, links, size, and what is in it.
fn list(directory: &Path, found: &mut Vec<(PathBuf, String)>, below: &Path) {
    let entries = fs::read_dir(directory).expect("a directory");
    let mut names: Vec<OsString> = entries
        .map(|entry| entry.expect("one").file_name())
        .collect();
    names.sort();
    for name in names {
        let path = directory.join(&name);
        let metadata = fs::symlink_metadata(&path).expect("it was listed");
        let mut shown = format!("{:o} {}", metadata.mode(), metadata.nlink());
        let name = below.join(name);
        if metadata.is_symlink() {
            let target = fs::read_link(&path).expect("a link");
            shown = format!("{shown} -> {}", target.display());
        } else if metadata.is_file() {
            let bytes = fs::read(&path).expect("a file");
            shown = format!("{shown} {} {bytes:?}", metadata.size());
        }
        found.push((name.clone(), shown));
        if metadata.is_dir() {
            list(&path, found, &name);
        }
    }
}

fn whole(directory: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    list(directory, &mut found, Path::new(""));
    found
}

#[test]
fn it_agrees_with_another_file_system() {
    let served = directory(&["--size", "256 MiB"]);
    // A tmpfs counts links of directories as POSIX has it.
    let other = tempfile::tempdir_in("/dev/shm").expect("memory");
    let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
    let mut succeeded = 0;
    for number in 0..STEPS {
        let step = step(&mut random);
        let here = step.perform(&served.mount());
        let there = step.perform(other.path());
        assert_eq!(here, there, "step {number}: {step:?}");
        succeeded += u32::from(here.is_ok());
        if number % 500 == 0 {
            assert_eq!(whole(&served.mount()), whole(other.path()), "step {number}");
        }
    }
    assert!(succeeded > STEPS / 10, "{succeeded} steps did something");
    assert_eq!(whole(&served.mount()), whole(other.path()));
}

#[test]
fn a_listing_of_thousands_is_whole() {
    let served = directory(&["--size", "64 MiB"]);
    for number in 0..3_000 {
        File::create_new(served.mount().join(format!("file-{number:05}"))).expect("a new name");
    }
    let listed = || fs::read_dir(served.mount()).expect("a directory").count();
    assert_eq!(listed(), 3_000);
    // Removed while it is listed, as `rm -r` does.
    for entry in fs::read_dir(served.mount()).expect("a directory") {
        fs::remove_file(entry.expect("one").path()).expect("it was listed");
    }
    assert_eq!(listed(), 0);
}

#[test]
fn a_file_without_a_name_lives_while_it_is_open() {
    let served = directory(&["--size", "16 MiB"]);
    let path = served.mount().join("nameless");
    let mut file = File::options()
        .create_new(true)
        .read(true)
        .write(true)
        .open(&path)
        .expect("new");
    file.write_all(b"before").expect("written");
    fs::remove_file(&path).expect("there");
    file.write_all(b" and after").expect("written");
    file.sync_all().expect("synced");
    assert_eq!(file.metadata().expect("open").nlink(), 0);
    file.rewind().expect("a file");
    let mut text = String::new();
    file.read_to_string(&mut text).expect("read");
    assert_eq!(text, "before and after");
}
