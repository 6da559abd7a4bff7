//! The engine with a server of our own, whose connections break when they are told to.

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use diskproof_load::driver::null::NullDriver;
use diskproof_load::driver::{
    Admin, Args, Dialect, Driver, Fault, Protocol, Reply, Session, Statement, StatementId,
};
use diskproof_load::engine::{self, RunOptions};
use diskproof_load::report::{Event, Report, Summary};
use diskproof_load::workload::distribution::Choice;
use diskproof_load::workload::oltp::{Mix, Oltp, OltpOptions};

/// The first connection breaks after so many statements.
const STATEMENTS_BEFORE_BREAK: usize = 20;

/// Lets the first `CLIENTS` connect at once, and every later one after a time or never.
struct Breaking {
    connections: AtomicUsize,
    /// How long a connection takes to be made anew; `None`: it is refused.
    again: Option<Duration>,
}

const CLIENTS: usize = 2;

impl Driver for Breaking {
    type Session = Echo;

    fn dialect(&self) -> Dialect {
        Dialect::Mysql
    }

    fn open(&self, _: &[Statement], _: Protocol) -> Result<Echo, Fault> {
        let number = self.connections.fetch_add(1, Ordering::Relaxed);
        if number >= CLIENTS {
            let refused = || Fault::Unreachable("no one is there".into());
            thread::sleep(self.again.ok_or_else(refused)?);
        }
        Ok(Echo::new((number == 0).then_some(STATEMENTS_BEFORE_BREAK))?)
    }

    fn admin(&self) -> Result<Box<dyn Admin>, Fault> {
        NullDriver.admin()
    }
}

/// A connection to a thread that sends every byte back after a millisecond.
struct Echo {
    stream: mio::net::UnixStream,
    left: Option<usize>,
}

impl Echo {
    fn new(left: Option<usize>) -> io::Result<Self> {
        let (ours, mut theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        thread::spawn(move || {
            let mut byte = [0];
            while theirs.read_exact(&mut byte).is_ok() {
                thread::sleep(Duration::from_millis(1));
                if theirs.write_all(&byte).is_err() {
                    return;
                }
            }
        });
        let stream = mio::net::UnixStream::from_std(ours);
        Ok(Self { stream, left })
    }
}

impl Session for Echo {
    fn source(&mut self) -> Option<&mut dyn mio::event::Source> {
        Some(&mut self.stream)
    }

    fn submit(&mut self, _: StatementId, _: &Args) -> Result<(), Fault> {
        if let Some(left) = &mut self.left {
            *left = left
                .checked_sub(1)
                .ok_or_else(|| Fault::Lost(ErrorKind::ConnectionReset.into()))?;
        }
        Ok(self.stream.write_all(b"?")?)
    }

    fn submit_text(&mut self, _: &[u8]) -> Result<(), Fault> {
        self.submit(0, &Args::default())
    }

    fn poll(&mut self) -> Poll<Result<Reply, Fault>> {
        match self.stream.read_exact(&mut [0]) {
            Ok(()) => Poll::Ready(Ok(Reply::default())),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Poll::Pending,
            Err(error) => Poll::Ready(Err(error.into())),
        }
    }
}

#[derive(Default)]
struct Keep {
    summary: Option<Summary>,
}

impl Report for Keep {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        if let Event::Summary(summary) = event {
            self.summary = Some((**summary).clone());
        }
        Ok(())
    }
}

fn run(again: Option<Duration>, workers: usize, seconds: f64) -> Summary {
    let workload = Oltp::new(
        &OltpOptions::new(Mix::PointSelect, 1, 10, Choice::Uniform, 1),
        Dialect::Mysql,
    );
    let driver = Breaking {
        connections: AtomicUsize::new(0),
        again,
    };
    let options = RunOptions {
        workload: "oltp",
        mix: "point-select".into(),
        seed: 1,
        clients: CLIENTS,
        workers,
        protocol: Protocol::Text,
        warm_up: Duration::ZERO,
        seconds: Some(Duration::from_secs_f64(seconds)),
        transactions: None,
        report_interval: None,
        percentiles: vec![50.0],
        lockstep: false,
    };
    let mut report = Keep::default();
    let (driver, workload) = (Arc::new(driver), Arc::new(workload));
    engine::run(&driver, &workload, &options, channel(), &mut report).expect("a good run");
    report.summary.expect("a summary")
}

#[test]
fn a_slow_log_in_does_not_stop_the_other_clients() {
    let log_in = Duration::from_millis(1500);
    let summary = run(Some(log_in), 1, 2.5);
    assert_eq!(summary.reconnects, 1);
    let longest_us = summary.latency_us.expect("latencies").max;
    assert!(longest_us < 750_000.0, "{longest_us}");
}

#[test]
fn one_client_without_a_connection_does_not_end_the_run() {
    let summary = run(None, CLIENTS, 5.0);
    assert_eq!(summary.reconnects, 0);
    assert!(summary.transactions > 100, "{}", summary.transactions);
    let unreachable = summary.errors.iter().find(|e| e.code == "unreachable");
    assert!(unreachable.expect("it was tried").count >= 3);
    let linux_counts = std::path::Path::new("/proc/self/schedstat").exists();
    assert_eq!(summary.client.waited_for_cpu_s.is_some(), linux_counts);
}
