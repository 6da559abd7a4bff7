//! Good conversations, damaged: whatever a server says, the client comes to an end, and in words.
//!
//! All damage is drawn from fixed seeds: a failure names the one that brings it back.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use bytes::{Buf, BytesMut};
use diskproof_load::driver::account::Login;
use diskproof_load::driver::postgres::handshake::{Handshake, Step};
use diskproof_load::driver::postgres::wire::next_message;
use diskproof_load::driver::{Driver, Fault, Protocol, Statement};
use diskproof_load::target::Password;
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use tempfile::TempDir;

use crate::database::driver;
use crate::drive::{Client, ints, statement};
use crate::fake::{authentication, message};

/// Conversations over a socket.
const CONVERSATIONS: u64 = 1000;
/// SCRAM exchanges without one.
const EXCHANGES: u64 = 4000;
/// A client that says nothing for so long waits for the server, which then leaves.
const SILENCE: Duration = Duration::from_millis(5);
/// Longer than this is a hang.
const PATIENCE: Duration = Duration::from_secs(5);

/// Lengths that a message may claim at the borders of what is believed.
const CLAIMS: [u32; 12] = [
    0,
    1,
    3,
    4,
    5,
    (1 << 20) - 1,
    1 << 20,
    (1 << 20) + 1,
    1 << 30,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
];

/// What a server says at once, in answer to one thing that it heard.
type Act = Vec<Vec<u8>>;

/// What a server says from the log-in to the last of three replies.
fn conversation(random: &mut impl Rng) -> Vec<Act> {
    let demand = match random.random_range(0..3) {
        0 => None,
        1 => Some(vec![authentication(5, b"salt")]),
        _ => Some(vec![authentication(3, b"")]),
    };
    let entry = vec![
        authentication(0, b""),
        message(b'S', b"server_version\x0015.9\0"),
        message(b'N', b"SNOTICE\0C00000\0Mhello\0\0"),
        message(b'K', b"\0\0\0\x01\0\0\0\x02"),
        message(b'Z', b"I"),
    ];
    let preparation = vec![
        message(b'1', b""),
        message(b't', b"\0\x01\0\0\0\x17"),
        message(b'T', b"\0\x01c\0\0\0\0\0\0\0\0\0\0\x17\0\x04\0\0\0\0\0\0"),
        message(b'1', b""),
        message(b't', b"\0\x02\0\0\0\x14\0\0\0\x19"),
        message(b'n', b""),
        message(b'Z', b"I"),
    ];
    let rows = vec![
        message(b'2', b""),
        message(b'D', b"\0\x01\0\0\0\x0242"),
        message(b'D', &[7; 300]),
        message(b'C', b"SELECT 2\0"),
        message(b'Z', b"T"),
    ];
    let change = vec![
        message(b'2', b""),
        message(b'C', b"UPDATE 12\0"),
        message(b'Z', b"I"),
    ];
    let refusal = vec![
        message(b'2', b""),
        message(b'E', b"SERROR\0VERROR\0C40001\0Mtry again\0\0"),
        message(b'Z', b"E"),
    ];
    let answers = [entry, preparation, rows, change, refusal];
    demand.into_iter().chain(answers).collect()
}

/// Damages whole messages, then bytes.
fn damaged(mut acts: Vec<Act>, random: &mut impl Rng) -> Vec<Vec<u8>> {
    for _ in 0..random.random_range(0..3) {
        let act = random.random_range(0..acts.len());
        damage_order(&mut acts[act], random);
    }
    let mut said: Vec<_> = acts.iter().map(|act| act.concat()).collect();
    for _ in 0..random.random_range(0..3) {
        let act = random.random_range(0..said.len());
        damage_bytes(&mut said[act], random);
    }
    said
}

fn damage_order(messages: &mut Act, random: &mut impl Rng) {
    if messages.is_empty() {
        return;
    }
    let (here, there) = (
        random.random_range(0..messages.len()),
        random.random_range(0..messages.len()),
    );
    match random.random_range(0..5) {
        0 => drop(messages.remove(here)),
        1 => messages.swap(here, there),
        2 => messages.insert(there, messages[here].clone()),
        3 => messages[here][0] = random.next_u32().to_le_bytes()[0],
        _ => {
            let claim = CLAIMS[random.random_range(0..CLAIMS.len())];
            messages[here][1..5].copy_from_slice(&claim.to_be_bytes());
        }
    }
}

fn damage_bytes(bytes: &mut Vec<u8>, random: &mut impl Rng) {
    if bytes.is_empty() {
        return;
    }
    let at = random.random_range(0..bytes.len());
    let byte = random.next_u32().to_le_bytes()[0];
    match random.random_range(0..4) {
        0 => bytes[at] = byte,
        1 => bytes.insert(at, byte),
        2 => drop(bytes.remove(at)),
        _ => bytes.truncate(at),
    }
}

/// Says to each client what it was given for it, each act in answer to something heard; then
/// nothing more.
struct Babbler {
    directory: TempDir,
    scripts: Sender<Vec<Vec<u8>>>,
}

impl Babbler {
    fn start() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let listener = UnixListener::bind(directory.path().join("sock")).expect("a socket");
        let (scripts, inbox) = channel::<Vec<Vec<u8>>>();
        thread::spawn(move || {
            for script in inbox {
                let (client, _) = listener.accept().expect("a client");
                babble(client, &script);
            }
        });
        Self { directory, scripts }
    }

    fn url(&self) -> String {
        let socket = self.directory.path().join("sock");
        format!("postgresql://me@localhost/db?socket={}", socket.display())
    }
}

