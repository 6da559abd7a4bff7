//! An ordinary user needs nobody's leave.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::served::{self, Served, program};

/// Nobody, as every system has it.
const USER: u32 = 65_534;

/// A directory served by an ordinary user: by whoever runs the tests, or, if that is root, by nobody.
fn serve() -> (Served, u32) {
    let folder = served::folder();
    let own = rustix::process::getuid();
    let arguments = ["--as", "directory", "--size", "64 MiB"];
    if !own.is_root() {
        return (served::serve_in(folder, "null", &arguments), own.as_raw());
    }
    // The folder of the build may be root's alone.
    let copy = folder.path().join("program");
    fs::copy(program(), &copy).expect("copied");
    let open = fs::Permissions::from_mode(0o755);
    for path in [
        folder.path().to_path_buf(),
        folder.path().join("mount"),
        copy.clone(),
    ] {
        fs::set_permissions(&path, open.clone()).expect("opened");
        chown(&path, Some(USER), Some(USER)).expect("given away");
    }
    let theirs = served::command("null", folder.path(), &arguments);
    let mut command = Command::new(copy);
    command.args(theirs.get_args()).uid(USER).gid(USER);
    let _open = served::FuseForAll::new();
    (served::start(folder, command), USER)
}

/// Runs a line of shell as that user.
fn shell(user: u32, line: &str) -> String {
    let mut command = Command::new("sh");
    command.args(["-ec", line]);
    if rustix::process::getuid().is_root() {
        command.uid(user).gid(user);
    }
    let output = command.output().expect("a shell");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {said}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn an_ordinary_user_serves_uses_and_detaches() {
    let (mut served, user) = serve();
    let mount = served.mount();
    let mount = mount.to_str().expect("plain");
    let said = shell(
        user,
        &format!(
            "cd {mount}; mkdir a; echo text > a/b; mv a/b c; rmdir a; sync c; stat -c '%u %s' c; cat c"
        ),
    );
    assert_eq!(said, format!("{user} 5\ntext\n"));
    served.control(&["snapshot", "one"]);
    shell(user, &format!("rm {mount}/c"));
    served.control(&["restore", "one"]);
    assert_eq!(shell(user, &format!("cat {mount}/c")), "text\n");
    served.control(&["detach"]);
    assert_eq!(served.ended(), Some(0));
    served.check_clean();
}

#[test]
fn permissions_are_kept() {
    if !rustix::process::getuid().is_root() {
        return;
    }
    // Root's directory is open to all users, each with his own rights.
    let served = crate::directory(&["--size", "64 MiB"]);
    fs::set_permissions(served.folder.path(), fs::Permissions::from_mode(0o755)).expect("opened");
    let mount = served.mount();
    let secret = mount.join("secret");
    fs::write(&secret, "root's").expect("written");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).expect("closed");
    fs::create_dir(mount.join("theirs")).expect("made");
    chown(mount.join("theirs"), Some(USER), Some(USER)).expect("given away");
    let mount = mount.to_str().expect("plain");
    let said = shell(
        USER,
        &format!(
            "cd {mount}; cat secret 2>&1 || true; touch theirs/own; touch own 2>&1 || true; stat -c %u theirs/own"
        ),
    );
    assert!(said.contains("secret: Permission denied"), "{said}");
    assert!(
        said.ends_with("'own': Permission denied\n65534\n"),
        "{said}"
    );
}
