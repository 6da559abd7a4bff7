//! A server that talks nonsense to administration, which waits for its answers: faults must be
//! told as faults, never by a panic or a hang. (Sessions are tried in the driver's own tests.)

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use diskproof_load::driver::mysql::MysqlDriver;
use diskproof_load::driver::{Args, Driver, Fault, Reply};
use diskproof_load::target::Target;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const ROUNDS: usize = 300;

/// How long the server of nonsense listens before it says what it has to say in any case: a client
/// that waits for the rest of a packet says nothing more.
const PATIENCE: Duration = Duration::from_millis(3);

const END: &[u8] = b"\xFE\0\0\x02\0";

fn packets(first: u8, contents: &[&[u8]]) -> Vec<u8> {
    let numbered = (first..).zip(contents);
    numbered
        .flat_map(|(sequence, content)| {
            let [low, middle, high, ..] = content.len().to_le_bytes();
            [&[low, middle, high, sequence], *content].concat()
        })
        .collect()
}

/// What a good server says, turn by turn: to a value that is asked for, a statement, and rows
/// that are loaded.
fn turns() -> Vec<Vec<u8>> {
    let mut greeting = b"\x0A8.4.3\0\x07\0\0\0abcdefgh\0\xFF\xF7\x21\x02\0\xFF\x81\x15".to_vec();
    greeting.extend_from_slice(&[0; 10]);
    greeting.extend_from_slice(b"ijklmnopqrst\0mysql_native_password\0");
    let value = packets(1, &[b"\x01", b"\x03def", END, b"\x011", END]);
    vec![
        packets(0, &[&greeting]),
        packets(2, &[b"\0\0\0\x02\0\0\0"]),
        value.clone(),
        packets(1, &[b"\0\x03\0\x02\0\0\0"]),
        value,
        packets(1, &[b"\xFBrows"]),
        packets(4, &[b"\0\x01\0\x02\0\0\0"]),
    ]
}

/// Says each turn when it has heard something, or has waited for so long; then closes.
fn say(mut client: UnixStream, turns: &[Vec<u8>], patience: Option<Duration>) {
    client.set_read_timeout(patience).expect("a time-out");
    let mut heard = [0; 4096];
    for turn in turns {
        if client.write_all(turn).is_err() {
            return;
        }
        // What is not heard in time is not waited for. Rows are heard to their end, an empty packet.
        let asks_for_rows = turn.get(4) == Some(&0xFB);
        while let Ok(length @ 1..) = client.read(&mut heard) {
            if !asks_for_rows || heard[..length].ends_with(&[0, 0, 0, 3]) {
                break;
            }
        }
    }
}

fn serve(
    socket: &Path,
    conversations: Vec<Vec<Vec<u8>>>,
    patience: Option<Duration>,
) -> JoinHandle<()> {
    let listener = UnixListener::bind(socket).expect("a socket");
    thread::spawn(move || {
        for turns in conversations {
            say(listener.accept().expect("a client").0, &turns, patience);
        }
    })
}

fn driver(socket: &Path) -> MysqlDriver {
    let url = format!("mysql://me@localhost/db?socket={}", socket.display());
    match Target::parse(&url, None) {
        Ok(Target::Mysql(server)) => MysqlDriver::new(server).expect("a driver"),
        other => panic!("{other:?}"),
    }
}

fn administer(driver: &MysqlDriver) -> Result<(Option<String>, Reply, u64), Fault> {
    let mut admin = driver.admin()?;
    let value = admin.query_value("SELECT 1")?;
    let reply = admin.execute("UPDATE t SET c = 1")?;
    let mut rows = 0;
    let mut one_row = |args: &mut Args| {
        rows += 1;
        args.clear();
        args.push_int(1);
        rows == 1
    };
    let loaded = admin.load("t", &["c"], &mut one_row)?;
    Ok((value, reply, loaded))
}

#[test]
fn administration_of_a_good_server() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let socket = directory.path().join("sock");
    let server = serve(&socket, vec![turns()], None);
    let (value, reply, loaded) = administer(&driver(&socket)).expect("no fault");
    assert_eq!(value.as_deref(), Some("1"));
    assert_eq!((reply.rows, reply.affected, loaded), (0, 3, 1));
    server.join().expect("no panic");
}

#[test]
fn administration_of_a_server_that_talks_nonsense() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(6);
    let mut spoilt = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let mut turns = turns();
        let index = rng.random_range(0..turns.len());
        let turn = &mut turns[index];
        let at = rng.random_range(0..turn.len());
        match rng.random_range(0..6) {
            0 => turn[at] = rng.random(),
            1 => turn[at] = [0x00, 0x01, 0xFB, 0xFC, 0xFE, 0xFF][rng.random_range(0..6)],
            2 => turn.truncate(at),
            3 => turn.insert(at, rng.random()),
            4 => drop(turn.remove(at)),
            _ => turn[rng.random_range(0..3)] = rng.random(),
        }
        spoilt.push(turns);
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let socket = directory.path().join("sock");
    let server = serve(&socket, spoilt, Some(PATIENCE));
    let driver = driver(&socket);
    // Some come to their end all the same: not every byte matters.
    let faults = (0..ROUNDS).filter(|_| administer(&driver).is_err()).count();
    assert!((ROUNDS / 3..ROUNDS).contains(&faults), "{faults} faults");
    server.join().expect("no panic");
}
