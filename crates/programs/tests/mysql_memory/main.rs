//! What an open MySQL connection costs in memory: alone in its process, so that nothing else is
//! counted.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::task::Poll;
use std::thread;

use diskproof_load::driver::mysql::MysqlDriver;
use diskproof_load::driver::{Args, Driver, Protocol, Session, Statement};
use diskproof_load::target::Target;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Each has a socket at both ends: within the limit that most systems set for open files.
const CONNECTIONS: usize = 2000;
/// The statements of a read-write mix on four tables.
const STATEMENTS: usize = 36;
/// A client may take 16 KiB in all; a connection at rest holds the statements' handles and the
/// last statement, so that its share is small.
const LIMIT_BYTES: usize = 1 << 10;

const END: &[u8] = b"\xFE\0\0\x02\0";

/// Packets with their numbers, from `first` on.
fn packets(first: u8, contents: &[&[u8]]) -> Vec<u8> {
    let numbered = (first..).zip(contents);
    numbered
        .flat_map(|(sequence, content)| {
            let [low, middle, high, ..] = content.len().to_le_bytes();
            [&[low, middle, high, sequence], *content].concat()
        })
        .collect()
}

fn greeting() -> Vec<u8> {
    let mut packet = b"\x0A8.4.3\0\x07\0\0\0abcdefgh\0\xFF\xF7\x21\x02\0\xFF\x81\x15".to_vec();
    packet.extend_from_slice(&[0; 10]);
    packet.extend_from_slice(b"ijklmnopqrst\0mysql_native_password\0");
    packets(0, &[&packet])
}

/// Lets one client after the other in, and answers one statement of each.
fn serve(listener: &UnixListener) {
    let granted = packets(2, &[b"\0\0\0\x02\0\0\0"]);
    let prepared = packets(
        1,
        &[
            b"\0\x01\0\0\0\x01\0\x01\0\0\0\0",
            b"\x03def?",
            END,
            b"\x03defc",
            END,
        ],
    );
    let row = [&b"\0\0\x78"[..], &[b'x'; 120]].concat();
    let reply = packets(1, &[b"\x01", b"\x03def", END, &row, END]);
    let mut clients = Vec::with_capacity(CONNECTIONS);
    for _ in 0..CONNECTIONS {
        let (mut client, _) = listener.accept().expect("a client");
        client
            .write_all(&greeting())
            .expect("a client that listens");
        hear(&mut client, 1);
        client.write_all(&granted).expect("a client that listens");
        hear(&mut client, STATEMENTS);
        let answers = prepared.repeat(STATEMENTS);
        client.write_all(&answers).expect("a client that listens");
        clients.push(client);
    }
    for client in &mut clients {
        hear(client, 1);
        client.write_all(&reply).expect("a client that listens");
    }
}

/// Reads so many packets.
fn hear(client: &mut UnixStream, packets: usize) {
    for _ in 0..packets {
        let mut head = [0; 4];
        client.read_exact(&mut head).expect("a client that speaks");
        let [low, middle, high, _] = head;
        let length = u32::from_le_bytes([low, middle, high, 0]);
        let mut content = vec![0; usize::try_from(length).expect("a length")];
        client.read_exact(&mut content).expect("the rest");
    }
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

    let url = format!("mysql://me@localhost/db?socket={}", socket.display());
    let driver = match Target::parse(&url, None) {
        Ok(Target::Mysql(server)) => MysqlDriver::new(server).expect("a driver"),
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
