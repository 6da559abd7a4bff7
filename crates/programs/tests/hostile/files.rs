//! Pipes, devices, directories and endless files in the place of files.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::case::{Ended, run};

const SOON: Duration = Duration::from_secs(5);

fn load(words: &str) -> Ended {
    let arguments: Vec<_> = words.split(' ').map(str::to_owned).collect();
    let ended = run(&arguments, SOON);
    assert!(!ended.interrupted, "{words}: it hung; {}", ended.text());
    ended.check(words);
    ended
}

fn refusal(words: &str, reason: &str) {
    let ended = load(words);
    assert_eq!(ended.code, Some(2), "{words}: {}", ended.text());
    assert!(ended.text().contains(reason), "{words}: {}", ended.text());
}

fn file(directory: &Path, name: &str, bytes: &[u8], mode: u32) -> String {
    let path = directory.join(name);
    fs::write(&path, bytes).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
    path.display().to_string()
}

/// The places of a file in the command line.
fn uses(file: &str) -> [String; 6] {
    let run = "run script --url null: --transactions 1";
    [
        format!("{run} --file {file}"),
        format!("prepare script --url null: --file {file}"),
        format!("run oltp --url null: --transactions 1 --password-file {file}"),
        format!("run oltp --url mysql://a@b/c?ssl-mode=verify-ca&ssl-ca={file}"),
        format!("run oltp --url postgresql://a@b/c?sslmode=verify-full&sslrootcert={file}"),
        format!("run ledger --url null: --transactions 1 --acknowledgements {file}"),
    ]
}

#[test]
fn hostile_files() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name).display().to_string();
    let pipe = directory.path().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
    symlink("/dev/zero", at("link")).expect("a link");
    symlink("gone", at("dangling")).expect("a link");
    symlink("loop", at("loop")).expect("a link");
    fs::File::create(at("sparse"))
        .and_then(|file| file.set_len(1 << 40))
        .expect("a file");
    fs::set_permissions(at("sparse"), fs::Permissions::from_mode(0o600)).expect("a mode");
    for (name, reason) in [
        ("/dev/zero".to_owned(), "a device"),
        ("/dev/tty".to_owned(), ""),
        ("/dev/stdin".to_owned(), ""),
        ("/proc/self/mem".to_owned(), ""),
        (at("pipe"), "a pipe"),
        (at("link"), "a device"),
        (at("dangling"), "No such file"),
        (at("loop"), ""),
        (at(""), "a directory"),
        (at("sparse"), "is larger than"),
    ] {
        let [script, once, password, mysql, postgres, acknowledgements] = uses(&name);
        for words in [script, password, mysql, postgres] {
            refusal(&words, reason);
        }
        // It may have any size, and no NUL.
        let is_sparse = name == at("sparse");
        refusal(&once, if is_sparse { "a NUL" } else { reason });
        // This one is made, and never over anything.
        if name != at("dangling") {
            refusal(&acknowledgements, "--acknowledgements");
        }
    }
    for path in [at("pipe"), "/dev/zero".to_owned(), at("")] {
        let ended = load(&format!("run oltp --seconds 0.1 --url sqlite:{path}"));
        assert_eq!(ended.code, Some(1), "{path}: {}", ended.text());
    }
}

#[test]
fn hostile_password_files() {
    let directory = tempfile::tempdir().expect("a directory");
    let run = "run oltp --url null: --transactions 1 --password-file";
    let file = |name: &str, bytes: &[u8], mode| file(directory.path(), name, bytes, mode);
    for mode in [0o644, 0o640, 0o604, 0o622] {
        let words = format!("{run} {}", file("open", b"x\n", mode));
        refusal(&words, "chmod 600");
    }
    for (bytes, reason) in [
        (&b"a\0b\n"[..], "NUL"),
        (b"\xE4\n", "not UTF-8"),
        (&vec![b'x'; (64 << 10) + 1], "larger than 64 KiB"),
    ] {
        refusal(&format!("{run} {}", file("own", bytes, 0o600)), reason);
    }
    for bytes in [&b"\xEF\xBB\xBFx\r\n"[..], b"", b"x"] {
        let ended = load(&format!("{run} {}", file("own", bytes, 0o400)));
        assert_eq!(ended.code, Some(0), "{}", ended.text());
    }
}

#[test]
fn hostile_names_and_texts_reach_no_terminal() {
    let directory = tempfile::tempdir().expect("a directory");
    let evil = "\u{1b}]0;x\u{7}\u{9b}2J\u{202e}";
    let script = file(
        directory.path(),
        &format!("{evil}.sql"),
        format!("SELECT 1 /*{evil}*/;\n\\nonsense {evil}").as_bytes(),
        0o600,
    );
    for words in [
        format!("run script --url null: --transactions 1 --file {script}"),
        format!("run script --url null: --transactions 1 --file {script}.gone"),
        format!("run script --url null:{evil} --file x --json"),
        format!("run oltp --url oracle{evil}://a@b/c"),
        format!("run oltp --url null: --mix {evil}"),
        format!("run oltp --url null: --mix {evil} --json"),
        format!("run oltp --url mysql://a@b/c?{evil}=x"),
        format!("run oltp --url sqlite:/{evil}"),
        format!("run oltp --url mysql://a@localhost/b?socket=/{evil} --json"),
        format!("run {evil}"),
        format!("run ledger --url null: --acknowledgements /{evil}/x"),
    ] {
        let ended = load(&words);
        assert_ne!(ended.code, Some(0), "{words:?}: {}", ended.text());
    }
}
