//! The account of what a power cut can take, while a disk is served; and the log of its requests.
//!
//! Locks are taken in this order: contents, core, account. A write enters contents and account
//! under the contents' lock, so that both have the same order. The model's events enter the account
//! under the core's lock, before any answer of that moment leaves.

use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, bail, ensure};
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::clock::Clock;
use crate::account::log::{Asked, Header, Record, Told, Writer};
use crate::account::{Account, Done, Medium, Survivors, Ticket};
use crate::contents::{Contents, ContentsError};
use crate::request::{Kind, Nanos, Request};
use crate::volatile::Choice;

pub(super) struct Tracking {
    clock: Clock,
    medium: Medium,
    /// Whether there is an account: asked before its lock is taken.
    on: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Number of the next request. Numbers are never reused, so that the account ignores those it
    /// no longer has.
    next_number: u64,
    account: Option<Account>,
    log: Option<Writer>,
    /// A cut has failed half-way, and no other bytes have come since.
    is_spoiled: bool,
}

impl Tracking {
    pub(super) fn new(clock: Clock, medium: Medium) -> Self {
        Self {
            clock,
            medium,
            on: AtomicBool::new(false),
            state: Mutex::new(State::default()),
        }
    }

    pub(super) fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    /// Begins an account in which all present bytes are safe, and a log if a path is given; returns
    /// the outcome of the log before. The contents' lock is held, so nothing is written meanwhile.
    pub(super) fn begin(
        &self,
        contents: &Contents,
        device: &str,
        log: Option<File>,
    ) -> anyhow::Result<Value> {
        let at_ns = self.clock.monotonic(self.clock.now());
        let empty = contents.next_data(0).is_none();
        let header = Header::new(device, self.medium, empty, at_ns);
        let log = log.map(|file| Writer::begin(file, &header)).transpose()?;
        let mut state = self.state.lock();
        let account = Account::new(self.medium, state.next_number);
        state.account = Some(account);
        let before = std::mem::replace(&mut state.log, log);
        self.on.store(true, Ordering::Relaxed);
        drop(state);
        Ok(finish(before))
    }

    /// No account any more; a log ends without a cut, and what it has come to is said.
    pub(super) fn end(&self) -> Value {
        let mut state = self.state.lock();
        self.on.store(false, Ordering::Relaxed);
        state.account = None;
        let log = state.log.take();
        drop(state);
        finish(log)
    }

    /// Other bytes are there: all of them are safe, and a log of the old ones ends. The
    /// account goes on.
    pub(super) fn renew(&self) {
        let mut state = self.state.lock();
        let first = state.next_number;
        if let Some(account) = &mut state.account {
            *account = Account::new(self.medium, first);
        }
        state.is_spoiled = false;
        let log = state.log.take();
        drop(state);
        // The log has no cut; a replay reports that.
        let _ = finish(log);
    }

    /// Writes bytes to the disk, and to the account if there is one.
    pub(super) fn write(
        &self,
        contents: &mut Contents,
        offset_bytes: u64,
        bytes: &[u8],
        arrived: Nanos,
    ) -> (Option<Ticket>, Result<(), ContentsError>) {
        let place = (offset_bytes, bytes.len() as u64);
        self.change(
            (Kind::Write, place, arrived),
            contents,
            |contents| contents.write(offset_bytes, bytes),
            |account, number, contents| account.write(number, contents, offset_bytes, bytes),
        )
    }

    pub(super) fn discard(
        &self,
        contents: &mut Contents,
        offset_bytes: u64,
        length_bytes: u64,
        arrived: Nanos,
    ) -> (Option<Ticket>, Result<(), ContentsError>) {
        self.change(
            (Kind::Discard, (offset_bytes, length_bytes), arrived),
            contents,
            |contents| contents.discard(offset_bytes, length_bytes),
            |account, number, contents| {
                account.discard(number, contents, offset_bytes, length_bytes)
            },
        )
    }

    fn change(
        &self,
        (request, (offset_bytes, length_bytes), arrived): (Kind, (u64, u64), Nanos),
        contents: &mut Contents,
        untracked: impl FnOnce(&mut Contents) -> Result<(), ContentsError>,
        tracked: impl FnOnce(&mut Account, u64, &mut Contents) -> Done,
    ) -> (Option<Ticket>, Result<(), ContentsError>) {
        if !self.is_on() {
            return (None, untracked(contents));
        }
        let mut state = self.state.lock();
        let number = state.next_number;
        let Some(account) = &mut state.account else {
            return (None, untracked(contents));
        };
        let done = tracked(account, number, contents);
        let ticket = done.ticket;
        if done.outcome.is_err() {
            // No event of this request will follow, so what it wrote until then is safe at once.
            account.stable(ticket);
        }
        state.next_number = ticket.next_number();
        if let Some(log) = &mut state.log {
            let at_ns = self.clock.monotonic(arrived);
            let asked = Asked {
                number,
                offset_bytes,
                length_bytes,
                at_ns,
            };
            if ticket.writes > 0 {
                let changed = Asked {
                    offset_bytes: done.offset_bytes,
                    length_bytes: done.length_bytes,
                    ..asked
                };
                let record = match request {
                    Kind::Write => Record::Write(changed),
                    _ => Record::Discard(changed),
                };
                log.record(&record, &done.bytes);
            }
            if done.outcome.is_err() {
                log.record(&Record::Stable(Told { ticket, at_ns }), &[]);
                log.record(&Record::Failed { request, asked }, &[]);
            }
        }
        (Some(ticket), done.outcome)
    }

