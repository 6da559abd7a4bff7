//! A disk at work: a file in a FUSE mount whose requests take a model's time.

mod alarm;
mod answer;
mod apart;
mod befalling;
mod clock;
mod control;
mod core;
mod depth;
mod directory;
mod disk;
mod engine;
mod filesystem;
mod floor;
mod kept;
mod mount;
mod mounted;
mod options;
mod power;
mod probe;
mod standing;
mod statistics;
mod tracking;

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use anyhow::{Context, bail};
use fuser::Config;
use parking_lot::Mutex;
use scopeguard::guard;
use serde::Serialize;
use serde_json::{Value, json};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

pub use control::{Request as ControlRequest, Schedule, ask};
pub use floor::BelowFloor;
pub use options::{Form, Options, microseconds};
pub(crate) use probe::{VERB as PROBE, answer as probe};
pub use statistics::LATENESS_SHARE_ALLOWED;

use self::clock::Clock;
use self::directory::Directory;
use self::disk::Disk;
use self::engine::Engine;
use self::filesystem::{FILE_NAME, OneFile};
use self::floor::ModelLatency;
use self::kept::Kept;
use self::mounted::Mounted;
use self::options::{contents, size};
use self::standing::Awake;
use crate::account::Medium;
use crate::contents::{Contents, Store};
use crate::device::{Build, Device, Promise};
use crate::request::{nanos_of_us, us_of_nanos};

/// Long enough for thousands of reads, short enough for nobody to wait.
const PATH_MEASURED_FOR: Duration = Duration::from_millis(150);
/// Long enough for a median that a second measurement repeats.
const FLOOR_MEASURED_FOR: Duration = Duration::from_millis(300);

/// Serves a device until it is detached, unmounted, or interrupted; `ready` gets the description of
/// the disk as soon as it can be used.
///
/// # Errors
///
/// If it cannot be served, or `ready` fails; nothing is left behind then.
pub fn serve(
    name: &str,
    device: &Device,
    options: &Options,
    ready: impl FnOnce(&Value) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let build = Build {
        seed: options.seed,
        promise: options.promise,
    };
    let timing = device.device.build(build);
    let properties = device.device.properties(options.promise);
    let size_bytes = size(device, timing.capacity_bytes(), options)?;
    mount::check_fuse()?;
    let mount = mount::check(&options.mount, &options.socket)?;
    standing::never_wait_for_oneself();
    let contents = Arc::new(Mutex::new(contents(size_bytes, options)?));
    let medium = Medium {
        size_bytes,
        sector_bytes: properties.sector_bytes,
        survives: properties.survives_without_power,
    };
    let clock = Clock::start(options.dilation);
    let engine = Arc::new(Engine::new(clock, timing, false, 0, medium));
    let awake = Awake::default();
    awake.set(true);
    let listener = control::listen(&options.socket)?;
    let _socket = guard(&options.socket, |socket| drop(std::fs::remove_file(socket)));
    let (end, ended) = channel();
    end_on_signal(&end)?;
    let (mounted, kept) = mount_as(options, &mount, &engine, &contents, &end)?;
    let floor = clock.own(probe::measure(
        &mount,
        options.form,
        PATH_MEASURED_FOR,
        &ended,
    )?);
    let path = options
        .path_us
        .map_or(floor, |path_us| clock.own(nanos_of_us(path_us)));
    // A path said to be shorter than was measured is not believed.
    let least = path.max(floor);
    let label = floor::label(ModelLatency::of(device, build), least, options.below_floor)
        .with_context(|| device.title.clone())?;
    engine.set_path(path);
    awake.set(options.timing);
    engine.set_timed(options.timing);
    engine.reset();
    let mut description = json!({
        "device": name,
        "title": device.title,
        "as": options.form.name(),
        "mount": options.mount,
        "socket": options.socket,
        "file": (options.form == Form::File).then(|| options.mount.join(FILE_NAME)),
        "size_bytes": size_bytes,
        "kind": device.device.kind(),
        "seed": options.seed,
        "dilation": options.dilation,
        "flushes": (options.promise == Promise::FlushesIgnored).then_some("ignored"),
        "power_loss": (options.promise == Promise::PowerLossProtected).then_some("protected"),
        "floor_us": us_of_nanos(floor),
        "path_us": us_of_nanos(path),
        "label": label,
        "contents": options.contents,
        "image": options.image,
        "contents_limit_bytes": options.limit_bytes,
        "process": std::process::id(),
    });
    properties.add_to(&mut description);
    let disk = Arc::new(Disk {
        engine: engine.clone(),
        contents,
        kept,
        apart: mounted.apart.clone(),
        tracking: engine.tracking.clone(),
        device: name.to_owned(),
        model: device.device.clone(),
        build,
        begun_with: build.seed.into(),
        awake,
        description: description.clone(),
        end: Mutex::new(end),
    });
    std::thread::Builder::new()
        .name("listener".to_owned())
        .spawn(move || control::serve(&listener, &disk))?;
    let mut event = description;
    event["event"] = "ready".into();
    event["warnings"] = warnings(size_bytes, options.limit_bytes).into();
    ready(&event)?;
    wait(&ended);
    drop(mounted);
    Ok(())
}

