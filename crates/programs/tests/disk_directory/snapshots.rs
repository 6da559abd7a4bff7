//! Names and bytes are kept together and put back in a moment.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;

use crate::directory;

#[test]
fn a_restored_directory_is_what_it_was_whatever_happened_to_it() {
    let served = directory(&["--size", "64 MiB"]);
    let root = served.mount();
    fs::create_dir(root.join("data")).expect("made");
    fs::write(root.join("data/kept"), "as it was").expect("written");
    fs::write(root.join("data/removed"), "still here").expect("written");
    fs::hard_link(root.join("data/kept"), root.join("linked")).expect("linked");
    served.control(&["snapshot", "loaded"]);
    for round in 0..3 {
        fs::write(root.join("data/kept"), format!("changed {round}")).expect("written");
        fs::remove_file(root.join("data/removed")).expect("there");
        fs::remove_file(root.join("linked")).expect("there");
        fs::rename(root.join("data"), root.join("moved")).expect("there");
        fs::create_dir(root.join("data")).expect("made");
        fs::write(root.join("data/new"), vec![round; 100_000]).expect("written");
        served.control(&["restore", "loaded"]);
        assert!(!root.join("moved").exists());
        assert!(!root.join("data/new").exists());
        let read = |name: &str| fs::read_to_string(root.join(name)).expect(name);
        assert_eq!(read("data/kept"), "as it was");
        assert_eq!(read("data/removed"), "still here");
        let (one, other) = (root.join("data/kept"), root.join("linked"));
        let number = |path| fs::metadata(path).expect("there").ino();
        assert_eq!(number(one), number(other), "one file with two names");
        assert_eq!(fs::read_dir(&root).expect("the root").count(), 2);
    }
    served.control(&["forget", "loaded"]);
    let said = served
        .try_control(&["restore", "loaded"])
        .expect_err("it is gone");
    assert!(said.contains("there is no snapshot `loaded`"), "{said}");
    assert_eq!(
        fs::read_to_string(root.join("linked")).expect("there"),
        "as it was"
    );
}

#[test]
fn what_is_open_is_neither_kept_nor_put_back() {
    let served = directory(&["--size", "64 MiB"]);
    let path = served.mount().join("file");
    fs::write(&path, "first").expect("written");
    served.control(&["snapshot", "first"]);
    let file = File::options().append(true).open(&path).expect("there");
    for verb in ["snapshot", "restore"] {
        let said = served
            .try_control(&[verb, "first"])
            .expect_err("it is open");
        assert!(said.contains("is open; stop the server"), "{said}");
    }
    drop(file);
    fs::write(&path, "second, and longer").expect("written");
    served.control(&["snapshot", "second"]);
    for (name, text) in [("first", "first"), ("second", "second, and longer")] {
        served.control(&["restore", name]);
        assert_eq!(fs::read_to_string(&path).expect("there"), text);
        assert_eq!(fs::metadata(&path).expect("there").len(), text.len() as u64);
    }
}

#[test]
fn what_was_kept_from_before_is_gone_and_says_so() {
    let served = directory(&["--size", "64 MiB"]);
    let root = served.mount();
    fs::create_dir(root.join("folder")).expect("made");
    served.control(&["snapshot", "one"]);
    let folder = rustix::fs::open(
        root.join("folder"),
        rustix::fs::OFlags::PATH,
        rustix::fs::Mode::empty(),
    )
    .expect("a reference that is not open");
    served.control(&["restore", "one"]);
    let flags = rustix::fs::OFlags::CREATE | rustix::fs::OFlags::WRONLY;
    let made = rustix::fs::openat(&folder, "late", flags, rustix::fs::Mode::RUSR);
    assert_eq!(made.map(|_| ()), Err(rustix::io::Errno::STALE));
    assert_eq!(fs::read_dir(root.join("folder")).expect("there").count(), 0);
}
