//! The power of a served disk, as the control socket has it: tracked, cut, brought back, replayed.

use std::path::Path;

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};

use super::control::Schedule;
use super::disk::Disk;
use super::kept::Kept;
use super::tracking;
use crate::account::log;
use crate::request::NANOS_PER_US;
use crate::volatile::Choice;

impl Disk {
    /// Keeps account of what a cut can take from now on, or no longer.
    pub(super) fn track(&self, on: bool, log: Option<&Path>) -> anyhow::Result<Value> {
        self.check_file("tracked")?;
        if self.engine.is_off() {
            bail!("the power is off; restore the disk first");
        }
        let ended_log = if on {
            let file = log
                .map(|log| {
                    let made = self.apart.create_new(log);
                    made.with_context(|| format!("the log {} cannot be made", log.display()))
                })
                .transpose()?;
            let contents = self.contents.lock();
            let ended_log = self.tracking.begin(&contents, &self.device, file)?;
            self.engine.forget_flushes();
            ended_log
        } else {
            ensure!(
                log.is_none(),
                "only a tracked disk has a log; ask with track on"
            );
            self.tracking.end()
        };
        Ok(json!({"tracked": on, "log": log, "ended_log": ended_log}))
    }

    /// The power fails. The contents' lock is taken first, so that no write is between its bytes and its
    /// place in the account; then the core's, by the engine, which makes it one instant.
    pub(super) fn cut(&self, choice: Choice) -> anyhow::Result<Value> {
        self.check_file("cut")?;
        let mut contents = self.contents.lock();
        self.tracking.check_on()?;
        let Some(instant) = self.engine.cut() else {
            bail!("the power is off already; restore the disk first");
        };
        let (survivors, log) = self.tracking.cut(&mut contents, choice, instant.at)?;
        drop(contents);
        let log = tracking::finish(log);
        let us = |at| self.engine.clock.monotonic(at) / NANOS_PER_US;
        let mut answer = serde_json::to_value(survivors)?;
        answer["under_way"] = instant.under_way.into();
        answer["at_monotonic_us"] = us(instant.at).into();
        answer["last_flush_monotonic_us"] = instant.last_flush.map(us).into();
        answer["log"] = log;
        Ok(answer)
    }

    /// Restores the power, with the surviving bytes. The model starts again.
    pub(super) fn power_on(&self, seed: Option<u64>) -> anyhow::Result<()> {
        if !self.engine.is_off() {
            bail!("the power was not cut; give the name of a snapshot to restore");
        }
        let contents = self.contents.lock();
        self.tracking.check_survivors()?;
        self.begin_model(seed)?;
        drop(contents);
        Ok(())
    }

    /// Puts a schedule of faults to work.
    pub(super) fn befall(&self, faults: Schedule) -> anyhow::Result<Value> {
        let scheduled = faults.schedule.len();
        let (engine, Schedule { schedule, seed }) = (&self.engine, faults);
        let put = engine.faults.schedule(schedule, seed, engine.now());
        put.map_err(anyhow::Error::msg)?;
        Ok(json!({"scheduled": scheduled}))
    }

    /// Replays a log, so that the disk holds what survived its cut. Only the bytes change before
    /// the result is verified; nobody sees them until then, and they are put back if it is refused.
    pub(super) fn replay(&self, path: &Path) -> anyhow::Result<Value> {
        self.check_file("replayed on")?;
        let opened = self.apart.open(path);
        let log = opened.with_context(|| format!("the log {}", path.display()))?;
        self.engine.check_idle()?;
        let mut contents = self.contents.lock();
        let before = contents.keep();
        let replayed = log::replay(&log, &mut contents).and_then(|replayed| {
            ensure!(
                replayed.survivors == replayed.logged,
                "the surviving bytes differ from those in the log (digest {} instead of {}): the disk's bytes are not those from which the log began",
                replayed.survivors.digest,
                replayed.logged.digest
            );
            self.begin_model(None)?;
            Ok(replayed)
        });
        match replayed {
            Ok(replayed) => {
                contents.let_go(before);
                self.tracking.renew();
                let mut answer = serde_json::to_value(replayed.survivors)?;
                answer["records"] = replayed.records.into();
                Ok(answer)
            }
            Err(error) => {
                contents.put_back(before);
                Err(error)
            }
        }
    }

    fn check_file(&self, what: &str) -> anyhow::Result<()> {
        if matches!(self.kept, Kept::Names(..)) {
            bail!(
                "a disk served as a directory cannot be {what}, because its file names are in no journal that could be recovered; serve it as a file"
            );
        }
        Ok(())
    }
}
