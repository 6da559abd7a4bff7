//! The latency of the path to a virtual disk on this machine, and which devices it is good enough
//! for.

use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use serde::Serialize;
use thiserror::Error;

use crate::device::{Build, Device};
use crate::request::{Nanos, Request, Tag, us_of_nanos};
use crate::timing::{Event, Timing};

const BLOCK_BYTES: u64 = 4096;
const BLOCKS: u64 = 256;
const ROUNDS: u32 = 3;
/// Requests of a model that are looked at: enough for a median, and for the caches of a disk to matter
/// little; milliseconds of ours.
const MODEL_REQUESTS: u64 = 2_000;
const MODEL_FLUSHES: u64 = 200;

/// The median of reads of 4 KiB of a served file, one after the other: the least of three medians,
/// since others may disturb a measurement but cannot speed it up. The file must answer at once: a
/// null device, or timing off.
///
/// # Errors
///
/// If the file cannot be opened or read.
pub(super) fn measure(file: &Path, length: Duration) -> io::Result<Nanos> {
    // Bypasses the kernel's cache, if there is one.
    let mut options = OpenOptions::new();
    let direct = OFlags::DIRECT.bits().cast_signed();
    let file = options.read(true).custom_flags(direct).open(file)?;
    let mut least = Nanos::MAX;
    for _ in 0..ROUNDS {
        least = least.min(median_of_reads(&file, length / ROUNDS)?);
    }
    Ok(least)
}

fn median_of_reads(file: &File, length: Duration) -> io::Result<Nanos> {
    let mut block = vec![0; usize::try_from(BLOCK_BYTES).expect("a small number")];
    let mut taken = Vec::new();
    let end = Instant::now() + length;
    let mut at = 0;
    loop {
        let from = Instant::now();
        if from >= end && !taken.is_empty() {
            break;
        }
        // A disk may be smaller than the span; what is behind its end answers as fast.
        file.read_at(&mut block, at * BLOCK_BYTES)?;
        taken.push(Nanos::try_from(from.elapsed().as_nanos()).unwrap_or(Nanos::MAX));
        at = (at + 1) % BLOCKS;
    }
    taken.sort_unstable();
    Ok(taken[taken.len() / 2])
}

/// Makes a file that `measure` can read.
///
/// # Errors
///
/// If it exists already or cannot be written.
pub(super) fn fill(file: &Path) -> io::Result<()> {
    let file = File::create_new(file)?;
    file.write_all_at(
        &vec![1; usize::try_from(BLOCKS * BLOCK_BYTES).expect("a small number")],
        0,
    )?;
    file.sync_all()
}

/// A device that is faster than this machine can answer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Error)]
#[error(
    "the device is too fast for this machine: its model answers a 4 KiB read in {model_read_us:.1} us, and the \
     path to a virtual disk alone takes {path_us:.1} us. Use a slower device or a faster machine, or serve it \
     slower than it is with --below-floor"
)]
pub struct BelowFloor {
    /// Median of the model's reads of 4 KiB at depth 1.
    pub model_read_us: f64,
    /// Latency of the path to the disk on this machine, at depth 1.
    pub path_us: f64,
}

/// Median latencies of a model, one request after the other: reads and writes of 4 KiB, and flushes,
/// each after such a write.
#[derive(Clone, Copy, Debug)]
pub(super) struct ModelLatency {
    pub(super) read: Nanos,
    pub(super) write: Nanos,
    flush: Nanos,
    /// Of the same model, to save building it again.
    pub(super) capacity_bytes: u64,
}

impl ModelLatency {
    pub(super) fn of(device: &Device, build: Build) -> Self {
        // One model for all, since that of a large flash disk takes a while to make. Reads come first:
        // they leave nothing behind that a write would meet.
        let mut timing = device.device.build(build);
        let capacity_bytes = timing.capacity_bytes();
        let mut alone = Alone {
            timing: timing.as_mut(),
            now: 0,
            next_tag: 0,
        };
        let read = alone.median(MODEL_REQUESTS, Alone::read);
        let write = alone.median(MODEL_REQUESTS, Alone::write);
        let flush = alone.median(MODEL_FLUSHES, |alone, at| {
            alone.write(at);
            alone.latency(Request::flush())
        });
        Self {
            read,
            write,
            flush,
            capacity_bytes,
        }
    }
}

/// A model with one request at a time in it.
struct Alone<'a> {
    timing: &'a mut dyn Timing,
    now: Nanos,
    next_tag: u64,
}

impl Alone<'_> {
    /// Median of `count` requests, at blocks far from each other; the step visits all blocks alike.
    fn median(&mut self, count: u64, mut one: impl FnMut(&mut Self, u64) -> Nanos) -> Nanos {
        let blocks = (self.timing.capacity_bytes() / BLOCK_BYTES).max(1);
        let step = blocks / 2 + blocks / 9 + 1;
        let mut block = 0;
        let mut taken: Vec<Nanos> = (0..count)
            .map(|_| {
                block = (block + step) % blocks;
                one(self, block * BLOCK_BYTES)
            })
            .collect();
        taken.sort_unstable();
        taken[taken.len() / 2]
    }

    fn read(&mut self, at: u64) -> Nanos {
        self.latency(Request::read(at, BLOCK_BYTES))
    }

    fn write(&mut self, at: u64) -> Nanos {
        self.latency(Request::write(at, BLOCK_BYTES))
    }

    fn latency(&mut self, request: Request) -> Nanos {
        let (mine, submitted) = (Tag(self.next_tag), self.now);
        self.next_tag += 1;
        self.timing.submit(submitted, mine, request);
        let mut events = Vec::new();
        loop {
            let next = self.timing.next_event();
            self.now = next
                .expect("a device with requests in it has something to do")
                .max(self.now);
            self.timing.advance(self.now, &mut events);
            for event in events.drain(..) {
                if let Event::Answered { tag, at } = event
                    && tag == mine
                {
                    return at - submitted;
                }
            }
        }
    }
}

