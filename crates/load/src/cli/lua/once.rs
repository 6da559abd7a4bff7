//! Runs a command of a script, in one client or in several at a time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::driver::{Alone, Args, Driver, Fault, Protocol, Reply, Session};
use crate::engine::{Failure, Retry};
use crate::workload::lua::{LuaClient, LuaWorkload};
use crate::workload::{Next, Script, Workload};

/// Runs the command to its end or to the first failure, in so many clients.
pub(in crate::cli) fn perform<D: Driver>(
    driver: &D,
    workload: &LuaWorkload,
    clients: usize,
    retry: &Retry,
    limit: Duration,
) -> Result<(), Failure> {
    let clients = if workload.is_parallel { clients } else { 1 };
    let failed = AtomicBool::new(false);
    thread::scope(|scope| {
        let begin = |number| {
            let failed = &failed;
            scope.spawn(move || {
                let outcome = One::new(driver, workload, number, retry, limit).run(failed);
                failed.fetch_or(outcome.is_err(), Ordering::Relaxed);
                outcome
            })
        };
        let all: Vec<_> = (0..clients).map(begin).collect();
        all.into_iter().try_for_each(|one| {
            let outcome = one.join();
            outcome.unwrap_or_else(|_| Err(Failure::internal("a client panicked")))
        })
    })
}

/// One client, connected when it first needs to be.
struct One<'a, D: Driver> {
    driver: &'a D,
    workload: &'a LuaWorkload,
    retry: &'a Retry,
    /// The longest pauses between two statements.
    limit: Duration,
    script: LuaClient,
    connection: Option<Alone<D::Session>>,
    /// When the last statement had its reply.
    since: Instant,
}

impl<'a, D: Driver> One<'a, D> {
    fn new(
        driver: &'a D,
        workload: &'a LuaWorkload,
        number: usize,
        retry: &'a Retry,
        limit: Duration,
    ) -> Self {
        Self {
            driver,
            workload,
            retry,
            limit,
            script: workload.command(number),
            connection: None,
            since: Instant::now(),
        }
    }

    fn run(mut self, failed: &AtomicBool) -> Result<(), Failure> {
        let mut args = Args::default();
        self.script.begin();
        while let Some(next) = self.script.next(&mut args) {
            if failed.load(Ordering::Relaxed) {
                // Another client says why.
                return Ok(());
            }
            match next {
                Next::Sql { type_index } => {
                    self.step(type_index, |session| session.submit_text(args.sql()))?;
                }
                Next::Statement(statement) => {
                    self.step(0, |session| session.submit(statement, &args))?;
                }
                Next::Prepare { replaces } => {
                    self.step(0, |own| own.submit_preparation(args.sql(), replaces))?;
                }
                Next::Own { number, type_index } => {
                    self.step(type_index, |session| session.submit_own(number, &args))?;
                }
                Next::Reconnect { type_index } => {
                    self.connection = None;
                    let connection = self.connect()?;
                    self.script.take_reply(Reply::default(), None, type_index);
                    self.connection = Some(connection);
                }
                Next::Sleep { us } | Next::Wait { us } => {
                    let pause = Duration::from_micros(us);
                    if self.since.elapsed().saturating_add(pause) > self.limit {
                        let what = "a pause without a statement is longer than --script-limit";
                        return Err(Failure::new("script", what));
                    }
                    thread::sleep(pause);
                }
                Next::Again => {
                    let what = "an event is begun again, but a command has none";
                    return Err(Failure::new("script", what));
                }
                Next::Fail => return Err(Failure::new("script", self.script.mistake())),
            }
        }
        Ok(())
    }

    fn connect(&self) -> Result<Alone<D::Session>, Failure> {
        let statements = self.workload.catalogue().statements();
        let mut session = self
            .driver
            .connect(statements, Protocol::Prepared)
            .map_err(Failure::connecting)?;
        if let Some(keep) = self.workload.keeps() {
            session.keep_rows(keep);
        }
        Alone::new(session).map_err(Failure::connecting)
    }

    /// Sends one statement and waits for its reply.
    fn step(
        &mut self,
        type_index: usize,
        send: impl FnOnce(&mut D::Session) -> Result<(), Fault>,
    ) -> Result<(), Failure> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.connect()?,
        };
        let limit = self.driver.statement_limit();
        let end = limit.map(|limit| Instant::now() + limit);
        let outcome = connection
            .session
            .end_when(move || end.is_some_and(|end| Instant::now() > end))
            .and_then(|()| send(&mut connection.session))
            .and_then(|()| connection.reply(limit));
        self.since = Instant::now();
        match outcome {
            Ok(reply) => {
                let rows = connection.session.rows();
                self.script.take_reply(reply, rows, type_index);
            }
            Err(Fault::Server(error)) => {
                let again = self.retry.applies(&error, false);
                self.script.take_refusal(&error, again);
            }
            Err(fault) => return Err(Failure::from_fault("running the script", &fault)),
        }
        self.connection = Some(connection);
        Ok(())
    }
}
