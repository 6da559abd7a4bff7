//! A server's first data, made once and copied for each start.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;

/// Only one start makes data; the others wait for them.
static MAKING: Mutex<()> = Mutex::new(());

/// Lays the data that `make` makes into `data`, which is not there yet. They are kept under this name beside
/// the build, for the next starts and test programs; another version of the server's program has its own.
pub(crate) fn lay(name: &str, program: &Path, data: &Path, make: impl FnOnce()) {
    let installed = fs::metadata(program).and_then(|found| found.modified());
    let installed = installed
        .expect("the server's program")
        .duration_since(UNIX_EPOCH);
    let seconds = installed.expect("a time after 1970").as_secs();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let kept = folder.join(format!("{name}-{seconds}"));
    let making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    if !kept.exists() {
        make();
        let unfinished = tempfile::tempdir_in(folder).expect("a folder");
        let whole = unfinished.path().join("data");
        copy(data, &whole);
        // Another test program may have been quicker.
        let _ = fs::rename(whole, &kept);
        return;
    }
    drop(making);
    copy(&kept, data);
}

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp")
        .args(["--archive", "--reflink=auto"])
        .args([from, to])
        .status();
    assert!(copied.expect("cp starts").success(), "the copy failed");
}
