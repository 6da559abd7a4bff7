//! A server that sends every byte back, and whose connections break or tarry when told to.

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use diskproof_load::driver::null::NullDriver;
use diskproof_load::driver::{
    Admin, Args, Dialect, Driver, Fault, Protocol, Reply, ServerError, Session, Statement,
    StatementId,
};

/// How long a statement takes unless told otherwise.
pub(crate) const SERVICE: Duration = Duration::from_millis(1);

/// What a connection is like.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manners {
    /// How long the log-in takes; `None`: it never ends.
    pub(crate) log_in: Option<Duration>,
    /// How long a statement takes.
    pub(crate) service: Duration,
    /// So many statements are answered; the server takes the next one and says nothing any more.
    pub(crate) silent_after: Option<usize>,
    /// The connection breaks after so many statements.
    pub(crate) breaks_after: Option<usize>,
    /// Every third statement is refused with this code; 1213 is transient.
    pub(crate) refuses_with: Option<&'static str>,
    /// Not every third one, but each.
    pub(crate) refuses_all: bool,
    /// Where it notes when each statement came.
    pub(crate) heard: Option<&'static Mutex<Vec<Instant>>>,
}

impl Default for Manners {
    fn default() -> Self {
        Self {
            log_in: Some(Duration::ZERO),
            service: SERVICE,
            silent_after: None,
            breaks_after: None,
            refuses_with: None,
            refuses_all: false,
            heard: None,
        }
    }
}

/// Says what the connection of a number, counted from 0, is like.
type Host = dyn Fn(usize) -> Result<Manners, Fault> + Send + Sync;

pub(crate) struct Server {
    connections: AtomicUsize,
    host: Box<Host>,
}

impl Server {
    pub(crate) fn new(
        host: impl Fn(usize) -> Result<Manners, Fault> + Send + Sync + 'static,
    ) -> Self {
        Self {
            connections: AtomicUsize::new(0),
            host: Box::new(host),
        }
    }
}

impl Driver for Server {
    type Session = Echo;

    fn dialect(&self) -> Dialect {
        Dialect::Mysql
    }

    fn open(&self, _: &[Statement], _: Protocol) -> Result<Echo, Fault> {
        let number = self.connections.fetch_add(1, Ordering::Relaxed);
        Ok(Echo::new((self.host)(number)?)?)
    }

    fn admin(&self) -> Result<Box<dyn Admin>, Fault> {
        NullDriver(Dialect::Mysql).admin()
    }
}

/// A connection to a thread that greets, and then sends every byte back after its time.
pub(crate) struct Echo {
    stream: mio::net::UnixStream,
    /// The same one, for what can only be set there.
    settings: UnixStream,
    left: Option<usize>,
    refuses_with: Option<&'static str>,
    refuses_all: bool,
    replies: usize,
}

impl Echo {
    fn new(manners: Manners) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let settings = ours.try_clone()?;
        thread::spawn(move || serve(theirs, manners));
        Ok(Self {
            settings,
            stream: mio::net::UnixStream::from_std(ours),
            left: manners.breaks_after,
            refuses_with: manners.refuses_with,
            refuses_all: manners.refuses_all,
            replies: 0,
        })
    }

    fn receive(&mut self) -> Poll<Result<Reply, Fault>> {
        match self.stream.read_exact(&mut [0]) {
            Ok(()) => Poll::Ready(Ok(Reply::default())),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Poll::Pending,
            Err(error) => Poll::Ready(Err(error.into())),
        }
    }
}

fn serve(mut stream: UnixStream, manners: Manners) {
    let mut byte = [b'!'];
    if let Some(time) = manners.log_in {
        thread::sleep(time);
        if stream.write_all(&byte).is_err() {
            return;
        }
    }
    let mut answered = 0;
    while stream.read_exact(&mut byte).is_ok() {
        if manners.silent_after == Some(answered) {
            continue;
        }
        if let Some(heard) = manners.heard {
            heard.lock().expect("no panic").push(Instant::now());
        }
        thread::sleep(manners.service);
        if stream.write_all(&byte).is_err() {
            return;
        }
        answered += 1;
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

    fn submit_preparation(&mut self, sql: &[u8], _: Option<usize>) -> Result<(), Fault> {
        self.submit_text(sql)
    }

    fn submit_own(&mut self, _: usize, args: &Args) -> Result<(), Fault> {
        self.submit(0, args)
    }

    fn poll_open(&mut self) -> Poll<Result<(), Fault>> {
        self.receive().map_ok(|_| ())
    }

    fn poll(&mut self) -> Poll<Result<Reply, Fault>> {
        let reply = self.receive();
        self.replies += usize::from(reply.is_ready());
        match self.refuses_with {
            Some(code)
                if reply.is_ready() && (self.refuses_all || self.replies.is_multiple_of(3)) =>
            {
                Poll::Ready(Err(refusal(code)))
            }
            _ => reply,
        }
    }

    fn block(&mut self, longest: Duration) -> io::Result<bool> {
        self.settings.set_nonblocking(false)?;
        self.settings.set_read_timeout(Some(longest))?;
        Ok(true)
    }
}

fn refusal(code: &str) -> Fault {
    Fault::Server(ServerError {
        code: code.to_owned(),
        sql_state: None,
        message: "refused".to_owned(),
        transient: code == "1213",
    })
}
