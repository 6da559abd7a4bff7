//! One served disk, as the control socket sees it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;

use parking_lot::Mutex;
use serde_json::{Value, json};

use super::apart::Apart;
use super::control::Request;
use super::engine::Engine;
use super::kept::Kept;
use super::standing::Awake;
use super::tracking::Tracking;
use crate::contents::Contents;
use crate::device::{Build, Model};

pub(super) struct Disk {
    pub(super) engine: Arc<Engine>,
    pub(super) contents: Arc<Mutex<Contents>>,
    pub(super) kept: Kept,
    pub(super) apart: Apart,
    pub(super) tracking: Arc<Tracking>,
    /// Its name or file.
    pub(super) device: String,
    pub(super) model: Model,
    pub(super) build: Build,
    /// Seed of the model at work.
    pub(super) begun_with: AtomicU64,
    pub(super) awake: Awake,
    /// The part of the description that does not change while the disk is served.
    pub(super) description: Value,
    pub(super) end: Mutex<Sender<()>>,
}

impl Disk {
    /// Does what was asked. A detach is only acknowledged: it follows when the answer has left.
    pub(super) fn perform(&self, request: Request) -> anyhow::Result<Value> {
        let mut answer = match request {
            Request::Describe {} => self.describe(),
            Request::Statistics {} => self.statistics()?,
            Request::Reset {} => {
                self.engine.reset();
                Value::Null
            }
            Request::Timing { on } => {
                self.awake.set(on);
                self.engine.set_timed(on);
                json!({"timing": on})
            }
            Request::Snapshot { name } => self.kept.snapshot(&name)?.into(),
            Request::Restore { name, seed } => match name {
                Some(name) => self.restore(&name, seed)?.into(),
                None => self.power_on(seed)?.into(),
            },
            Request::Forget { name } => self.kept.forget(&name)?.into(),
            Request::Track { on, log } => self.track(on, log.as_deref())?,
            Request::Cut(choice) => self.cut(choice)?,
            Request::Faults(faults) => self.befall(faults)?,
            Request::Replay { log } => self.replay(&log)?,
            Request::Detach {} => Value::Null,
        };
        // In an answer of nothing else, too.
        answer["ok"] = true.into();
        Ok(answer)
    }

    /// Bytes must not change under requests, so the user unmounts before a restore. The model
    /// starts again, as after a long rest: its caches and credits are not part of the bytes. If the
    /// restore is refused, model and statistics go on as they were.
    fn restore(&self, name: &str, seed: Option<u64>) -> anyhow::Result<()> {
        self.kept.restore(name, || {
            self.begin_model(seed)?;
            self.tracking.renew();
            Ok(())
        })
    }

    /// Begins the model anew, and with it statistics; the power is on afterwards.
    ///
    /// # Errors
    ///
    /// Requests are under way; nothing has changed then.
    pub(super) fn begin_model(&self, seed: Option<u64>) -> anyhow::Result<()> {
        let build = seed.map_or(self.build, |seed| Build { seed, ..self.build });
        let another = self.begun_with.load(Ordering::Relaxed) != build.seed;
        let anew = || {
            self.begun_with.store(build.seed, Ordering::Relaxed);
            self.model.build(build)
        };
        self.engine.renew(another, anew)
    }

    fn describe(&self) -> Value {
        let mut description = self.description.clone();
        let contents = self.contents.lock();
        description["power"] = (!self.engine.is_off()).into();
        description["tracked"] = self.tracking.is_on().into();
        description["logged"] = self.tracking.is_logged().into();
        description["timing"] = self.engine.is_timed().into();
        description["awake"] = self.awake.is_held().into();
        description["snapshots"] = contents.snapshots().into();
        description
    }

    fn statistics(&self) -> anyhow::Result<Value> {
        let mut report = serde_json::to_value(self.engine.report())?;
        let contents = self.contents.lock();
        report["contents_bytes"] = contents.held_bytes().into();
        report["contents_limit_bytes"] = contents.limit_bytes().into();
        Ok(report)
    }

    pub(super) fn detach(&self) {
        // Nobody listening means that the end has begun.
        let _ = self.end.lock().send(());
    }
}
