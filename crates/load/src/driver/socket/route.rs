//! The way to one server: a name is looked up once, and what answered is used from then on.

use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::mpsc::channel;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::LOGIN_LIMIT;
use super::stream::Stream;
use crate::driver::Fault;
use crate::target::Endpoint;

/// Opens connections to one server.
#[derive(Debug)]
pub(crate) struct Route {
    endpoint: Endpoint,
    /// The first of the host's addresses that answered.
    found: OnceLock<SocketAddr>,
}

impl Route {
    pub(crate) fn new(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            found: OnceLock::new(),
        }
    }

    /// Begins to connect; the first read or write reports the result. Only the first connection to
    /// a host blocks, while its name is looked up and its addresses are tried.
    ///
    /// `WouldBlock`: the server's queue of new connections is full; it may be tried again.
    ///
    /// It reads for [`LOGIN_LIMIT`], until its log-in is over: who floods us never makes us wait.
    pub(crate) fn open(&self) -> io::Result<Stream> {
        let mut stream = match &self.endpoint {
            Endpoint::Unix(path) => mio::net::UnixStream::connect(path).map(Stream::unix),
            Endpoint::Tcp { host, port } => match self.found.get() {
                Some(&address) => mio::net::TcpStream::connect(address).and_then(without_delay),
                None => self.find(host, *port),
            },
        }?;
        stream.end_reading_at(Some(Instant::now() + LOGIN_LIMIT));
        Ok(stream)
    }

    /// Tries every address of the host in turn; the error is that of the last one.
    fn find(&self, host: &str, port: u16) -> io::Result<Stream> {
        let end = Instant::now() + LOGIN_LIMIT;
        let mut failure = io::Error::new(ErrorKind::NotFound, "the host name has no address");
        let mut addresses = look_up(host, port)?.into_iter();
        while let Some(address) = addresses.next() {
            let left = end.saturating_duration_since(Instant::now());
            // One that never answers leaves the others their share.
            let share = left / u32::try_from(addresses.len() + 1).unwrap_or(u32::MAX);
            match TcpStream::connect_timeout(&address, share.max(Duration::from_millis(1))) {
                Ok(connected) => {
                    connected.set_nonblocking(true)?;
                    let _ = self.found.set(address);
                    return without_delay(mio::net::TcpStream::from_std(connected));
                }
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }
}

/// The addresses that were looked up ahead.
static AHEAD: Mutex<Option<HashMap<String, Vec<SocketAddr>>>> = Mutex::new(None);

/// Looks up a host's addresses now, for a process that will not be able to.
pub(crate) fn resolve(endpoint: &Endpoint) -> Result<(), Fault> {
    if let Endpoint::Tcp { host, port } = endpoint {
        let found = look_up(host, *port).map_err(|error| Fault::unreachable(endpoint, &error))?;
        let mut ahead = AHEAD.lock().unwrap_or_else(PoisonError::into_inner);
        ahead.get_or_insert_default().insert(host.clone(), found);
    }
    Ok(())
}

/// The host's addresses. The resolver has limits of its own, which are longer than ours.
fn look_up(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![(address, port).into()]);
    }
    let ahead = AHEAD.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = ahead.as_ref().and_then(|known| known.get(host)) {
        return Ok(found.clone());
    }
    drop(ahead);
    let (outbox, inbox) = channel();
    let host = host.to_owned();
    thread::spawn(move || {
        let found = (host.as_str(), port).to_socket_addrs();
        // Whoever asked may have given up.
        let _ = outbox.send(found.map(Vec::from_iter));
    });
    inbox.recv_timeout(LOGIN_LIMIT).unwrap_or_else(|_| {
        let seconds = LOGIN_LIMIT.as_secs();
        let message = format!("its name was not looked up within {seconds} s");
        Err(io::Error::new(ErrorKind::TimedOut, message))
    })
}

/// A statement is one small write that waits for its reply: Nagle's delay would be measured as
/// the server's.
fn without_delay(connection: mio::net::TcpStream) -> io::Result<Stream> {
    connection.set_nodelay(true)?;
    Ok(Stream::tcp(connection))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::os::unix::net::UnixListener;

    #[test]
    fn a_full_queue_is_told_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        // Shortens the queue, which takes one more than this.
        rustix::net::listen(&listener, 0).unwrap();
        let route = Route::new(Endpoint::Unix(path));
        let mut waiting = Vec::new();
        let refusal = loop {
            match route.open() {
                Ok(stream) => waiting.push(stream),
                Err(error) => break error,
            }
            assert!(waiting.len() < 10, "the queue is never full");
        };
        assert_eq!(refusal.kind(), ErrorKind::WouldBlock);
        listener.accept().unwrap();
        assert!(route.open().is_ok(), "there is room again");
    }

    #[test]
    fn the_address_that_answers_is_kept() {
        // `localhost` may be ::1 first, an address at which nobody listens.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let route = Route::new(Endpoint::Tcp {
            host: "localhost".into(),
            port: address.port(),
        });
        assert!(route.open().is_ok());
        assert_eq!(route.found.get(), Some(&address));
        drop(listener);
        // The second does not wait to be refused.
        assert!(route.open().is_ok());
    }

    #[test]
    fn an_address_that_never_answers_leaves_time_for_the_others() {
        let silent = TcpListener::bind("127.0.0.2:0").unwrap();
        rustix::net::listen(&silent, 0).unwrap();
        let full = silent.local_addr().unwrap();
        let _waiting = TcpStream::connect(full).unwrap();
        let listener = TcpListener::bind(("127.0.0.1", full.port())).unwrap();
        let here = listener.local_addr().unwrap();
        let addresses = [&[full][..], &[here; 9]].concat();
        let mut ahead = AHEAD.lock().unwrap();
        ahead
            .get_or_insert_default()
            .insert("both.test".into(), addresses);
        drop(ahead);
        let began = Instant::now();
        let host = "both.test".into();
        let route = Route::new(Endpoint::Tcp {
            host,
            port: full.port(),
        });
        assert!(route.open().is_ok());
        assert!(began.elapsed() < LOGIN_LIMIT / 2);
    }

    #[test]
    fn nobody_there() {
        let gone = Route::new(Endpoint::Unix("/nowhere/socket".into()));
        assert_eq!(gone.open().err().unwrap().kind(), ErrorKind::NotFound);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let host = "127.0.0.1".into();
        let refused = Route::new(Endpoint::Tcp { host, port }).open();
        assert_eq!(refused.err().unwrap().kind(), ErrorKind::ConnectionRefused);
    }
}
