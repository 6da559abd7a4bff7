//! What the clients saw.

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::request::{NANOS_PER_S, Nanos, us_of_nanos};

/// Parts of a transaction's time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Parts {
    /// Computing, and waiting for a core.
    pub(super) cpu: Nanos,
    pub(super) reads: Nanos,
    /// From the begin of a commit to its end.
    pub(super) log: Nanos,
    /// Neither: locks and delays.
    pub(super) others: Nanos,
}

/// What is counted while it is measured, besides latencies.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) parts: Parts,
    pub(super) groups: u64,
    pub(super) commits: u64,
    pub(super) flushes: u64,
    pub(super) flushing: Nanos,
    pub(super) reads: u64,
    pub(super) reading: Nanos,
    pub(super) pages: u64,
    pub(super) computing: Nanos,
}

/// The result, as it is printed. Times are means of a transaction if the name does not say otherwise.
#[derive(Debug, Serialize)]
pub struct Outcome {
    pub seconds: f64,
    pub transactions: u64,
    pub per_s: f64,
    pub mean_us: f64,
    pub p95_us: f64,
    pub cpu_us: f64,
    pub reads_us: f64,
    pub log_us: f64,
    pub others_us: f64,
    /// Busy share of the cores.
    pub cpu_share: f64,
    /// Commits of a group.
    pub group: f64,
    /// Flushes that the disk was sent, a transaction.
    pub flushes: f64,
    /// Mean time of one, with its wait before the disk.
    pub flush_us: f64,
    /// Mean time of a read.
    pub read_us: f64,
    /// Pages written, a transaction.
    pub page_writes: f64,
    /// Pages that wait to be written at the end: if they are many, the disk writes them too slowly.
    pub pages_owed: f64,
}

impl Outcome {
    pub(super) fn of(
        latency_us: &Histogram<u64>,
        counts: &Counts,
        measured: Nanos,
        cores: u32,
        pages_owed: f64,
    ) -> Self {
        let transactions = latency_us.len();
        let seconds = measured as f64 / NANOS_PER_S as f64;
        let each = |value: f64, of: f64| if of == 0.0 { 0.0 } else { value / of };
        let mean = |count: u64, of: u64| each(count as f64, of as f64);
        let mean_us = |time: Nanos, of: u64| each(us_of_nanos(time), of as f64);
        Self {
            seconds,
            transactions,
            per_s: each(transactions as f64, seconds),
            mean_us: latency_us.mean(),
            p95_us: latency_us.value_at_quantile(0.95) as f64,
            cpu_us: mean_us(counts.parts.cpu, transactions),
            reads_us: mean_us(counts.parts.reads, transactions),
            log_us: mean_us(counts.parts.log, transactions),
            others_us: mean_us(counts.parts.others, transactions),
            cpu_share: mean(counts.computing, measured) / f64::from(cores),
            group: mean(counts.commits, counts.groups),
            flushes: mean(counts.flushes, transactions),
            flush_us: mean_us(counts.flushing, counts.flushes),
            read_us: mean_us(counts.reading, counts.reads),
            page_writes: mean(counts.pages, transactions),
            pages_owed,
        }
    }
}
