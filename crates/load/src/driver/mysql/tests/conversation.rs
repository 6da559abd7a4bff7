//! Whole conversations over a socket, from the greeting to the reply, good ones and ones in which
//! something has gone wrong: seeded, so that what fails once fails again.

use std::io::Write;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::task::Poll;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::super::MysqlSession;
use super::super::handshake::Handshake;
use super::super::opening::Opening;
use super::handshake::{NONCE, greeting, login};
use super::{packet, packets, result};
use crate::driver::account::Account;
use crate::driver::mysql::statement::forms;
use crate::driver::socket::{Route, Stream};
use crate::driver::{Args, Fault, Protocol, Reply, Session, Statement};
use crate::target::Endpoint;

/// Rounds for each of the conversations.
const ROUNDS: u64 = 400;

/// What a server says, turn by turn: each after it has heard from the client.
type Turns = Vec<Vec<u8>>;

const GRANTED: &[u8] = b"\0\0\0\x02\0\0\0";
const END: &[u8] = b"\xFE\0\0\x02\0";

/// The log-ins, each with what follows them.
fn conversations() -> Vec<(&'static str, Turns)> {
    let greet = |plugin| packet(0, &greeting(b"8.4.3", plugin));
    let native = greet(b"mysql_native_password");
    let sha2 = greet(b"caching_sha2_password");
    let switch = |plugin: &[u8], scramble: &[u8]| {
        packet(2, &[b"\xFE", plugin, b"\0", scramble, b"\0"].concat())
    };
    let edward = [b"\xFEclient_ed25519\0".as_slice(), &[7; 32]].concat();
    let whole = |log_in: Turns| [log_in, after()].concat();
    vec![
        ("native", whole(vec![native.clone(), packet(2, GRANTED)])),
        (
            "cached",
            whole(vec![
                sha2.clone(),
                [packet(2, b"\x01\x03"), packet(3, GRANTED)].concat(),
            ]),
        ),
        (
            "switched to native",
            whole(vec![
                sha2.clone(),
                switch(b"mysql_native_password", NONCE),
                packet(4, GRANTED),
            ]),
        ),
        (
            "switched to ed25519",
            whole(vec![native.clone(), packet(2, &edward), packet(4, GRANTED)]),
        ),
        (
            "refused",
            vec![native, packet(2, b"\xFF\x15\x04#28000Access denied")],
        ),
    ]
}

/// The answers to two preparations, then to three statements.
fn after() -> Turns {
    let selecting = packets(
        1,
        &[
            b"\0\x05\0\0\0\x01\0\x01\0\0\0\0",
            b"\x03def?",
            END,
            b"\x03defc",
            END,
        ],
    );
    let updating = packets(1, &[b"\0\x06\0\0\0\0\0\x01\0\0\0\0", b"\x03def?", END]);
    vec![
        [selecting, updating].concat(),
        result(&[b"\0\0\x03abc", b"\0\0\x05hello"]),
        packet(1, &[0, 3, 0, 2, 0, 0, 0]),
        packet(1, b"\xFF\xBD\x04#40001Deadlock found"),
    ]
}

/// A session over a socket pair, and the server's end.
fn connect() -> (MysqlSession, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    let stream = Stream::unix(mio::net::UnixStream::from_std(ours));
    let catalogue = ["SELECT c FROM t WHERE id=?", "UPDATE t SET c=?"].map(Statement::prepared);
    let forms: Arc<[_]> = forms(&catalogue, Protocol::Prepared).into();
    let endpoint = Endpoint::Unix("/nowhere".into());
    let account = Account {
        statement_limit: None,
        route: Route::new(endpoint.clone()),
        endpoint,
        login: login("geheim", false),
        tls: None,
    };
    let opening = Opening::new(account.into(), Handshake::default(), Arc::clone(&forms));
    (MysqlSession::new(stream, forms, Some(opening)), theirs)
}

