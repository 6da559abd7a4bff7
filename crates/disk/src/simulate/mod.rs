//! A probe against a model, in virtual time: what the disk would do, without a disk and without waiting.

mod generator;
pub mod transactions;

use generator::Generator;
use hdrhistogram::Histogram;

use crate::device::Probe;
use crate::ledger::Ledger;
use crate::request::{Kind, NANOS_PER_S, Nanos, Request};
use crate::timing::{Event, Timing};

/// The result of a probe.
#[derive(Debug)]
pub struct Outcome {
    /// Virtual time measured.
    pub seconds: f64,
    /// Requests answered, flushes not among them.
    pub requests: u64,
    pub bytes: u64,
    pub flushes: u64,
    /// Requests, without the flushes.
    pub latency_ns: Histogram<u64>,
    pub flush_latency_ns: Histogram<u64>,
}

impl Outcome {
    fn new() -> Self {
        let histogram = || Histogram::new_with_max(LONGEST, 3).expect("the bounds are sensible");
        Self {
            seconds: 0.0,
            requests: 0,
            bytes: 0,
            flushes: 0,
            latency_ns: histogram(),
            flush_latency_ns: histogram(),
        }
    }

    /// Infinite, or not a number, if no time passed.
    pub fn iops(&self) -> f64 {
        self.requests as f64 / self.seconds
    }

    /// 10^6 bytes a second; infinite, or not a number, if no time passed.
    pub fn megabytes_per_s(&self) -> f64 {
        self.bytes as f64 / 1e6 / self.seconds
    }
}

/// A latency that is longer is recorded as this long: an hour.
const LONGEST: Nanos = 3_600 * NANOS_PER_S;

/// The length of a probe, in virtual time.
#[derive(Clone, Copy, Debug)]
pub struct Length {
    /// Not measured, so that caches fill and queues form.
    pub warm_up: Nanos,
    pub measure: Nanos,
    /// The most requests, flushes among them, that are measured: on a device that takes no time, time
    /// does not pass. A tenth as many end the warm-up.
    pub requests: u64,
    /// As fio measured for so long: at its end it waits for all requests under way, takes all of them
    /// for answered with the last, and has their latencies with the others. 0: these do not count.
    pub fio_window: Nanos,
}

impl Length {
    /// That many virtual seconds after a tenth as many, or a hundred million requests.
    pub fn seconds(seconds: u64) -> Self {
        Self {
            warm_up: seconds * NANOS_PER_S / 10,
            measure: seconds * NANOS_PER_S,
            requests: 100_000_000,
            fio_window: 0,
        }
    }
}

/// Runs a probe: `depth` requests are always under way, as with fio's `iodepth`.
pub fn run(timing: &mut dyn Timing, probe: &Probe, length: Length, seed: u64) -> Outcome {
    let mut driver = Driver {
        generator: Generator::new(timing.capacity_bytes(), probe, seed),
        depth: probe.depth as usize,
        under_way: Ledger::default(),
        now: 0,
        answers: Vec::new(),
        events: Vec::new(),
    };
    let mut warm_ups = length.requests / 10;
    while driver.now < length.warm_up && warm_ups > 0 {
        driver.step(timing);
        warm_ups = warm_ups.saturating_sub(driver.answers.len() as u64);
    }
    let mut outcome = Outcome::new();
    let (from, mut left) = (driver.now.min(length.warm_up), length.requests);
    let mut cut_off = Vec::new();
    let end = from + length.measure;
    loop {
        // The last step of the warm-up may have gone beyond it.
        for answer in driver.answers.drain(..) {
            if answer.at >= from && answer.at < end && left > 0 {
                outcome.count(answer.request, answer.at - answer.from);
                left -= 1;
            } else if answer.at >= from {
                cut_off.push(answer);
            }
        }
        if driver.now >= end || left == 0 {
            break;
        }
        driver.step(timing);
    }
    let took = driver.now.min(end) - from;
    outcome.seconds = took as f64 / NANOS_PER_S as f64;
    driver.depth = 0;
    while !driver.under_way.is_empty() {
        driver.step(timing);
        cut_off.append(&mut driver.answers);
    }
    if length.fio_window > 0 && outcome.requests > 0 {
        // One end is simulated: for several windows, or for a part of one. The rarer of the two counts once.
        let times = |long: Nanos, short: Nanos| ((long + short / 2) / short.max(1)).max(1);
        let more = times(length.fio_window, took) - 1;
        for within in outcome.latency_ns.clone().iter_recorded() {
            let (latency_ns, count) = (within.value_iterated_to(), within.count_at_value());
            outcome
                .latency_ns
                .saturating_record_n(latency_ns, count * more);
        }
        for answer in cut_off.iter().filter(|one| one.request.kind != Kind::Flush) {
            let latency_ns = driver.now - answer.from;
            outcome
                .latency_ns
                .saturating_record_n(latency_ns, times(took, length.fio_window));
        }
    }
    outcome
}

