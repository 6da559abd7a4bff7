//! The control socket: one JSON object a line, each answered by one line.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::ArgAction;
use clap::builder::{PathBufValueParser, PossibleValuesParser, TypedValueParser};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::disk::Disk;
use crate::faults::Fault;
use crate::volatile::Choice;

/// Requests are short; a longer line is refused.
const LINE_BYTES_AT_MOST: u64 = 64 * 1024;
/// Enough for a lab, a person and a few scripts; more are a mistake.
const CONNECTIONS_AT_MOST: usize = 64;

/// The requests of the control socket, and those of the command line. Those without fields have braces: serde then
/// refuses unknown keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, clap::Subcommand)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum Request {
    /// Print what is served, and how
    Describe {},
    /// Print what the disk did since its statistics began
    Statistics {},
    /// Start the statistics again from now
    Reset {},
    /// Switch the model's timing on, or answer requests at once
    Timing {
        #[arg(action = ArgAction::Set, value_name = "SWITCH", value_parser = switch())]
        on: bool,
    },
    /// Keep a snapshot of the bytes under a name
    Snapshot { name: String },
    /// Put the bytes of a snapshot back; without a name, restore power after a cut. Unmount first
    Restore {
        name: Option<String>,
        /// Seed of the model from now on [default: the seed that the disk was served with]
        #[arg(long)]
        seed: Option<u64>,
    },
    /// Delete a snapshot
    Forget { name: String },
    /// Start or stop tracking what a power cut can take
    Track {
        #[arg(action = ArgAction::Set, value_name = "SWITCH", value_parser = switch())]
        on: bool,
        /// A new file that logs all requests and their bytes, up to the cut
        #[arg(long, value_parser = absolute())]
        log: Option<PathBuf>,
    },
    /// Cut the power: every request fails until a restore
    Cut(Choice),
    #[command(skip)]
    Faults(Schedule),
    /// Bring a disk that holds the bytes from the start of a log to what survived the log's cut
    Replay {
        #[arg(value_parser = absolute())]
        log: PathBuf,
    },
    /// Stop serving: the mount is removed, and requests in progress fail
    Detach {},
}

pub(super) fn switch() -> impl TypedValueParser<Value = bool> {
    PossibleValuesParser::new(["on", "off"]).map(|switch| switch == "on")
}

fn absolute() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(std::path::absolute)
}

/// Faults and the seed of their draws; an empty schedule ends them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    pub schedule: Vec<Fault>,
    #[serde(default)]
    pub seed: u64,
}

/// Takes the socket's place in the file system.
///
/// # Errors
///
/// Another disk answers there, another file lies there, or the path cannot be a socket's.
pub(super) fn listen(path: &Path) -> anyhow::Result<UnixListener> {
    let shown = path.display();
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if !metadata.file_type().is_socket() => {
            bail!("{shown} exists and is not a socket; give another path")
        }
        Ok(_) if UnixStream::connect(path).is_ok() => {
            bail!("another program serves on the socket {shown}; detach it or give another path")
        }
        // Left by one that was killed.
        Ok(_) => std::fs::remove_file(path).with_context(|| format!("the old socket {shown}"))?,
        Err(_) => {}
    }
    UnixListener::bind(path).with_context(|| {
        format!("cannot create the socket {shown}; its directory must exist, and its path may have at most 107 bytes")
    })
}

/// Serves each connection on a thread of its own, until the program ends.
pub(super) fn serve(listener: &UnixListener, disk: &Arc<Disk>) {
    // Whoever has a connection holds it.
    let connections = Arc::new(());
    for stream in listener.incoming() {
        let Ok(mut stream) = stream else {
            // Out of descriptors, most likely; the next may do better, and must not be asked for at full speed.
            std::thread::sleep(std::time::Duration::from_millis(10));
            continue;
        };
        if Arc::strong_count(&connections) > CONNECTIONS_AT_MOST {
            let _ = answer(&mut stream, &failure(&"too many connections; close one"));
            continue;
        }
        let (disk, connection) = (disk.clone(), connections.clone());
        // Without a thread it is closed.
        let _ = std::thread::Builder::new()
            .name("control".to_owned())
            .spawn(move || {
                let _ = converse(stream, &disk);
                drop(connection);
            });
    }
}

fn converse(stream: UnixStream, disk: &Disk) -> io::Result<()> {
    let mut writer = stream.try_clone()?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = Vec::new();
        let read = reader
            .by_ref()
            .take(LINE_BYTES_AT_MOST + 1)
            .read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        if line.len() as u64 > LINE_BYTES_AT_MOST {
            let why = format!("a request may have at most {LINE_BYTES_AT_MOST} bytes");
            return answer(&mut writer, &failure(&why));
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let request = serde_json::from_slice(&line);
        let detach = matches!(request, Ok(Request::Detach {}));
        let reply = match request {
            Ok(request) => disk
                .perform(request)
                .unwrap_or_else(|error| failure(&format!("{error:#}"))),
            Err(error) => failure(&format!("not understood: {error}")),
        };
        // The request is carried out even if nobody waits for the answer any more.
        let _ = answer(&mut writer, &reply);
        if detach {
            disk.detach();
        }
    }
}

fn answer(stream: &mut UnixStream, reply: &Value) -> io::Result<()> {
    let mut line = reply.to_string();
    line.push('\n');
    stream.write_all(line.as_bytes())
}

fn failure(why: &dyn std::fmt::Display) -> Value {
    json!({"ok": false, "error": why.to_string()})
}

/// Asks a served disk one thing.
///
/// # Errors
///
/// Nobody listens at the path, or there is no valid answer.
pub fn ask(socket: &Path, request: &Request) -> anyhow::Result<Value> {
    let shown = socket.display();
    let mut stream = UnixStream::connect(socket)
        .with_context(|| format!("no disk is served on the socket {shown}"))?;
    let mut line = serde_json::to_string(request)?;
    line.push('\n');
    stream.write_all(line.as_bytes())?;
    let mut reply = String::new();
    BufReader::new(stream).read_line(&mut reply)?;
    serde_json::from_str(&reply)
        .with_context(|| format!("the disk on {shown} ended without an answer"))
}
