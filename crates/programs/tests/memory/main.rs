//! What an open PostgreSQL connection costs in memory: alone in its process, so that nothing else
//! is counted.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::task::Poll;
use std::thread;

use diskproof_load::driver::postgres::PostgresDriver;
use diskproof_load::driver::{Args, Driver, Protocol, Session, Statement};
use diskproof_load::target::Target;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Each has a socket at both ends: within the limit that most systems set for open files.
const CONNECTIONS: usize = 2000;
/// The statements of a read-write mix on four tables.
const STATEMENTS: usize = 36;
/// A client may take 16 KiB in all; a connection at rest holds no buffers, so that its share is
/// small.
const LIMIT_BYTES: usize = 1 << 10;

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).expect("a short body");
    [&[tag], &length.to_be_bytes()[..], body].concat()
}

fn ready() -> Vec<u8> {
    message(b'Z', b"I")
}

/// Lets one client after the other in, and answers one statement of each.
fn serve(listener: &UnixListener) {
    let entry = [message(b'R', &[0; 4]), ready()].concat();
    let description = b"\0\x01c\0\0\0\0\0\0\0\0\0\0\x17\0\x04\0\0\0\0\0\0";
    let prepared = [
        message(b'1', b""),
        message(b't', b"\0\x01\0\0\0\x17"),
        message(b'T', description),
    ]
    .concat();
    let prepared = [prepared.repeat(STATEMENTS), ready()].concat();
    let row = message(b'D', &[&[0, 1, 0, 0, 0, 120][..], &[b'x'; 120]].concat());
    let reply = [
        message(b'2', b""),
        row,
        message(b'C', b"SELECT 1\0"),
        ready(),
    ]
    .concat();
    let mut clients = Vec::with_capacity(CONNECTIONS);
    for _ in 0..CONNECTIONS {
        let (mut client, _) = listener.accept().expect("a client");
        answer(&mut client, b"", &entry);
        answer(&mut client, b"S\0\0\0\x04", &prepared);
        clients.push(client);
    }
    for client in &mut clients {
        answer(client, b"S\0\0\0\x04", &reply);
    }
}

/// Reads to the end of a request, then answers it.
fn answer(client: &mut UnixStream, end: &[u8], reply: &[u8]) {
    let mut heard = Vec::new();
    let mut chunk = [0; 4096];
    while heard.is_empty() || !heard.ends_with(end) {
        let read = client.read(&mut chunk).expect("a client that speaks");
        assert!(read > 0, "the client has left");
        heard.extend_from_slice(&chunk[..read]);
    }
    client.write_all(reply).expect("a client that listens");
}

fn resident_bytes() -> usize {
    let statm = fs::read_to_string("/proc/self/statm").expect("/proc");
    let pages: usize = statm
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse().ok())
        .expect("a number of pages");
    pages * 4096
}

#[test]
fn an_open_connection_is_small() {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE).expect("a limit");
    setrlimit(Resource::RLIMIT_NOFILE, most, most).expect("all that we may have");
    let directory = tempfile::tempdir().expect("a temporary directory");
    let socket = directory.path().join("sock");
    let listener = UnixListener::bind(&socket).expect("a socket");
    let server = thread::spawn(move || serve(&listener));

    let url = format!("postgresql://me@localhost/db?socket={}", socket.display());
    let driver = match Target::parse(&url, None) {
        Ok(Target::Postgres(server)) => PostgresDriver::new(server).expect("a driver"),
        other => panic!("{other:?}"),
    };
    let statement =
        |number| Statement::prepared(format!("SELECT c FROM sbtest{number} WHERE id=?"));
    let catalogue: Vec<_> = (0..STATEMENTS).map(statement).collect();
    let connect = || driver.connect(&catalogue, Protocol::Prepared);

    let mut sessions = Vec::with_capacity(CONNECTIONS);
    // What is made once is made by now.
    sessions.push(connect().expect("a log-in"));
    let before = resident_bytes();
    sessions.extend((1..CONNECTIONS).map(|_| connect().expect("a log-in")));
    let mut args = Args::default();
    args.push_int(1);
    for session in &mut sessions {
        session.submit(0, &args).expect("a statement that is sent");
        while session.poll().map(|reply| reply.expect("a reply")) == Poll::Pending {
            thread::yield_now();
        }
    }
    let each = (resident_bytes() - before) / CONNECTIONS;
    println!("{each} bytes for each of {CONNECTIONS} connections");
    assert!(each <= LIMIT_BYTES, "{each} bytes for each connection");
    server.join().expect("a server");
}
