//! A disk at work: a file in a FUSE mount whose requests take a model's time.

mod alarm;
mod answer;
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
mod standing;
mod statistics;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use anyhow::{Context, bail};
use fuser::{Config, Filesystem, MountOption, Notifier, Session};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::{Value, json};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

pub use control::{Request as ControlRequest, ask};
pub use statistics::LATENESS_SHARE_ALLOWED;

use self::directory::Directory;
use self::disk::Disk;
use self::engine::{Engine, Pace};
use self::filesystem::{FILE_NAME, OneFile};
use self::floor::{ModelLatency, Verdict};
use self::kept::Kept;
use self::standing::Awake;
use crate::contents::{Contents, Image, Store};
use crate::device::{Build, Device};
use crate::request::{NANOS_PER_US, Nanos};

const SECTOR_BYTES: u64 = 512;
/// Long enough for thousands of reads, short enough for nobody to wait.
const PATH_MEASURED_FOR: Duration = Duration::from_millis(150);
/// Long enough for a median that a second measurement repeats.
const FLOOR_MEASURED_FOR: Duration = Duration::from_millis(300);

/// What is in the mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// The disk as one file, for a loop device and a file system on it
    File,
    /// A directory whose files lie on the disk; needs no privilege
    Directory,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Directory => "directory",
        }
    }
}

/// How a disk is to be served.
#[derive(Clone, Debug)]
pub struct Options {
    pub form: Form,
    pub mount: PathBuf,
    pub socket: PathBuf,
    /// The whole device where absent.
    pub size_bytes: Option<u64>,
    pub seed: u64,
    pub timing: bool,
    /// A new sparse file for the bytes; memory where absent.
    pub contents: Option<PathBuf>,
    pub image: Option<PathBuf>,
    /// Bytes that contents may take.
    pub limit_bytes: u64,
    /// Do not keep processors from deep sleep.
    pub let_idle: bool,
    /// Serve a device that is faster than this machine's floor.
    pub below_floor: bool,
    /// What the way to the disk costs, where the caller knows it better.
    pub path_us: Option<f64>,
    pub spin_us: u64,
}

/// Serves a device until it is detached, unmounted, or told to end; `ready` gets what there is to
/// know as soon as it can be used.
///
/// # Errors
///
/// Where it cannot be served; nothing is left behind then.
pub fn serve(
    name: &str,
    device: &Device,
    options: &Options,
    ready: impl FnOnce(&Value),
) -> anyhow::Result<()> {
    let build = Build { seed: options.seed };
    let timing = device.device.build(build);
    let size_bytes = size(device, timing.capacity_bytes(), options)?;
    mount::check_fuse()?;
    mount::check(&options.mount)?;
    let contents = Arc::new(Mutex::new(contents(size_bytes, options)?));
    standing::never_wait_for_oneself();
    let engine = Arc::new(Engine::new(
        timing,
        false,
        Pace {
            path: 0,
            spin: options.spin_us * NANOS_PER_US,
        },
    ));
    let awake = Awake::new(!options.let_idle);
    awake.set(true);
    let listener = control::listen(&options.socket)?;
    let _socket = RemovedAtEnd(&options.socket);
    let (end, ended) = channel();
    end_on_signal(&end)?;
    let (mounted, kept) = mount_as(options, &engine, &contents, &end)?;
    let floor = measure_path(options)?;
    let path = options.path_us.map_or(floor, nanos);
    let label = match floor::verdict(ModelLatency::of(device, build), path, options.below_floor) {
        Verdict::Fits => None,
        Verdict::Labelled(label) => Some(label),
        Verdict::Refused(why) => bail!("{}: {why}", device.title),
    };
    engine.set_path(path);
    awake.set(options.timing);
    engine.set_timed(options.timing);
    engine.reset();
    let description = json!({
        "device": name,
        "title": device.title,
        "as": options.form.name(),
        "mount": options.mount,
        "socket": options.socket,
        "file": (options.form == Form::File).then(|| options.mount.join(FILE_NAME)),
        "size_bytes": size_bytes,
        "seed": options.seed,
        "floor_us": us(floor),
        "path_us": us(path),
        "label": label,
        "contents": options.contents,
        "image": options.image,
        "contents_limit_bytes": options.limit_bytes,
        "process": std::process::id(),
    });
    let disk = Arc::new(Disk {
        engine: engine.clone(),
        contents,
        kept,
        model: device.device.clone(),
        build,
        awake,
        description: description.clone(),
        end: Mutex::new(end),
    });
    std::thread::Builder::new()
        .name("listener".to_owned())
        .spawn(move || control::serve(&listener, &disk))?;
    let mut event = description;
    event["event"] = "ready".into();
    ready(&event);
    wait(&ended);
    drop(mounted);
    Ok(())
}