/// Talks to the end. A server that has said all that it will says nothing more: then there is
/// an outcome, or waiting for one would never end.
fn talk(turns: &[Vec<u8>]) -> Vec<Result<Reply, Fault>> {
    let (mut session, mut server) = connect();
    let mut turns = turns.iter();
    let mut outcomes = Vec::new();
    let mut next = |outcome: &mut dyn FnMut() -> Poll<Result<Reply, Fault>>| {
        loop {
            if let Poll::Ready(outcome) = outcome() {
                return outcome;
            }
            if let Some(turn) = turns.next() {
                // A client that has left is not written to.
                let _ = server.write_all(turn);
                continue;
            }
            server.shutdown(Shutdown::Write).unwrap();
            match outcome() {
                Poll::Ready(outcome) => return outcome,
                Poll::Pending => panic!("waits for what never comes"),
            }
        }
    };
    let opened = next(&mut || session.poll_open().map_ok(|()| Reply::default()));
    let open = opened.is_ok();
    outcomes.push(opened);
    let mut args = Args::default();
    args.push_int(7);
    for statement in [0, 1, 0].into_iter().filter(|_| open) {
        if let Err(fault) = session.submit(statement, &args) {
            outcomes.push(Err(fault));
            break;
        }
        outcomes.push(next(&mut || session.poll()));
        if !matches!(outcomes.last(), Some(Ok(_) | Err(Fault::Server(_)))) {
            break;
        }
    }
    outcomes
}

#[test]
fn good_ones_come_to_their_end() {
    for (name, turns) in conversations() {
        let outcomes = talk(&turns);
        let counts: Vec<_> = outcomes
            .iter()
            .map(|outcome| match outcome {
                Ok(reply) => (reply.rows, reply.affected, ""),
                Err(Fault::Server(error)) => (0, 0, error.code.as_str()),
                Err(fault) => panic!("{name}: {fault}"),
            })
            .collect();
        if name == "refused" {
            assert_eq!(counts, [(0, 0, "1045")]);
        } else {
            let expected = [(0, 0, ""), (2, 0, ""), (0, 3, ""), (0, 0, "1213")];
            assert_eq!(counts, expected, "{name}");
        }
    }
}

#[test]
fn cut_off_anywhere_they_end_in_a_fault() {
    for (number, (name, turns)) in conversations().into_iter().enumerate() {
        // What follows the log-in is the same in all.
        let differing = if number == 0 {
            turns.len()
        } else {
            turns.len().saturating_sub(4)
        };
        for (index, turn) in turns.iter().take(differing.max(2)).enumerate() {
            for cut in 0..turn.len() {
                let mut cut_off = turns[..index].to_vec();
                cut_off.push(turn[..cut].to_vec());
                let outcomes = talk(&cut_off);
                // A packet that arrived whole before the cut may have been a refusal.
                let ended = outcomes.last().unwrap();
                assert!(
                    ended.is_err(),
                    "{name}: turn {index} cut at {cut}: {ended:?}"
                );
            }
        }
    }
}

#[test]
fn with_something_wrong_they_come_to_some_end() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    for (_, turns) in conversations() {
        for _ in 0..ROUNDS {
            let mut turns = turns.clone();
            for _ in 0..rng.random_range(1..4) {
                spoil(&mut turns, &mut rng);
            }
            talk(&turns);
        }
    }
}

/// Makes one thing wrong.
fn spoil(turns: &mut Turns, rng: &mut Xoshiro256PlusPlus) {
    let index = rng.random_range(0..turns.len());
    let turn = &mut turns[index];
    if turn.is_empty() {
        return;
    }
    let at = rng.random_range(0..turn.len());
    match rng.random_range(0..9) {
        0 => turn[at] = rng.random(),
        1 => turn[at] ^= 1 << rng.random_range(0..8),
        2 => turn[at] = [0x00, 0x01, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF][rng.random_range(0..7)],
        3 => turn.truncate(at),
        4 => turn.insert(at, rng.random()),
        5 => drop(turn.remove(at)),
        // The length, and the number, of the first packet.
        6 => turn[rng.random_range(0..4.min(at + 1))] = rng.random(),
        // A turn twice, or at another's place.
        7 => turns.insert(index, turns[index].clone()),
        _ => {
            let other = rng.random_range(0..turns.len());
            turns.swap(index, other);
        }
    }
}
