//! One client of the ledger: transfer after transfer.

use std::io;
use std::sync::Arc;

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{LedgerOptions, MOST_MOVED};
use crate::driver::{Args, ServerError, StatementId};
use crate::workload::digits::push_letters;
use crate::workload::generator::generator;
use crate::workload::{Next, Script};

/// Shared by all clients.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) options: LedgerOptions,
    /// Of a transaction: it begins, changes two accounts, makes an entry, and commits.
    pub(super) statements: [StatementId; 5],
}

/// A client's transfers: each a pure function of the seed, the client and the number.
#[derive(Debug)]
pub struct LedgerScript {
    plan: Arc<Plan>,
    client: usize,
    /// Number of the present transaction, or of the last one; 0: there was none.
    number: u64,
    transfer: Transfer,
    /// Statements of the present transaction that were sent.
    step: usize,
    /// Whether the present transaction's end is written down.
    is_told: bool,
}

/// The accounts and the amount of a transfer.
#[derive(Debug, Clone)]
struct Transfer {
    source: u64,
    target: u64,
    amount: i64,
    /// Goes on with the entry's filler.
    rng: Xoshiro256PlusPlus,
}

impl Transfer {
    fn draw(options: &LedgerOptions, client: usize, number: u64) -> Self {
        let mut rng = generator(options.seed, [client as u64 + 1, number]);
        let source = rng.random_range(1..=options.accounts);
        let other = rng.random_range(1..options.accounts);
        Self {
            source,
            target: if other < source { other } else { other + 1 },
            amount: rng.random_range(1..=MOST_MOVED).cast_signed(),
            rng,
        }
    }

    /// The gain of one of its two accounts.
    fn change(&self, account: u64) -> i64 {
        if account == self.target {
            self.amount
        } else {
            -self.amount
        }
    }
}

impl LedgerScript {
    pub(super) fn new(plan: Arc<Plan>, client: usize) -> Self {
        Self {
            transfer: Transfer::draw(&plan.options, client, 0),
            step: plan.statements.len(),
            plan,
            client,
            number: 0,
            is_told: true,
        }
    }

    /// Writes down that the present transaction has failed, once. A line that cannot be written leaves a
    /// gap in the numbers, which whoever reads them refuses.
    fn failed(&mut self, code: &str) {
        let options = &self.plan.options;
        if let Some(file) = options.acknowledgements.as_ref()
            && options.bears_errors
            && !std::mem::replace(&mut self.is_told, true)
        {
            let _ = file.add_failure(self.client, self.number, code);
        }
    }

    fn push_change(&self, account: u64, args: &mut Args) {
        args.push_int(self.transfer.change(account));
        args.push_int(account.cast_signed());
    }

    fn push_entry(&self, args: &mut Args) {
        let Transfer {
            source,
            target,
            amount,
            ref rng,
        } = self.transfer;
        args.push_int(self.client.cast_signed() as i64);
        args.push_int(self.number.cast_signed());
        args.push_int(source.cast_signed());
        args.push_int(target.cast_signed());
        args.push_int(amount);
        let bytes = self.plan.options.filler_bytes;
        args.push_text(|out| push_letters(bytes, &mut rng.clone(), out));
    }
}

impl Script for LedgerScript {
    /// The number of a transaction that was given up is not used again: it may be in the database
    /// after all.
    fn begin(&mut self) -> bool {
        self.number += 1;
        self.transfer = Transfer::draw(&self.plan.options, self.client, self.number);
        self.step = 0;
        self.is_told = false;
        true
    }

    fn begin_again(&mut self) -> bool {
        self.step = 0;
        true
    }

    fn next(&mut self, args: &mut Args) -> Option<Next> {
        let Transfer { source, target, .. } = self.transfer;
        let statement = *self.plan.statements.get(self.step)?;
        args.clear();
        match self.step {
            // All clients lock accounts in the same order, so that few meet in a deadlock.
            1 => self.push_change(source.min(target), args),
            2 => self.push_change(source.max(target), args),
            3 => self.push_entry(args),
            _ => {}
        }
        self.step += 1;
        Some(Next::Statement(statement))
    }

    fn take_refusal(&mut self, error: &ServerError, again: bool) -> bool {
        if !again {
            self.failed(&error.code);
        }
        false
    }

    fn lost(&mut self) {
        self.failed("lost");
    }

    fn acknowledged(&mut self) -> io::Result<()> {
        self.is_told = true;
        match &self.plan.options.acknowledgements {
            Some(file) => file.add(self.client, self.number, &[]),
            None => Ok(()),
        }
    }
}