/// Mounts the disk in the form that is asked for, and says what a snapshot of it keeps.
fn mount_as(
    options: &Options,
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
            let (mounted, _) =
                Mounted::start(&options.mount, Config::default(), engine, file, end)?;
            Ok((mounted, Kept::Bytes(contents.clone())))
        }
        Form::Directory => {
            if options.image.is_some() {
                bail!(
                    "a directory begins empty: an image has no names for its bytes; serve it as a file"
                );
            }
            let directory = Directory::new(engine.clone(), contents.clone())?;
            let config = directory::config();
            let files = directory.clone();
            let (mounted, kernel) = Mounted::start(&options.mount, config, engine, files, end)?;
            directory::as_others(&options.mount);
            Ok((mounted, Kept::Names(directory, kernel)))
        }
    }
}

/// What the way to the disk costs, while it answers at once.
fn measure_path(options: &Options) -> anyhow::Result<Nanos> {
    let measured = match options.form {
        Form::File => floor::measure(&options.mount.join(FILE_NAME), PATH_MEASURED_FOR),
        Form::Directory => {
            let scratch = options.mount.join(".diskproof-path");
            let _removed = RemovedAtEnd(&scratch);
            floor::fill(&scratch).and_then(|()| floor::measure(&scratch, PATH_MEASURED_FOR))
        }
    };
    measured.with_context(|| {
        format!(
            "the way to the disk in {} cannot be measured",
            options.mount.display()
        )
    })
}

/// Measures this machine's way to a disk, without a loop device: a disk that takes no time, in a
/// mount of its own. In microseconds.
///
/// # Errors
///
/// Where nothing can be mounted.
pub fn measure_floor(let_idle: bool) -> anyhow::Result<f64> {
    const SIZE_BYTES: u64 = 1 << 20;
    mount::check_fuse()?;
    let directory = TemporaryDirectory::make()?;
    let contents = Contents::new(SIZE_BYTES, Store::memory(SIZE_BYTES), None);
    let engine = Arc::new(Engine::new(
        Box::new(crate::timing::Null::new(SIZE_BYTES)),
        true,
        Pace { path: 0, spin: 0 },
    ));
    let awake = Awake::new(!let_idle);
    awake.set(true);
    let (end, _ended) = channel();
    let (_mounted, _) = Mounted::start(
        &directory.0,
        Config::default(),
        &engine,
        OneFile {
            engine: engine.clone(),
            contents: Arc::new(Mutex::new(contents)),
            size_bytes: SIZE_BYTES,
        },
        &end,
    )?;
    Ok(us(floor::measure(
        &directory.0.join(FILE_NAME),
        FLOOR_MEASURED_FOR,
    )?))
}

/// How a device's own latency stands to what a machine's way to a disk costs.
#[derive(Clone, Debug, Serialize)]
pub struct Margin {
    /// Mean latency of its model for 4 KiB, one request after the other.
    pub read_us: f64,
    pub write_us: f64,
    /// What has to be said of it on this machine; absent where nothing has.
    pub label: Option<String>,
    /// Whether it is served only if that is asked for.
    pub refused: bool,
}

/// Holds a device's model against a floor, as serving it would.
#[must_use]
pub fn margin(device: &Device, build: Build, floor_us: Option<f64>) -> Margin {
    let model = ModelLatency::of(device, build);
    let (label, refused) =
        match floor_us.map(|floor_us| floor::verdict(model, nanos(floor_us), false)) {
            None | Some(Verdict::Fits) => (None, false),
            Some(Verdict::Labelled(label)) => (Some(label), false),
            Some(Verdict::Refused(why)) => (Some(why), true),
        };
    Margin {
        read_us: us(model.read()),
        write_us: us(model.write()),
        label,
        refused,
    }
}