/// Warnings before the disk is filled: a thin disk may be larger than the room for its contents.
fn warnings(size_bytes: u64, limit_bytes: u64) -> Vec<Value> {
    if size_bytes <= limit_bytes {
        return Vec::new();
    }
    vec![json!({
        "warning": "larger_than_its_contents",
        "size_bytes": size_bytes,
        "contents_limit_bytes": limit_bytes,
        "message": format!(
            "the disk has {size_bytes} bytes, but its contents may take only {limit_bytes}; writes fail \
             beyond that. Lower --size, raise --memory-limit, or give --contents a file"
        ),
    })]
}

/// Mounts the disk in the form that is asked for, and says what a snapshot of it keeps.
fn mount_as(
    options: &Options,
    mount: &Path,
    engine: &Arc<Engine>,
    contents: &Arc<Mutex<Contents>>,
    end: &Sender<()>,
) -> anyhow::Result<(Mounted, Kept)> {
    match options.form {
        Form::File => {
            let file = OneFile {
                engine: engine.clone(),
                contents: contents.clone(),
                size_bytes: contents.lock().size_bytes(),
            };
            let (mounted, _) = Mounted::start(mount, Config::default(), engine, file, end)?;
            Ok((mounted, Kept::Bytes(contents.clone())))
        }
        Form::Directory => {
            if options.image.is_some() {
                bail!(
                    "a directory begins empty, because the bytes of an image have no names; serve the disk as a file"
                );
            }
            let directory = Directory::new(engine.clone(), contents.clone())?;
            let config = directory::config();
            let files = directory.clone();
            let (mounted, kernel) = Mounted::start(mount, config, engine, files, end)?;
            directory::as_others(mounted.apart.device);
            Ok((mounted, Kept::Names(directory, kernel)))
        }
    }
}

/// Measures this machine's way to a disk, without a loop device: a disk that takes no time, in a
/// mount of its own. In microseconds.
///
/// # Errors
///
/// If nothing can be mounted, or a signal ends the measurement; nothing is left behind then.
pub fn measure_floor() -> anyhow::Result<f64> {
    const SIZE_BYTES: u64 = 1 << 20;
    mount::check_fuse()?;
    let (end, ended) = channel();
    end_on_signal(&end)?;
    let directory = tempfile::Builder::new()
        .prefix("diskproof-floor-")
        .tempdir()
        .context("a temporary directory")?;
    let contents = Contents::new(SIZE_BYTES, Store::memory(SIZE_BYTES), None);
    let engine = Arc::new(Engine::new(
        Clock::start(1),
        Box::new(crate::timing::Memory::without_delay(SIZE_BYTES)),
        true,
        0,
        Medium {
            size_bytes: SIZE_BYTES,
            sector_bytes: 512,
            survives: false,
        },
    ));
    let awake = Awake::default();
    awake.set(true);
    let (mounted, _) = Mounted::start(
        directory.path(),
        Config::default(),
        &engine,
        OneFile {
            engine: engine.clone(),
            contents: Arc::new(Mutex::new(contents)),
            size_bytes: SIZE_BYTES,
        },
        &end,
    )?;
    let floor = probe::measure(directory.path(), Form::File, FLOOR_MEASURED_FOR, &ended)?;
    drop(mounted);
    Ok(us_of_nanos(floor))
}

/// How a device's own latency compares with the path to a disk on a machine.
#[derive(Clone, Debug, Serialize)]
pub struct Margin {
    pub capacity_bytes: u64,
    /// Median latency of its model for 4 KiB, one request after the other.
    pub read_us: f64,
    pub write_us: f64,
    /// What must be said with its figures on this machine; absent if nothing.
    pub label: Option<String>,
    /// Whether it is served only with --below-floor.
    pub refused: bool,
}

/// Holds a device's model against a floor, as serving it would.
pub fn margin(device: &Device, build: Build, floor_us: Option<f64>) -> Margin {
    let model = ModelLatency::of(device, build);
    let label = floor_us.map_or(Ok(None), |floor_us| {
        floor::label(model, nanos_of_us(floor_us), false)
    });
    let (label, refused) = match label {
        Ok(label) => (label, false),
        Err(too_fast) => (Some(too_fast.to_string()), true),
    };
    Margin {
        capacity_bytes: model.capacity_bytes,
        read_us: us_of_nanos(model.read),
        write_us: us_of_nanos(model.write),
        label,
        refused,
    }
}

fn wait(ended: &Receiver<()>) {
    // All senders are gone: that is an end, too.
    let _ = ended.recv();
}

fn end_on_signal(end: &Sender<()>) -> anyhow::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])?;
    let end = end.clone();
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            for _ in signals.forever() {
                let _ = end.send(());
            }
        })?;
    Ok(())
}