fn babble(mut client: UnixStream, script: &[Vec<u8>]) {
    client
        .set_read_timeout(Some(SILENCE))
        .expect("a limit for reading");
    let mut heard = [0; 4096];
    for act in script {
        if !matches!(client.read(&mut heard), Ok(1..)) {
            return;
        }
        // A client that has had enough closes.
        let _ = client.write_all(act);
    }
}

/// How far a client comes: the replies that it got, and what stopped it.
fn converse(url: &str, catalogue: &[Statement]) -> (usize, Option<Fault>) {
    let session = match driver(url, Some("secret")).connect(catalogue, Protocol::Prepared) {
        Ok(session) => session,
        Err(fault) => return (0, Some(fault)),
    };
    let mut client = Client::new(session);
    for replies in 0..3 {
        let (statement, args) = if replies == 0 {
            (0, ints(&[1]))
        } else {
            (1, ints(&[2, 3]))
        };
        match client.run(statement, &args) {
            Ok(_) => {}
            Err(Fault::Server(error)) if error.transient => {}
            Err(fault) => return (replies, Some(fault)),
        }
    }
    (3, None)
}

#[test]
fn damaged_conversations_end_in_words() {
    let babbler = Babbler::start();
    let url = babbler.url();
    let catalogue = [
        statement("SELECT ?"),
        statement("UPDATE t SET a=? WHERE b=?"),
    ];
    let (mut whole, mut stopped) = (0, [0; 4]);
    for seed in 0..CONVERSATIONS {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let said = conversation(&mut random);
        let script = damaged(said, &mut random);
        babbler.scripts.send(script.clone()).expect("a server");
        let start = Instant::now();
        let (replies, fault) = converse(&url, &catalogue);
        let took = start.elapsed();
        assert!(took < PATIENCE, "seed {seed}: {took:?} for {script:?}");
        match fault {
            None => whole += 1,
            Some(fault) => {
                assert!(!fault.to_string().is_empty(), "seed {seed}");
                stopped[replies] += 1;
            }
        }
    }
    // The damage reaches every part of the conversation, and leaves some as good as whole.
    assert!(whole > 50, "{whole} unhurt");
    assert!(stopped[..3].iter().all(|&count| count > 50), "{stopped:?}");
}

/// The messages of a server that knows nothing, fitted to the client's nonce.
fn exchange(login: &Login, random: &mut impl Rng) -> Result<(), Fault> {
    let mut out = BytesMut::new();
    let mut handshake = Handshake::begin(login, &mut out)?;
    out.clear();
    let offer = authentication(10, b"SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0");
    take(&mut handshake, login, &offer, &mut out)?;
    let nonce_at = out
        .windows(2)
        .position(|two| two == b"r=")
        .expect("a nonce");
    let nonce = String::from_utf8_lossy(&out[nonce_at..]).into_owned();
    out.clear();
    let first = authentication(11, format!("{nonce}xyz,s=c2FsdA==,i=4").as_bytes());
    take(
        &mut handshake,
        login,
        &damaged(vec![vec![first]], random).concat(),
        &mut out,
    )?;
    let last = authentication(12, b"v=c2lnbmF0dXJlc2lnbmF0dXJlc2lnbmF0dXJlMTI=");
    take(
        &mut handshake,
        login,
        &damaged(vec![vec![last]], random).concat(),
        &mut out,
    )?;
    let entered = authentication(0, b"");
    take(
        &mut handshake,
        login,
        &damaged(vec![vec![entered]], random).concat(),
        &mut out,
    )
}

/// Gives the log-in all messages that the bytes hold.
fn take(
    handshake: &mut Handshake,
    login: &Login,
    bytes: &[u8],
    out: &mut BytesMut,
) -> Result<(), Fault> {
    let mut inbound = BytesMut::from(bytes);
    while let Some(message) = next_message(&mut inbound)? {
        let step = handshake.on_message(login, message, out)?;
        assert_ne!(step, Step::Ready, "entered by {bytes:?}");
    }
    assert!(inbound.remaining() <= bytes.len());
    Ok(())
}

#[test]
fn damaged_scram_exchanges_never_enter() {
    let login = Login {
        user: "me".into(),
        password: Password(Some("secret".into())),
        database: "db".into(),
        is_local: true,
        ..Login::default()
    };
    let mut refused = 0;
    for seed in 0..EXCHANGES {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        if exchange(&login, &mut random).is_err() {
            refused += 1;
        }
    }
    assert!(refused > EXCHANGES / 2, "{refused} refused");
}

#[test]
fn a_length_that_is_only_claimed_takes_no_memory() {
    for claim in [100_000_u32, 1 << 20] {
        let claimed = [b"S", &claim.to_be_bytes()[..], b"half"].concat();
        let mut inbound = BytesMut::from(&claimed[..]);
        assert!(next_message(&mut inbound).expect("a length").is_none());
        assert!(inbound.capacity() < 1000, "{}", inbound.capacity());
    }
}

#[test]
fn a_log_in_that_never_ends_is_ended() {
    let babbler = Babbler::start();
    let notice = message(b'N', b"SNOTICE\0C00000\0Mhello\0\0");
    babbler
        .scripts
        .send(vec![notice.repeat(100_000)])
        .expect("a server");
    let outcome = driver(&babbler.url(), None).connect(&[], Protocol::Text);
    match outcome.map(drop) {
        Err(Fault::Protocol(message)) => assert!(message.contains("messages"), "{message}"),
        other => panic!("{other:?}"),
    }
}
