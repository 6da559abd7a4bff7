//! The measurement of the path to a disk, in a process of its own.
//!
//! The server must never wait on its own mount. If it is killed meanwhile, it waits for an answer from its
//! own dead threads, and the kernel keeps the mount alive for it: no signal ends that.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use anyhow::{Context, bail};
use rustix::process::{Signal, set_parent_process_death_signal};
use scopeguard::guard;

use super::filesystem::FILE_NAME;
use super::{Form, floor};
use crate::request::Nanos;

/// The verb of the command line that runs the probe.
pub(crate) const VERB: &str = "probe";
/// Short enough to end soon after a signal, rare enough not to disturb the measurement.
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(10);

/// Measures the path to the disk in a mount, while the disk answers at once.
///
/// # Errors
///
/// The disk cannot be read, or something ended the disk meanwhile.
pub(super) fn measure(
    mount: &Path,
    form: Form,
    length: Duration,
    ended: &Receiver<()>,
) -> anyhow::Result<Nanos> {
    run(mount, form, length, ended)
        .with_context(|| format!("cannot measure the path to the disk in {}", mount.display()))
}

fn run(mount: &Path, form: Form, length: Duration, ended: &Receiver<()>) -> anyhow::Result<Nanos> {
    let mut command = Command::new("/proc/self/exe");
    command
        .args([VERB, "--as", form.name(), "--ms"])
        .arg(length.as_millis().to_string())
        .arg("--")
        .arg(mount)
        // A terminal's Ctrl-C is for the server, which ends the probe.
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let probe = command.spawn().context("the probe does not start")?;
    // It ends with whatever ends its measurement.
    let mut probe = guard(probe, |mut probe| {
        let _ = probe.kill();
        let _ = probe.wait();
    });
    while probe.try_wait()?.is_none() {
        match ended.recv_timeout(LOOK_AGAIN_AFTER) {
            Err(RecvTimeoutError::Timeout) => {}
            _ => bail!("it was interrupted"),
        }
    }
    let mut said = String::new();
    let from = probe.stdout.as_mut().expect("piped");
    from.read_to_string(&mut said)?;
    match said.trim_end().parse() {
        Ok(nanos) => Ok(nanos),
        Err(_) if said.is_empty() => bail!("the probe ended without a result"),
        Err(_) => bail!("{}", said.trim_end()),
    }
}

/// Work of the probe itself: measures the path and prints nanoseconds, or why it cannot.
pub(crate) fn answer(mount: &Path, form: Form, length: Duration) {
    // A server that died before this line has left no mount to wait for.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    let measured = match form {
        Form::File => floor::measure(&mount.join(FILE_NAME), length),
        Form::Directory => {
            let scratch = mount.join(".diskproof-path");
            let measured = floor::fill(&scratch).and_then(|()| floor::measure(&scratch, length));
            let _ = std::fs::remove_file(&scratch);
            measured
        }
    };
    let said = measured.map_or_else(|error| error.to_string(), |nanos| nanos.to_string());
    // Without a reader the measurement has ended.
    let _ = writeln!(std::io::stdout(), "{said}");
}
