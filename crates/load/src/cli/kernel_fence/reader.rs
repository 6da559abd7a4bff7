//! The fence around the lab's readers of foreign files: another program in this process, which reads the
//! named places, and writes only to what is open already.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;
use landlock::{AccessFs, RulesetCreatedAttr, RulesetError, RulesetStatus, path_beneath_rules};
use nix::libc::c_long;
use nix::sys::resource::Resource;
use rustix::thread::CapabilitySet;

use super::calls::{self, Sockets};
use super::{ALSO_READ, MISSING, enclose, holds_files, not_closed, ruleset};
use crate::cli::Stop;

/// Most memory: a record of 256 MiB becomes ten times as much in Python.
const MEMORY: (Resource, u64) = (Resource::RLIMIT_DATA, 4 << 30);
/// Most that the answer has.
const ANSWER_BYTES: u64 = 1 << 30;

const AROUND: &str = "a reader of files";

/// What starts a program for the kernel.
const LOADERS: [&str; 4] = [
    "/lib64/ld-linux-x86-64.so.2",
    "/lib/ld-linux-aarch64.so.1",
    "/lib/ld-musl-x86_64.so.1",
    "/lib/ld-musl-aarch64.so.1",
];

#[derive(Debug, Args)]
pub(in crate::cli) struct FenceArgs {
    /// What the program may read, with all below it
    #[arg(long, value_name = "PATH", hide = true)]
    read: Vec<PathBuf>,

    /// Run this in the fence, instead of saying whether there is one
    #[arg(last = true, hide = true)]
    program: Vec<OsString>,
}

/// The verb `fence`.
pub(in crate::cli) fn fence(args: &FenceArgs) -> Result<(), Stop> {
    let Some((program, rest)) = args.program.split_first() else {
        return super::say();
    };
    let limits = [MEMORY, (Resource::RLIMIT_FSIZE, ANSWER_BYTES)];
    close(args, &limits, calls::STARTS)?;
    let why = Command::new(program).args(rest).exec();
    Err(not_closed(AROUND, &why))
}

/// Closes the fence around this process: it reads these places, and writes to what is open already.
pub(in crate::cli) fn close_around(read: Vec<PathBuf>) -> Result<(), Stop> {
    if !holds_files() {
        tell!("diskproof-load: {MISSING}: only the list of system calls holds {AROUND}");
    }
    let program = Vec::new();
    close(&FenceArgs { read, program }, &[MEMORY], &[])
}

fn close(args: &FenceArgs, limits: &[(Resource, u64)], more: &[c_long]) -> Result<(), Stop> {
    // Another user has got this alone of root's rights, for what is started here, too.
    let is_root = rustix::process::geteuid().is_root();
    let kept = is_root.then_some(CapabilitySet::DAC_READ_SEARCH);
    enclose(limits, kept, || limit_places(args))
        .and_then(|()| calls::limit(Sockets::None, more))
        .map_err(|what| not_closed(AROUND, &what))
}

fn limit_places(args: &FenceArgs) -> Result<RulesetStatus, RulesetError> {
    let program = args.program.first().map(PathBuf::from);
    let starts = program.into_iter().chain(LOADERS.map(PathBuf::from));
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let status = ruleset()?
        .add_rules(path_beneath_rules(&args.read, read))?
        .add_rules(path_beneath_rules(ALSO_READ, AccessFs::ReadFile))?
        .add_rules(path_beneath_rules(
            starts,
            AccessFs::ReadFile | AccessFs::Execute,
        ))?
        .restrict_self()?;
    Ok(status.ruleset)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Write;
    use std::net::TcpStream;

    use super::*;
    use crate::cli::kernel_fence::drop_privileges;

    #[test]
    fn a_reader_reads_what_is_named_and_writes_to_what_is_open() {
        let folder = tempfile::tempdir().unwrap();
        let [log, other, new] = ["log", "other", "new"].map(|name| folder.path().join(name));
        for file in [&log, &other] {
            fs::write(file, "text").unwrap();
        }
        let mut out = File::create(folder.path().join("out")).unwrap();
        let args = FenceArgs {
            read: vec![log.clone()],
            program: Vec::new(),
        };
        let within = || {
            drop_privileges(CapabilitySet::DAC_READ_SEARCH).unwrap();
            assert_ne!(limit_places(&args).unwrap(), RulesetStatus::NotEnforced);
            calls::limit(Sockets::None, &[]).unwrap();
            assert_eq!(fs::read_to_string(&log).unwrap(), "text");
            out.write_all(b"text").unwrap();
            assert!(fs::read(&other).is_err());
            assert!(fs::write(&log, "").is_err());
            assert!(fs::write(&new, "").is_err());
            assert!(fs::remove_file(&other).is_err());
            assert!(fs::rename(&other, &new).is_err());
            assert!(fs::read_dir(folder.path()).is_err());
            assert!(TcpStream::connect("127.0.0.1:1").is_err());
            assert!(Command::new("/bin/true").spawn().is_err());
        };
        std::thread::scope(|scope| scope.spawn(within).join().unwrap());
        assert_eq!(
            fs::read_to_string(folder.path().join("out")).unwrap(),
            "text"
        );
    }
}
