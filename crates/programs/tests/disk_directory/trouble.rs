//! Whatever ends it, nobody hangs and nothing is left.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::process::Command;

use rustix::process::Signal;

use crate::served::{self, program};
use crate::{directory, slow_directory};

fn refused(arguments: &[&str]) -> String {
    let folder = served::folder();
    let mut command = served::command("null", folder.path(), &["--as", "directory"]);
    let output = command
        .args(arguments)
        .output()
        .expect("the program starts");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(!served::is_mounted(&folder.path().join("mount")));
    String::from_utf8(output.stderr).expect("text")
}

#[test]
fn what_cannot_be_is_refused() {
    let said = refused(&["--size", "512 KiB"]);
    assert!(said.contains("too small for a directory"), "{said}");
    let image = tempfile::NamedTempFile::new().expect("a file");
    let said = refused(&["--image", image.path().to_str().expect("plain")]);
    assert!(said.contains("a directory begins empty"), "{said}");
    let said = Command::new(program())
        .args([
            "serve", "null", "--as", "folder", "--mount", "/tmp", "--socket", "/tmp/s",
        ])
        .output()
        .expect("the program starts");
    assert_eq!(said.status.code(), Some(2));
}

#[test]
fn a_killed_program_leaves_errors_and_no_wait() {
    let mut served = slow_directory(1_000_000, &["--size", "64 MiB"]);
    let path = served.mount().join("file");
    let file = File::create_new(&path).expect("new");
    file.write_all_at(&[1; 4096], 0)
        .expect("it lies in the cache");
    let syncing = std::thread::spawn(move || file.sync_all());
    std::thread::sleep(std::time::Duration::from_millis(100));
    served.signal(Signal::KILL);
    assert!(syncing.join().expect("it returned").is_err());
    assert_eq!(served.ended(), None);
    let error = fs::metadata(&path).expect_err("nobody answers");
    assert_eq!(error.kind(), std::io::ErrorKind::NotConnected, "{error}");
}

#[test]
fn a_detach_under_load_ends_in_errors_and_a_clean_system() {
    let mut served = slow_directory(50_000, &["--size", "64 MiB"]);
    let workers: Vec<_> = (0..4)
        .map(|number| {
            let file = File::create_new(served.mount().join(format!("{number}"))).expect("new");
            std::thread::spawn(move || {
                let mut at = 0;
                while file
                    .write_all_at(&[1; 4096], at)
                    .and_then(|()| file.sync_data())
                    .is_ok()
                {
                    at += 4096;
                }
            })
        })
        .collect();
    std::thread::sleep(std::time::Duration::from_millis(200));
    served.control(&["detach"]);
    for worker in workers {
        worker.join().expect("it got an error");
    }
    assert_eq!(served.ended(), Some(0));
    served.check_clean();
}

#[test]
fn two_directories_at_once_know_nothing_of_each_other() {
    let (one, other) = (
        directory(&["--size", "16 MiB"]),
        directory(&["--size", "16 MiB"]),
    );
    fs::write(one.mount().join("file"), "one").expect("written");
    fs::write(other.mount().join("file"), "other").expect("written");
    assert_eq!(
        fs::read_to_string(one.mount().join("file")).expect("there"),
        "one"
    );
    drop(one);
    assert_eq!(
        fs::read_to_string(other.mount().join("file")).expect("there"),
        "other"
    );
}
