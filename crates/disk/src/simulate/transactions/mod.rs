//! A database's clients on a model, in virtual time: what a recorded load would do on another disk.
//!
//! Each client computes on one of a few cores, reads pages that are not in memory, and commits. Commits
//! share the flush of a log: whoever comes while it is flushed waits, and all who wait are the next group.
//! Pages are written later, on behalf of all. Everything that reaches the disk goes to its model, so queues,
//! caches, turns of a platter and credits of a volume follow from the load that the disk itself lets through.

mod front;
mod layout;
mod load;
mod outcome;

use std::collections::VecDeque;

use hdrhistogram::Histogram;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::request::{Kind, NANOS_PER_US, Nanos, Request, nanos_of_us};
use crate::timing::Timing;
use crate::timing::agenda::{Agenda, first};
use front::{Answer, Asker, Front};
use layout::Layout;
use outcome::{Counts, Parts};

pub use load::{Load, Log};
pub use outcome::Outcome;

/// Runs a load.
///
/// # Errors
///
/// If a field of the load has a value that is none, or the disk is too small.
pub fn run(timing: &mut dyn Timing, load: &Load) -> Result<Outcome, String> {
    load.check()?;
    let capacity = timing.capacity_bytes();
    if capacity < layout::LEAST_BYTES {
        return Err(format!(
            "the disk has {capacity} bytes; clients need 64 MiB"
        ));
    }
    Ok(Driver::new(timing, load, capacity).run())
}

/// What happens at a moment that is known beforehand.
#[derive(Clone, Copy, Debug)]
enum Due {
    Computed(Worker),
    Waited(usize),
}

#[derive(Clone, Copy, Debug)]
enum Worker {
    Client(usize),
    /// Work that nobody waits for.
    Behind,
}

#[derive(Clone, Debug, Default)]
struct Client {
    began: Nanos,
    /// Since when it is at what it does now.
    since: Nanos,
    bursts: u32,
    reads: u32,
    reads_done: u32,
    commits: u32,
    /// The log at which its commit is.
    log: usize,
    parts: Parts,
}

/// Requests that are under way together.
struct Step {
    requests: Vec<Request>,
    /// Whether other flushes wait for them.
    holds: bool,
}

/// One step after the other.
#[derive(Default)]
struct Script {
    steps: VecDeque<Step>,
    under_way: usize,
}

impl Script {
    fn then(&mut self, requests: Vec<Request>) {
        let holds = false;
        self.steps.push_back(Step { requests, holds });
    }

    fn then_flush(&mut self) {
        self.then(vec![Request::flush()]);
    }

    fn then_commit(&mut self, requests: Vec<Request>) {
        let holds = true;
        self.steps.push_back(Step { requests, holds });
    }
}

#[derive(Default)]
struct Group {
    members: Vec<usize>,
    waiting: Vec<usize>,
    script: Script,
}

struct Driver<'a> {
    timing: &'a mut dyn Timing,
    load: &'a Load,
    layout: Layout,
    random: Xoshiro256PlusPlus,
    now: Nanos,
    agenda: Agenda<Due>,
    idle_cores: u32,
    ready: VecDeque<(Worker, Nanos)>,
    front: Front,
    clients: Vec<Client>,
    logs: Vec<Group>,
    pages: Script,
    pages_owed: f64,
    latency_us: Histogram<u64>,
    counts: Counts,
    measuring: bool,
    ended: u64,
    /// Mean time of a transaction without its locks, of those that ended last.
    unlocked: f64,
}

impl<'a> Driver<'a> {
    fn new(timing: &'a mut dyn Timing, load: &'a Load, capacity_bytes: u64) -> Self {
        Self {
            timing,
            load,
            layout: Layout::new(load, capacity_bytes),
            random: Xoshiro256PlusPlus::seed_from_u64(load.seed),
            now: 0,
            agenda: Agenda::new(),
            idle_cores: load.cores,
            ready: VecDeque::new(),
            front: Front::default(),
            clients: vec![Client::default(); load.clients as usize],
            logs: load.logs.iter().map(|_| Group::default()).collect(),
            pages: Script::default(),
            pages_owed: 0.0,
            latency_us: Histogram::new_with_max(3_600_000_000, 3).expect("the bounds are sensible"),
            counts: Counts::default(),
            measuring: false,
            ended: 0,
            unlocked: 0.0,
        }
    }

