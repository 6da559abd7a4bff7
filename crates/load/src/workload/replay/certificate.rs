//! How true a replay was to its log.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Shared;
use crate::driver::Reply;
use crate::measure::{Latencies, sum};
use crate::recording::Recorded;

/// How late statements were, in microseconds.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Lateness {
    pub p50: f64,
    pub p99: f64,
    pub max: f64,
}

/// What a replay did, beside its log.
#[derive(Debug, Clone, Serialize)]
pub struct Certificate {
    /// Times as fast as the log; `None`: as fast as the order allows.
    pub speed: Option<f64>,
    /// The log's commits that have the binary log's order, of all; `None`: by the log's times.
    pub ordered: Option<(u64, u64)>,
    pub copies: usize,
    pub sessions: usize,
    pub connections: usize,
    /// Statements that came to their turn: sent, or left out for a reason.
    pub statements: u64,
    #[serde(flatten)]
    pub tally: Tally,
    pub left_out: BTreeMap<&'static str, u64>,
    /// The first statement that the fence refused, without its values.
    pub refused: Option<String>,
    /// Behind the schedule, and the parts of it: a statement that is sent late although its session was free is our
    /// own; one whose session still waited for an earlier reply, or for a commit, is the server's, but for one round
    /// trip.
    pub late_us: Lateness,
    pub own_us: Lateness,
    pub server_us: Lateness,
    pub network_us: f64,
    /// Mean number of statements under way; of the log as far as it has durations.
    pub concurrency: f64,
    pub recorded_concurrency: Option<f64>,
    /// Seconds from the first statement to the last reply.
    pub seconds: f64,
    pub recorded_seconds: f64,
    /// By the type of what was read, if they were asked for.
    pub plans: BTreeMap<String, String>,
}

/// What is counted.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Tally {
    pub sent: u64,
    /// As prepared statements, as in the log; and those that were text: refused, too many, or not yet prepared when a
    /// transaction of PostgreSQL began.
    pub prepared: u64,
    pub prepared_as_text: u64,
    /// Preparations, and those in the log that an execution followed.
    pub preparations: u64,
    pub preparations_recorded: u64,
    pub refusals_in_both: u64,
    pub refusals_in_log_only: u64,
    pub refusals_in_replay_only: u64,
    /// Replies whose rows the log tells, and those that had others.
    pub rows_compared: u64,
    pub rows_different: u64,
    pub commits: u64,
    /// Commits that came before one that the log has earlier.
    pub commits_overtook: u64,
    /// Statements that waited for commits, and those that waited in vain.
    pub held: u64,
    pub gave_up_order: u64,
}

/// What a part of the clients has counted.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) tally: Tally,
    pub(super) left_out: BTreeMap<&'static str, u64>,
    pub(super) refused: Option<String>,
    pub(super) late: Latencies,
    pub(super) own: Latencies,
    pub(super) server: Latencies,
    /// The shortest reply is one round trip.
    pub(super) shortest_us: Option<u64>,
    pub(super) busy_us: u64,
    pub(super) recorded_busy_us: u64,
    pub(super) end_us: u64,
    pub(super) recorded_end_us: u64,
    /// One statement to be explained of each type, and when the log has it.
    pub(super) examples: BTreeMap<usize, (u64, Vec<u8>)>,
}

impl Counts {
    pub(super) fn leave_out(&mut self, reason: &'static str, count: u64) {
        *self.left_out.entry(reason).or_insert(0) += count;
    }

    /// Keeps the log's first statement of each type, whichever session is sent first.
    pub(super) fn keep_example(&mut self, type_index: usize, begin_us: u64, sql: &[u8]) {
        let known = self.examples.get(&type_index);
        if known.is_none_or(|(known_us, _)| begin_us < *known_us) {
            self.examples.insert(type_index, (begin_us, sql.to_vec()));
        }
    }