/// The client: keeps the requests of a probe in progress.
struct Driver {
    generator: Generator,
    depth: usize,
    under_way: Ledger<Asked>,
    now: Nanos,
    /// Of the last step.
    answers: Vec<Answer>,
    events: Vec<Event>,
}

struct Asked {
    request: Request,
    from: Nanos,
}

struct Answer {
    request: Request,
    from: Nanos,
    at: Nanos,
}

impl Driver {
    /// Submits what there is room for and goes on to the next moment.
    fn step(&mut self, timing: &mut dyn Timing) {
        while self.under_way.len() < self.depth {
            let Some(request) = self.generator.next(self.under_way.is_empty()) else {
                break;
            };
            let from = self.now;
            let tag = self.under_way.insert(Asked { request, from });
            timing.submit(self.now, tag, request);
        }
        self.now = timing
            .next_event()
            .expect("a device with requests in it has something to do")
            .max(self.now);
        timing.advance(self.now, &mut self.events);
        self.answers.clear();
        for event in self.events.drain(..) {
            if let Event::Answered { tag, at } = event {
                let Asked { request, from } = self
                    .under_way
                    .remove(tag)
                    .expect("an answer to a request under way");
                self.answers.push(Answer { request, from, at });
            }
        }
    }
}

impl Outcome {
    fn count(&mut self, request: Request, latency_ns: Nanos) {
        if request.kind == Kind::Flush {
            self.flushes += 1;
            self.flush_latency_ns.saturating_record(latency_ns);
        } else {
            self.requests += 1;
            self.bytes += request.length_bytes;
            self.latency_ns.saturating_record(latency_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Pattern;
    use crate::timing::Memory;

    fn probe(depth: u32) -> Probe {
        Probe {
            pattern: Pattern::RandomRead,
            block_bytes: 4096,
            depth,
            span_bytes: None,
        }
    }

    #[test]
    fn a_device_without_time_ends_with_its_requests() {
        for depth in [1, 7] {
            let length = Length {
                requests: 1000,
                ..Length::seconds(60)
            };
            let outcome = run(
                &mut Memory::without_delay(1 << 30),
                &probe(depth),
                length,
                1,
            );
            assert_eq!(outcome.requests, 1000);
            assert_eq!(outcome.bytes, 1000 * 4096);
            assert!(outcome.seconds.abs() < f64::EPSILON);
            assert_eq!(outcome.latency_ns.max(), 0);
        }
    }

    #[test]
    fn fio_counts_the_latencies_of_what_its_end_cuts_off_once_a_window() {
        let counted = |fio_window| {
            let length = Length {
                fio_window,
                ..Length::seconds(2)
            };
            let mut disk = crate::device::open("desktop-7200")
                .expect("it is in the catalogue")
                .device
                .build(crate::device::Build::seeded(1));
            let outcome = run(disk.as_mut(), &probe(16), length, 1);
            (outcome.requests, outcome.latency_ns)
        };
        let (requests, without) = counted(0);
        assert_eq!(without.len(), requests);
        let (as_before, with) = counted(NANOS_PER_S);
        assert_eq!(as_before, requests);
        assert_eq!(with.len(), requests + 2 * 16);
        assert!(with.mean() > without.mean());
        // A window that is four times as long as what is simulated has one end, too.
        assert_eq!(counted(8 * NANOS_PER_S).1.len(), 4 * requests + 16);
    }

    #[test]
    fn nothing_is_measured_where_nothing_may_be() {
        let length = Length {
            requests: 0,
            ..Length::seconds(60)
        };
        let outcome = run(&mut Memory::without_delay(1 << 30), &probe(3), length, 1);
        assert_eq!((outcome.requests, outcome.flushes), (0, 0));
    }
}