    fn run(mut self) -> Outcome {
        for client in 0..self.clients.len() {
            self.begin(client);
        }
        self.front.send(self.timing, self.now);
        let warm_up = nanos_of_us(self.load.warm_up_s * 1e6);
        while self.now < warm_up && self.ended < self.load.transactions / 10 {
            self.step();
        }
        let from = self.now;
        let end = from + nanos_of_us(self.load.measure_s * 1e6);
        self.measuring = true;
        // A transaction that is longer than the measurement is waited for, within reason.
        let latest = end + 9 * (end - from);
        while self.now < end || (self.latency_us.is_empty() && self.now < latest) {
            if self.latency_us.len() >= self.load.transactions {
                break;
            }
            self.step();
        }
        Outcome::of(
            &self.latency_us,
            &self.counts,
            self.now - from,
            self.load.cores,
            self.pages_owed,
        )
    }

    /// Goes on to the next moment at which something happens.
    fn step(&mut self) {
        let next = first([self.agenda.next(), self.timing.next_event()]);
        self.now = next.expect("a client has something to do").max(self.now);
        for answer in self.front.advance(self.timing, self.now) {
            self.answered(&answer);
        }
        while let Some(due) = self.agenda.due(self.now) {
            match due {
                Due::Computed(worker) => self.computed(worker),
                Due::Waited(client) => {
                    let waited = self.since(client);
                    self.clients[client].parts.others += waited;
                    self.commit(client);
                }
            }
        }
        self.front.send(self.timing, self.now);
    }

    /// The time for which a client was at what it did; from now on it is at something else.
    fn since(&mut self, client: usize) -> Nanos {
        let since = std::mem::replace(&mut self.clients[client].since, self.now);
        self.now - since
    }

    // -------------------------------------------------------------- transactions

    fn begin(&mut self, client: usize) {
        self.clients[client] = Client {
            began: self.now,
            since: self.now,
            reads: self.number(self.load.reads),
            commits: self.number(self.load.commits),
            ..Client::default()
        };
        self.compute(Worker::Client(client));
    }

    fn read_or_compute(&mut self, client: usize) {
        let Client {
            bursts,
            reads,
            reads_done,
            ..
        } = self.clients[client];
        let due = (u64::from(reads) * u64::from(bursts)).div_ceil(u64::from(self.load.bursts));
        if u64::from(reads_done) < due {
            self.clients[client].reads_done += 1;
            let request = self.layout.read(&mut self.random, self.load.read_bytes);
            self.front
                .ask(self.now, Asker::Client(client), request, false);
        } else if bursts < self.load.bursts {
            self.compute(Worker::Client(client));
        } else {
            let locks = self.load.lock_share * self.unlocked;
            let wait = self.drawn(locks);
            if wait == 0 {
                self.commit(client);
            } else {
                self.agenda.enter(self.now + wait, Due::Waited(client));
            }
        }
    }

    fn commit(&mut self, client: usize) {
        if self.clients[client].commits == 0 {
            return self.end(client);
        }
        self.clients[client].commits -= 1;
        self.clients[client].log = 0;
        self.counts.commits += u64::from(self.measuring);
        self.enter(client);
    }

    /// Brings a client to the next log of its commit.
    fn enter(&mut self, client: usize) {
        let log = self.clients[client].log;
        if log == self.logs.len() {
            let waited = self.since(client);
            self.clients[client].parts.log += waited;
            return self.commit(client);
        }
        self.logs[log].waiting.push(client);
        if self.logs[log].members.is_empty() {
            self.form_group(log);
        }
    }

    fn end(&mut self, client: usize) {
        let Client { began, parts, .. } = self.clients[client];
        let took = self.now - began;
        self.ended += 1;
        let own = (took - parts.others) as f64;
        // The mean of the last ones, as many as there are clients or a few more.
        let weight = 1.0 / (self.ended as f64).min(16.0 + self.clients.len() as f64);
        self.unlocked += (own - self.unlocked) * weight;
        if self.measuring {
            self.latency_us.saturating_record(took / NANOS_PER_US);
            let sum = &mut self.counts.parts;
            sum.cpu += parts.cpu;
            sum.reads += parts.reads;
            sum.log += parts.log;
            sum.others += parts.others;
        }
        if self.load.behind_us > 0.0 {
            self.compute(Worker::Behind);
        }
        if self.ended as f64 > self.load.page_writes_after {
            self.pages_owed += self.load.page_writes;
        }
        self.write_pages();
        self.begin(client);
    }

    // -------------------------------------------------------------- cores

    fn compute(&mut self, worker: Worker) {
        let mean_us = match worker {
            Worker::Client(_) => self.load.cpu_us / f64::from(self.load.bursts),
            Worker::Behind => self.load.behind_us,
        };
        let takes = self.drawn(mean_us * NANOS_PER_US as f64);
        self.ready.push_back((worker, takes));
        self.start_ready();
    }