    /// Takes up that a statement is sent now that was due then, and whose session has been free for it since then.
    pub(super) fn send(&mut self, due_us: u64, free_us: u64, now_us: u64) {
        let free_us = free_us.max(due_us);
        self.tally.sent += 1;
        // A histogram of latencies has no zero.
        let late = |since_us: u64| 1000 * now_us.saturating_sub(since_us) + 1;
        self.late.record(late(due_us));
        self.own.record(late(free_us));
        self.server.record(1000 * (free_us - due_us) + 1);
    }

    /// Takes up a reply, or a refusal, to a statement, and when both were sent.
    pub(super) fn conclude(&mut self, sent: &Recorded, times_us: [u64; 2], reply: Option<Reply>) {
        let [sent_us, now_us] = times_us;
        let took_us = now_us - sent_us;
        let recorded_us = sent.duration_us.unwrap_or(0);
        self.busy_us += took_us;
        self.recorded_busy_us = self.recorded_busy_us.saturating_add(recorded_us);
        self.end_us = self.end_us.max(now_us);
        self.recorded_end_us = self.recorded_end_us.max(sent.end_us());
        self.shortest_us = self.shortest_us.into_iter().chain([took_us]).min();
        let tally = &mut self.tally;
        match (reply, sent.failed) {
            (None, true) => tally.refusals_in_both += 1,
            (None, false) => tally.refusals_in_replay_only += 1,
            (Some(_), true) => tally.refusals_in_log_only += 1,
            (Some(reply), false) if sent.rows.is_some() || sent.affected.is_some() => {
                let differs = |recorded: Option<u64>, own| recorded.is_some_and(|rows| rows != own);
                let different = differs(sent.rows, reply.rows)
                    || (reply.rows == 0 && differs(sent.affected, reply.affected));
                tally.rows_compared += 1;
                tally.rows_different += u64::from(different);
            }
            (Some(_), false) => {}
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        sum!(self, other; late own server busy_us recorded_busy_us);
        sum!(self.tally, other.tally; sent prepared prepared_as_text preparations preparations_recorded
            refusals_in_both refusals_in_log_only refusals_in_replay_only rows_compared rows_different commits
            commits_overtook held gave_up_order);
        for (reason, count) in &other.left_out {
            self.leave_out(reason, *count);
        }
        for (&type_index, (begin_us, sql)) in &other.examples {
            self.keep_example(type_index, *begin_us, sql);
        }
        if self.refused.is_none() {
            self.refused.clone_from(&other.refused);
        }
        self.shortest_us = self.shortest_us.into_iter().chain(other.shortest_us).min();
        self.end_us = self.end_us.max(other.end_us);
        self.recorded_end_us = self.recorded_end_us.max(other.recorded_end_us);
    }

    pub(super) fn certificate(self, shared: &Shared) -> Certificate {
        let contents = &shared.recording.contents;
        let sessions: usize = shared.lanes.iter().map(Vec::len).sum();
        let seconds = self.end_us as f64 / 1e6;
        let recorded_us = self.recorded_end_us.saturating_sub(shared.options.from_us);
        let recorded_seconds = recorded_us as f64 / 1e6;
        let copies = shared.options.copies;
        Certificate {
            speed: shared.options.speed,
            ordered: contents.ordered,
            copies,
            sessions: sessions * copies,
            connections: shared.lanes.len() * copies,
            statements: self.tally.sent + self.left_out.values().sum::<u64>(),
            tally: self.tally,
            left_out: self.left_out,
            refused: self.refused,
            late_us: lateness(&self.late),
            own_us: lateness(&self.own),
            server_us: lateness(&self.server),
            network_us: self.shortest_us.unwrap_or(0) as f64,
            concurrency: self.busy_us as f64 / 1e6 / seconds.max(1e-6),
            recorded_concurrency: contents
                .has_durations
                .then(|| self.recorded_busy_us as f64 / 1e6 / recorded_seconds.max(1e-6)),
            seconds,
            recorded_seconds,
            plans: BTreeMap::new(),
        }
    }
}

fn lateness(latencies: &Latencies) -> Lateness {
    let summary = latencies.summary(&[50.0, 99.0]);
    summary.map_or_else(Lateness::default, |summary| Lateness {
        p50: summary.percentiles[0].1,
        p99: summary.percentiles[1].1,
        max: summary.max,
    })
}