    /// Logs a read, a flush, or a request that failed before it changed any bytes.
    pub(super) fn asked(
        &self,
        record: impl FnOnce(Asked) -> Record,
        request: Request,
        arrived: Nanos,
    ) -> Option<Ticket> {
        if !self.is_on() {
            return None;
        }
        let mut state = self.state.lock();
        let ticket = Ticket {
            number: state.next_number,
            writes: 0,
        };
        let asked = Asked {
            number: ticket.number,
            offset_bytes: request.offset_bytes,
            length_bytes: request.length_bytes,
            at_ns: self.clock.monotonic(arrived),
        };
        state.log.as_mut()?.record(&record(asked), &[]);
        state.next_number = ticket.next_number();
        Some(ticket)
    }

    /// The model has answered it.
    pub(super) fn answered(&self, ticket: Ticket, at: Nanos) {
        self.tell(ticket, at, Account::answered, Record::Answered);
    }

    /// The model can no longer lose it.
    pub(super) fn stable(&self, ticket: Ticket, at: Nanos) {
        self.tell(ticket, at, Account::stable, Record::Stable);
    }

    /// Requests without timing are answered and safe at once; a flush makes everything safe.
    pub(super) fn untimed(&self, kind: Kind, ticket: Option<Ticket>, at: Nanos) {
        if !self.is_on() {
            return;
        }
        if let Some(ticket) = ticket {
            self.stable(ticket, at);
        }
        if kind == Kind::Flush {
            let mut state = self.state.lock();
            if let Some(account) = &mut state.account {
                account.settle();
            }
            if let Some(log) = &mut state.log {
                let at_ns = self.clock.monotonic(at);
                log.record(&Record::Settled { at_ns }, &[]);
            }
        }
        if let Some(ticket) = ticket {
            self.answered(ticket, at);
        }
    }

    fn tell(
        &self,
        ticket: Ticket,
        at: Nanos,
        what: impl FnOnce(&mut Account, Ticket),
        record: impl FnOnce(Told) -> Record,
    ) {
        let mut state = self.state.lock();
        let state = &mut *state;
        let Some(account) = &mut state.account else {
            return;
        };
        if !account.has(ticket) {
            return;
        }
        what(account, ticket);
        if let Some(log) = &mut state.log {
            let at_ns = self.clock.monotonic(at);
            log.record(&record(Told { ticket, at_ns }), &[]);
        }
    }

    /// Makes the bytes what survives. Power is off already: nothing comes between. The log, if there is
    /// one, has its cut and is to be finished, which needs the contents no more.
    pub(super) fn cut(
        &self,
        contents: &mut Contents,
        choice: Choice,
        at: Nanos,
    ) -> anyhow::Result<(Survivors, Option<Writer>)> {
        let mut state = self.state.lock();
        let first = state.next_number;
        let Some(account) = &mut state.account else {
            bail!(NOT_TRACKED);
        };
        let outcome = account.cut(contents, choice);
        *account = Account::new(self.medium, first);
        state.is_spoiled = outcome.is_err();
        let mut log = state.log.take();
        drop(state);
        let survivors = outcome.context(SPOILED)?;
        if let Some(log) = &mut log {
            let record = Record::Cut {
                at_ns: self.clock.monotonic(at),
                choice,
                survivors: survivors.clone(),
            };
            log.record(&record, &[]);
        }
        Ok((survivors, log))
    }

    /// Checks that the bytes are what a cut left, or that nothing was cut.
    pub(super) fn check_survivors(&self) -> anyhow::Result<()> {
        ensure!(!self.state.lock().is_spoiled, SPOILED);
        Ok(())
    }

    pub(super) fn check_on(&self) -> anyhow::Result<()> {
        ensure!(self.is_on(), NOT_TRACKED);
        Ok(())
    }

    pub(super) fn is_logged(&self) -> bool {
        self.state.lock().log.is_some()
    }
}

const NOT_TRACKED: &str = "the disk is not tracked, so the effect of a cut is not known; switch tracking on with `track` first";

const SPOILED: &str = "the bytes that survived the cut could not all be written, so the disk is inconsistent; restore a snapshot";

/// Finishes a log, if there is one, and returns its outcome. If the log cannot be finished, only
/// its end is missing; what ended it has happened anyway.
pub(super) fn finish(log: Option<Writer>) -> Value {
    match log.map(Writer::finish) {
        None => Value::Null,
        Some(Ok(finished)) => json!(finished),
        Some(Err(error)) => json!({"error": format!("{error:#}")}),
    }
}

#[cfg(test)]
mod tests;