    fn start_ready(&mut self) {
        while self.idle_cores > 0 {
            let Some((worker, takes)) = self.ready.pop_front() else {
                break;
            };
            self.idle_cores -= 1;
            if self.measuring {
                self.counts.computing += takes;
            }
            self.agenda.enter(self.now + takes, Due::Computed(worker));
        }
    }

    fn computed(&mut self, worker: Worker) {
        self.idle_cores += 1;
        if let Worker::Client(client) = worker {
            let took = self.since(client);
            self.clients[client].parts.cpu += took;
            self.clients[client].bursts += 1;
            self.read_or_compute(client);
        }
        self.start_ready();
    }

    // -------------------------------------------------------------- the disk

    fn answered(&mut self, answer: &Answer) {
        if self.measuring && answer.first && answer.kind == Kind::Flush {
            self.counts.flushes += 1;
            self.counts.flushing += answer.took;
        }
        match answer.asker {
            Asker::Client(client) => {
                if self.measuring {
                    self.counts.reads += 1;
                    self.counts.reading += answer.took;
                }
                let took = self.since(client);
                self.clients[client].parts.reads += took;
                self.read_or_compute(client);
            }
            Asker::Log(log) => {
                self.logs[log].script.under_way -= 1;
                self.go_on(log);
            }
            Asker::Pages => {
                self.pages.under_way -= 1;
                self.write_pages();
            }
        }
    }

    /// Those who wait for a log become its next group.
    fn form_group(&mut self, log: usize) {
        if self.logs[log].waiting.is_empty() {
            return;
        }
        let Log {
            bytes,
            grows,
            alone,
        } = self.load.logs[log];
        let waiting = &mut self.logs[log].waiting;
        let count = if alone { 1 } else { waiting.len() };
        let members: Vec<usize> = waiting.drain(..count).collect();
        let bytes = bytes.saturating_mul(members.len() as u64);
        self.counts.groups += u64::from(self.measuring && log == 0);
        for _ in 0..self.number(self.load.log_work) {
            let script = &mut self.logs[log].script;
            script.then(self.layout.logs[log].append(bytes));
            if grows {
                // The file's new length: the journal's blocks, a flush, and the block that commits them.
                script.then(self.layout.journal.append(8192));
                script.then_flush();
                script.then_commit(self.layout.journal.append(4096));
            }
            script.then_flush();
        }
        self.logs[log].members = members;
        self.go_on(log);
    }

    /// Sends the next requests of a group, or lets it go.
    fn go_on(&mut self, log: usize) {
        if self.logs[log].script.under_way > 0 {
            return;
        }
        if let Some(step) = self.logs[log].script.steps.pop_front() {
            self.logs[log].script.under_way = step.requests.len();
            for request in step.requests {
                self.front
                    .ask(self.now, Asker::Log(log), request, step.holds);
            }
            return;
        }
        let members = std::mem::take(&mut self.logs[log].members);
        self.form_group(log);
        for client in members {
            self.clients[client].log += 1;
            self.enter(client);
        }
    }

    /// Writes pages in batches, one batch at a time.
    fn write_pages(&mut self) {
        if self.pages.under_way > 0 {
            return;
        }
        let batch = f64::from(self.load.page_batch);
        if self.pages.steps.is_empty() && self.pages_owed >= batch {
            self.pages_owed -= batch;
            let (count, bytes) = (self.load.page_batch, self.load.page_bytes);
            if self.measuring {
                self.counts.pages += u64::from(count);
            }
            if self.load.doublewrite {
                let together = self.layout.doublewrite.append(u64::from(count) * bytes);
                self.pages.then(together);
                self.pages.then_flush();
            }
            let (layout, random) = (&self.layout, &mut self.random);
            let pages = (0..count).map(|_| layout.write_page(random, bytes));
            self.pages.then(pages.collect());
            self.pages.then_flush();
        }
        if let Some(step) = self.pages.steps.pop_front() {
            self.pages.under_way = step.requests.len();
            for request in step.requests {
                self.front.ask(self.now, Asker::Pages, request, false);
            }
        }
    }

    // -------------------------------------------------------------- chance

    /// A whole number with this mean.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn number(&mut self, mean: f64) -> u32 {
        let whole = mean.floor();
        let more = mean > whole && self.random.random::<f64>() < mean - whole;
        whole as u32 + u32::from(more)
    }

    /// A time with this mean, exponentially distributed.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn drawn(&mut self, mean: f64) -> Nanos {
        if mean <= 0.0 {
            return 0;
        }
        (-(1.0 - self.random.random::<f64>()).ln() * mean) as Nanos
    }
}

#[cfg(test)]
mod tests;