/// What is to be said of every result on a device, if not all that it does takes at least twice this machine's
/// floor: the kinds of request that are faster in its model than here, or close to that. A device without any delay
/// measures the path itself.
///
/// # Errors
///
/// It reads faster than this machine can answer, and is not served with --below-floor.
pub(super) fn label(
    model: ModelLatency,
    floor: Nanos,
    below_floor: bool,
) -> Result<Option<String>, BelowFloor> {
    let ModelLatency { read, write, .. } = model;
    if read == 0 && write == 0 {
        let label = "no delay: measurements show the path to the disk";
        return Ok(Some(label.to_owned()));
    }
    if read < floor && !below_floor {
        return Err(BelowFloor {
            model_read_us: us_of_nanos(read),
            path_us: us_of_nanos(floor),
        });
    }
    let below = kinds_within(model, 0..floor);
    let near = kinds_within(model, floor..2 * floor);
    let standing: Vec<String> = [(&below, "are slower"), (&near, "may be slower")]
        .into_iter()
        .filter(|(kinds, _)| !kinds.is_empty())
        .map(|(kinds, how)| format!("{} {how} than modelled", names(kinds)))
        .collect();
    if standing.is_empty() {
        return Ok(None);
    }
    let modelled: Vec<String> = below
        .iter()
        .chain(&near)
        .map(|(name, latency)| format!("{name} {:.1} us", us_of_nanos(*latency)))
        .collect();
    Ok(Some(format!(
        "{}: this machine takes at least {:.1} us for a request to a virtual disk; the model has {}",
        standing.join(", "),
        us_of_nanos(floor),
        modelled.join(", ")
    )))
}

/// The kinds of request with a median in that range, and that median.
fn kinds_within(model: ModelLatency, span: Range<Nanos>) -> Vec<(&'static str, Nanos)> {
    let kinds = [
        ("reads", model.read),
        ("writes", model.write),
        ("flushes", model.flush),
    ];
    let within = |(_, latency): &(&str, Nanos)| span.contains(latency);
    kinds.into_iter().filter(within).collect()
}

fn names(kinds: &[(&str, Nanos)]) -> String {
    match kinds {
        [(one, _)] => (*one).to_owned(),
        [before @ .., (last, _)] => {
            let names: Vec<&str> = before.iter().map(|(name, _)| *name).collect();
            format!("{} and {last}", names.join(", "))
        }
        [] => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(read: Nanos, write: Nanos, flush: Nanos) -> ModelLatency {
        ModelLatency {
            read,
            write,
            flush,
            capacity_bytes: 0,
        }
    }

    #[test]
    fn a_models_latencies_are_its_own() {
        let device = "title = \"M\"\ndescription = \"\"\n[device.memory]\n\
             capacity_bytes = { value = 1048576, source = \"\" }\n\
             latency_us = { value = 200.0, source = \"\" }\n\
             mb_per_s = { value = 4096.0, source = \"\" }\n";
        let device = Device::parse(device, "here").expect("a device");
        let latency = ModelLatency::of(&device, Build::seeded(1));
        // 200 us, and 4096 bytes at 4096 MB/s.
        assert_eq!((latency.read, latency.write), (201_000, 201_000));
        assert_eq!(latency.flush, 200_000);
    }

    /// One request in four takes fifty times as long: no request takes their mean.
    #[test]
    fn rare_long_requests_do_not_hide_what_most_take() {
        let mut number = 0;
        let mut timing = crate::timing::Memory::without_delay(1 << 20);
        let mut alone = Alone {
            timing: &mut timing,
            now: 0,
            next_tag: 0,
        };
        let median = alone.median(100, |_, _| {
            number += 1;
            if number % 4 == 0 { 1_000_000 } else { 20_000 }
        });
        assert_eq!(median, 20_000);
    }

    #[test]
    fn a_device_is_served_by_its_margin() {
        let fits = of(80_000, 80_000, 80_000);
        assert_eq!(label(fits, 40_000, false), Ok(None));
        let label = |model, below_floor| {
            let label = label(model, 40_000, below_floor).expect("it can be served");
            label.expect("something is to be said")
        };
        let fast_writes = of(80_000, 20_000, 30_000);
        assert_eq!(
            label(fast_writes, false),
            "writes and flushes are slower than modelled: this machine takes at least 40.0 us for a request to a virtual disk; the model has writes 20.0 us, flushes 30.0 us"
        );
        let of_all_kinds = of(79_999, 40_000, 0);
        assert_eq!(
            label(of_all_kinds, false),
            "flushes are slower than modelled, reads and writes may be slower than modelled: this machine takes at least 40.0 us for a request to a virtual disk; the model has flushes 0.0 us, reads 80.0 us, writes 40.0 us"
        );
        let fast_reads = of(39_999, 80_000, 80_000);
        let why = super::label(fast_reads, 40_000, false).expect_err("faster than the floor");
        assert!((why.model_read_us - 39.999).abs() < 1e-9, "{why}");
        assert!(why.to_string().contains("--below-floor"), "{why}");
        let told = label(fast_reads, true);
        assert!(
            told.starts_with("reads are slower than modelled:"),
            "{told}"
        );
        let told = label(of(0, 0, 0), false);
        assert!(told.starts_with("no delay"), "{told}");
    }
}
