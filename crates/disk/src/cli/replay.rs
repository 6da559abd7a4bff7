use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use clap::Args;
use serde_json::json;

use super::output;
use crate::account::log::{self, Replayed};
use crate::contents::{Contents, Image, Store};
use crate::file;
use crate::volatile::{Choice, Keep};

/// Reproduce what a power cut left, from the log of requests
#[derive(Debug, Args)]
pub(super) struct Replay {
    /// The log that `track` wrote
    log: PathBuf,
    /// The bytes of the disk when the log began [default: an empty disk]
    #[arg(long)]
    image: Option<PathBuf>,
    /// A new file for the bytes that the cut left
    #[arg(long)]
    out: Option<PathBuf>,
    /// Use this seed instead of the log's
    #[arg(long)]
    seed: Option<u64>,
    /// Keep these of the unsafe writes, instead of those in the log
    #[arg(long, value_enum)]
    keep: Option<Keep>,
}

impl Replay {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let shown = || format!("the log {}", self.log.display());
        let file = file::open(&self.log).with_context(shown)?;
        let header = log::check(&file).with_context(shown)?;
        ensure!(
            header.empty || self.image.is_some() || self.out.is_none(),
            "the disk was not empty when the log began; give its bytes of that time with --image"
        );
        let mut contents = self.contents(header.medium.size_bytes)?;
        let replayed = log::replay(&file, &mut contents, |logged| Choice {
            seed: self.seed.unwrap_or(logged.seed),
            keep: self.keep.unwrap_or(logged.keep),
        })?;
        let as_logged = self.seed.is_none() && self.keep.is_none();
        let agrees = as_logged.then(|| replayed.survivors == replayed.logged);
        let bytes_matter = self.image.is_some() || self.out.is_some();
        ensure!(
            agrees != Some(false) || !bytes_matter,
            "the surviving bytes differ from those in the log, so the log did not begin with {}",
            self.image
                .as_ref()
                .map_or("an empty disk; give --image".to_owned(), |image| format!(
                    "the bytes of {}",
                    image.display()
                ))
        );
        if let Some(out) = &self.out {
            write_image(&contents, out)?;
        }
        self.report(&replayed, agrees)
    }

    /// The bytes lie in a scratch file, because a log may have written more than fits into memory.
    fn contents(&self, size_bytes: u64) -> anyhow::Result<Contents> {
        let image = self.image.as_deref().map(|path| {
            Image::open(path, size_bytes).with_context(|| format!("the image {}", path.display()))
        });
        let beside = self.out.as_deref().and_then(Path::parent);
        let beside = beside.filter(|beside| !beside.as_os_str().is_empty());
        let mut scratch = tempfile::Builder::new();
        let scratch = scratch.prefix("diskproof-replay-");
        let folder = match beside {
            Some(beside) => scratch.tempdir_in(beside),
            None => scratch.tempdir(),
        };
        let folder = folder.context("a scratch folder")?;
        let store = Store::file(&folder.path().join("contents"), u64::MAX)?;
        Ok(Contents::new(size_bytes, store, image.transpose()?))
    }

    fn report(&self, replayed: &Replayed, agrees: Option<bool>) -> anyhow::Result<()> {
        let mut report = serde_json::to_value(&replayed.survivors)?;
        // A digest of other bytes would mean nothing.
        if agrees == Some(false) || (agrees.is_none() && self.image.is_none()) {
            report["digest"] = serde_json::Value::Null;
        }
        report["device"] = json!(replayed.header.device);
        report["records"] = json!(replayed.records);
        report["choice"] = serde_json::to_value(replayed.choice)?;
        output::print_json(&report)
    }
}

/// Holes stay holes.
fn write_image(contents: &Contents, path: &Path) -> anyhow::Result<()> {
    const PIECE_BYTES: u64 = 1 << 20;
    let write = || -> anyhow::Result<()> {
        let file = File::create_new(path)?;
        file.set_len(contents.size_bytes())?;
        let mut at = 0;
        // A disk may end within a block.
        while at < contents.size_bytes()
            && let Some(data) = contents.next_data(at)
        {
            let end = contents.next_hole(data).min(data + PIECE_BYTES);
            let mut bytes = vec![0; usize::try_from(end - data)?];
            contents.read(data, &mut bytes)?;
            file.write_all_at(&bytes, data)?;
            at = end;
        }
        Ok(())
    };
    write().with_context(|| format!("the image {}", path.display()))
}
