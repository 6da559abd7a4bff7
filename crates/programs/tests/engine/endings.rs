//! The end of a run while statements are under way.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use diskproof_load::driver::Driver;
use diskproof_load::engine::{self, Ending, Message, Outside, Patience, RunError, RunOptions};
use diskproof_load::report::{Event, Report};
use diskproof_load::workload::{Catalogue, Workload};

use crate::run::{Keep, account, broken_off, options};
use crate::server::{Manners, Server};
use crate::steps::{ASK, Steps, Walk};

/// Every event with the instant at which it was told.
#[derive(Default)]
struct Watch(Vec<(Instant, Event)>);

impl Report for Watch {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.0.push((Instant::now(), event.clone()));
        Ok(())
    }
}

#[test]
fn a_long_statement_does_not_stop_the_clock() {
    for clients in [1, 2] {
        let service = Duration::from_millis(1800);
        let server = Server::new(move |_| {
            Ok(Manners {
                service,
                ..Manners::default()
            })
        });
        let options = RunOptions {
            report_interval: Some(Duration::from_millis(200)),
            ..options(clients, 1, 1.0)
        };
        let mut watch = Watch::default();
        let (driver, workload) = (Arc::new(server), Arc::new(Steps::new(&[ASK])));
        engine::run(&driver, &workload, &options, channel(), &mut watch).expect("a good run");
        let told = |wanted: fn(&Event) -> bool| {
            let told = watch.0.iter().filter(move |(_, event)| wanted(event));
            told.map(|(at, _)| *at).collect::<Vec<_>>()
        };
        let begun = told(|event| matches!(event, Event::Measuring { .. }))[0];
        let intervals = told(|event| matches!(event, Event::Interval(_)));
        assert_eq!(intervals.len(), 5);
        for (due_ms, at) in (200..).step_by(200).zip(intervals) {
            let late = at
                .duration_since(begun)
                .saturating_sub(Duration::from_millis(due_ms));
            assert!(late < Duration::from_millis(500), "{clients}: {late:?}");
        }
        // The statement is waited for, and does not count.
        let idle = told(|event| matches!(event, Event::Idle))[0];
        assert!(idle.duration_since(begun) >= service);
        let Some((_, Event::Summary(summary))) = watch.0.last() else {
            panic!("{:?}", watch.0);
        };
        assert_eq!((summary.transactions, summary.errors.len()), (0, 0));
    }
}

#[test]
fn a_statement_without_a_reply_does_not_cost_the_summary() {
    for clients in [1, 3] {
        // The first client is left without an answer, the others are served to the end.
        let server = Server::new(|number| {
            Ok(Manners {
                silent_after: (number == 0).then_some(20),
                ..Manners::default()
            })
        });
        let options = RunOptions {
            patience: Patience {
                replies: Duration::from_millis(300),
                ..Patience::default()
            },
            ..options(clients, 1, 0.5)
        };
        let begun = Instant::now();
        let (summary, failure) = broken_off(server, Steps::new(&[ASK]), &options);
        assert!(
            begun.elapsed() < Duration::from_secs(5),
            "{:?}",
            begun.elapsed()
        );
        assert_eq!(failure.code, "no-reply");
        assert!(
            failure.message.contains("1 of the statements"),
            "{failure:?}"
        );
        assert!(summary.transactions >= 20, "{}", summary.transactions);
        assert_eq!(account(&summary, "ask").errors, 1);
        let error = &summary.errors[0];
        assert_eq!(
            (error.code.as_str(), error.statement.as_deref(), error.count),
            ("no-reply", Some("ask"), 1)
        );
    }
}

/// Steps whose server is asked for plans, and does not answer; each question is a signal to the run.
struct Asking(Steps, Sender<Message>);

impl Workload for Asking {
    type Script = Walk;

    fn catalogue(&self) -> &Catalogue {
        self.0.catalogue()
    }

    fn script(&self, client: usize) -> Walk {
        self.0.script(client)
    }

    fn explain(&self, _: &impl Driver, _: impl FnMut((String, String))) {
        let _ = self.1.send(Message::FromOutside(Outside::Interrupt));
        thread::sleep(Duration::from_secs(30));
    }
}

/// How a run ends whose first client is left without an answer after so many.
fn asked(silent_after: Option<usize>) -> (Result<Ending, RunError>, Vec<Event>) {
    let server = Server::new(move |_| {
        Ok(Manners {
            silent_after,
            ..Manners::default()
        })
    });
    let options = RunOptions {
        patience: Patience {
            replies: Duration::from_millis(300),
            ..Patience::default()
        },
        ..options(1, 1, 0.3)
    };
    let mailbox = channel();
    let workload = Arc::new(Asking(Steps::new(&[ASK]), mailbox.0.clone()));
    let (begun, mut keep) = (Instant::now(), Keep::default());
    let ending = engine::run(&Arc::new(server), &workload, &options, mailbox, &mut keep);
    assert!(
        begun.elapsed() < Duration::from_secs(8),
        "{:?}",
        begun.elapsed()
    );
    (ending, keep.0)
}

#[test]
fn a_signal_ends_the_wait_for_plans_and_costs_no_summary() {
    let (ending, events) = asked(None);
    assert!(matches!(ending, Ok(Ending::Interrupted)), "{ending:?}");
    assert!(matches!(events.last(), Some(Event::Summary(all)) if all.transactions > 0));
}

#[test]
fn a_server_that_failed_is_not_asked_for_plans() {
    let (ending, events) = asked(Some(20));
    assert!(matches!(ending, Err(RunError::Failed(_))), "{ending:?}");
    assert!(matches!(events.last(), Some(Event::Summary(all)) if !all.interrupted));
}
