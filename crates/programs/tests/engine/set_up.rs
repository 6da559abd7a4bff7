//! What every session begins with is sent after each log-in, and counted nowhere.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use diskproof_load::driver::null::NullDriver;
use diskproof_load::driver::{
    Admin, Args, Dialect, Driver, Fault, Protocol, Reply, Session, Statement, StatementId,
};
use diskproof_load::report::Summary;

use crate::run::{account, options, run, summary};
use crate::server::{Manners, Server};
use crate::steps::{ASK, COME_AGAIN, Steps};

/// The statements of each session, in the order in which the sessions were begun.
type Sessions = Arc<Mutex<Vec<Vec<StatementId>>>>;

/// A driver whose sessions' statements are written down.
struct Recording<D> {
    driver: D,
    sessions: Sessions,
    log_in: Duration,
}

struct Recorded<S> {
    session: S,
    number: usize,
    log_in: Duration,
    sessions: Sessions,
}

/// Runs one client whose sessions begin with statements 1 and 2; the sessions, and the summary.
fn sessions(driver: impl Driver) -> (Vec<Vec<StatementId>>, Summary) {
    sessions_after(Duration::ZERO, driver)
}

/// The same with log-ins that hold up the client's thread for so long.
fn sessions_after(log_in: Duration, driver: impl Driver) -> (Vec<Vec<StatementId>>, Summary) {
    let sessions = Sessions::default();
    let recording = Recording {
        driver,
        sessions: Arc::clone(&sessions),
        log_in,
    };
    let steps = Steps::new(&[ASK, COME_AGAIN, ASK]);
    let steps = steps.in_sessions_that_begin_with(&["SET one", "SET two"]);
    let summary = summary(recording, steps, &options(1, 1, 0.3));
    let sessions = std::mem::take(&mut *sessions.lock().unwrap());
    (sessions, summary)
}

fn check(sessions: &[Vec<StatementId>], summary: &Summary) {
    assert!(sessions.len() > 2, "{sessions:?}");
    for session in sessions {
        // The last one may not have got that far.
        let begins_well = [1, 2].iter().zip(session).all(|(one, other)| one == other);
        assert!(begins_well, "{sessions:?}");
        assert!(session.iter().skip(2).all(|&id| id == 0), "{sessions:?}");
    }
    let counted = account(summary, "ask").count + account(summary, "come_again").count;
    assert_eq!(summary.statements, counted);
}

#[test]
fn the_first_session_and_those_that_are_asked_for_begin_alike() {
    let (sessions, summary) = sessions(Server::new(|_| Ok(Manners::default())));
    check(&sessions, &summary);
    assert_eq!(summary.reconnects, 0);
}

#[test]
fn so_do_those_of_a_database_that_answers_at_once() {
    let (sessions, summary) = sessions(NullDriver(Dialect::Mysql));
    check(&sessions, &summary);
}

#[test]
fn a_last_session_that_is_there_without_an_event_is_not_waited_for() {
    // Longer than the time between two checks for log-ins that take too long.
    let (outbox, inbox) = channel();
    thread::spawn(move || {
        let _ = outbox.send(sessions_after(
            Duration::from_millis(150),
            NullDriver(Dialect::Mysql),
        ));
    });
    let (sessions, _) = inbox
        .recv_timeout(Duration::from_secs(20))
        .expect("the run ends");
    assert_eq!(sessions[0][..2], [1, 2]);
}

#[test]
fn one_made_again_after_a_loss_begins_like_the_first() {
    let (sessions, summary) = sessions(Server::new(|number| {
        let breaks_after = (number == 0).then_some(2);
        Ok(Manners {
            breaks_after,
            ..Manners::default()
        })
    }));
    assert_eq!(summary.reconnects, 1);
    assert_eq!(sessions[0], [1, 2, 0], "the last of them was not taken");
    check(&sessions, &summary);
}

#[test]
fn a_session_that_cannot_be_set_up_is_not_begun() {
    let server = Server::new(|_| {
        Ok(Manners {
            refuses_with: Some("1193"),
            ..Manners::default()
        })
    });
    let steps = Steps::new(&[ASK]).in_sessions_that_begin_with(&["SET a", "SET b", "SET c"]);
    let failure = run(server, steps, &options(1, 1, 1.0)).expect_err("it is refused");
    assert_eq!(failure.code, "1193");
    assert!(failure.message.contains("`SET c`"), "{failure:?}");
}

impl<D: Driver> Driver for Recording<D> {
    type Session = Recorded<D::Session>;

    fn dialect(&self) -> Dialect {
        self.driver.dialect()
    }

    fn open(&self, statements: &[Statement], protocol: Protocol) -> Result<Self::Session, Fault> {
        let session = self.driver.open(statements, protocol)?;
        let mut sessions = self.sessions.lock().unwrap();
        sessions.push(Vec::new());
        Ok(Recorded {
            session,
            number: sessions.len() - 1,
            log_in: self.log_in,
            sessions: Arc::clone(&self.sessions),
        })
    }

    fn admin(&self) -> Result<Box<dyn Admin>, Fault> {
        self.driver.admin()
    }
}

impl<S: Session> Session for Recorded<S> {
    fn source(&mut self) -> Option<&mut dyn mio::event::Source> {
        self.session.source()
    }

    fn submit(&mut self, statement: StatementId, args: &Args) -> Result<(), Fault> {
        self.sessions.lock().unwrap()[self.number].push(statement);
        self.session.submit(statement, args)
    }

    fn submit_text(&mut self, sql: &[u8]) -> Result<(), Fault> {
        self.session.submit_text(sql)
    }

    fn submit_preparation(&mut self, sql: &[u8], replaces: Option<usize>) -> Result<(), Fault> {
        self.session.submit_preparation(sql, replaces)
    }

    fn submit_own(&mut self, number: usize, args: &Args) -> Result<(), Fault> {
        self.session.submit_own(number, args)
    }

    fn poll_open(&mut self) -> Poll<Result<(), Fault>> {
        thread::sleep(self.log_in);
        self.session.poll_open()
    }

    fn poll(&mut self) -> Poll<Result<Reply, Fault>> {
        self.session.poll()
    }
}