fn size(device: &Device, capacity_bytes: u64, options: &Options) -> anyhow::Result<u64> {
    let size_bytes = options.size_bytes.unwrap_or(capacity_bytes);
    if size_bytes == 0 || !size_bytes.is_multiple_of(SECTOR_BYTES) {
        bail!(
            "a disk has a whole number of sectors of {SECTOR_BYTES} bytes, and at least one; its size is given as {size_bytes} bytes"
        );
    }
    if size_bytes > capacity_bytes {
        bail!(
            "{} has {capacity_bytes} bytes; {size_bytes} are too many",
            device.title
        );
    }
    Ok(size_bytes)
}

fn contents(size_bytes: u64, options: &Options) -> anyhow::Result<Contents> {
    let image = options
        .image
        .as_deref()
        .map(|path| open_image(path, size_bytes))
        .transpose()?;
    let store = match &options.contents {
        None => Store::memory(options.limit_bytes),
        Some(path) => Store::file(path, options.limit_bytes).with_context(|| {
            format!(
                "contents in the file {}, which must not be there yet",
                path.display()
            )
        })?,
    };
    Ok(Contents::new(size_bytes, store, image))
}

fn open_image(path: &Path, size_bytes: u64) -> anyhow::Result<Image> {
    let image = Image::open(path).with_context(|| format!("the image {}", path.display()))?;
    if image.size_bytes() > size_bytes {
        bail!(
            "the image {} has {} bytes, more than the disk's {size_bytes}",
            path.display(),
            image.size_bytes()
        );
    }
    Ok(image)
}

fn us(nanos: u64) -> f64 {
    nanos as f64 / 1e3
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the command line checks it"
)]
fn nanos(us: f64) -> u64 {
    (us * 1e3) as u64
}

fn wait(ended: &Receiver<()>) {
    // Whoever could still send has gone: that is an end, too.
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

/// A mount and the threads behind it. Dropped, it fails what is under way and takes the mount away.
struct Mounted {
    directory: PathBuf,
    engine: Arc<Engine>,
}

impl Mounted {
    fn start(
        directory: &Path,
        mut config: Config,
        engine: &Arc<Engine>,
        files: impl Filesystem,
        end: &Sender<()>,
    ) -> anyhow::Result<(Self, Notifier)> {
        config.mount_options.extend([
            MountOption::FSName("diskproof".to_owned()),
            MountOption::Subtype("diskproof".to_owned()),
            MountOption::NoSuid,
            MountOption::NoDev,
            MountOption::NoExec,
        ]);
        let session = Session::new(files, directory, &config)
            .with_context(|| format!("{} cannot be mounted", directory.display()))?;
        let notifier = session.notifier();
        let mounted = Self {
            directory: directory.to_owned(),
            engine: engine.clone(),
        };
        let scheduler = engine.clone();
        keeping_time("scheduler", end, move || scheduler.schedule())?;
        // It ends when somebody unmounts; an error is the connection's end just as well.
        keeping_time("server", end, move || drop(session.run()))?;
        Ok((mounted, notifier))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        self.engine.end();
        mount::take_away(&self.directory);
    }
}

/// Starts a thread without which the disk is none: when it ends, in whatever way, so does the disk.
fn keeping_time(
    name: &str,
    end: &Sender<()>,
    work: impl FnOnce() + Send + 'static,
) -> anyhow::Result<()> {
    let end = SentAtEnd(end.clone());
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || {
            let _end = end;
            standing::keep_time();
            work();
        })?;
    Ok(())
}

struct SentAtEnd(Sender<()>);

impl Drop for SentAtEnd {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

struct RemovedAtEnd<'a>(&'a Path);

impl Drop for RemovedAtEnd<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(self.0);
    }
}

/// An empty directory among the system's temporary ones.
struct TemporaryDirectory(PathBuf);

impl TemporaryDirectory {
    fn make() -> anyhow::Result<Self> {
        let name = format!("diskproof-floor-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).with_context(|| format!("the directory {}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}
