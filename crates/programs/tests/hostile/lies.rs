//! Lies that any server can tell, whatever its protocol.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Longer than this, no server floods a client: it would fill the machine's time.
const LONGEST_FLOOD: Duration = Duration::from_secs(90);

/// What a server does instead of its good answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lie {
    Silence,
    Close,
    /// A part of the answer, then the end of the connection.
    Cut,
    /// A part of the answer, then silence.
    Stall,
    Flip,
    Insert,
    Remove,
    Noise,
    Twice,
    Nothing,
    /// The protocol's own: a length, a count, a type or a number that cannot be.
    Wrong,
    /// A refusal with escape sequences and direction marks.
    Escapes,
    /// A demand for the password in clear text, or for a file.
    Demand,
    /// The same part of an answer, without an end.
    Endless,
    /// One byte at a time.
    Trickle,
}

impl Lie {
    /// Those that need no long wait.
    const QUICK: [Self; 12] = [
        Self::Close,
        Self::Cut,
        Self::Flip,
        Self::Flip,
        Self::Insert,
        Self::Remove,
        Self::Noise,
        Self::Twice,
        Self::Wrong,
        Self::Wrong,
        Self::Escapes,
        Self::Demand,
    ];
    pub(crate) const SLOW: [Self; 5] = [
        Self::Silence,
        Self::Stall,
        Self::Nothing,
        Self::Endless,
        Self::Trickle,
    ];
}

/// When a server lies, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) lie: Lie,
    /// The answer that is a lie, counted over all connections.
    pub(crate) at: usize,
    pub(crate) seed: u64,
}

impl Plan {
    pub(crate) fn drawn(seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self {
            lie: Lie::QUICK[random.random_range(0..Lie::QUICK.len())],
            at: random.random_range(0..14),
            seed,
        }
    }
}

/// One protocol's good answers and its own lies.
pub(crate) trait Speaker: Send {
    /// The good answer to what was heard, if it is whole; the first one greets.
    fn answer(&mut self, heard: &mut Vec<u8>) -> Option<Vec<u8>>;
    fn wrong(&self, answer: &[u8], random: &mut dyn Rng) -> Vec<u8>;
    fn escapes(&self) -> Vec<u8>;
    fn demand(&self, random: &mut dyn Rng) -> Vec<u8>;
    /// A part of an answer that may be said again and again.
    fn endless(&self, random: &mut dyn Rng) -> Vec<u8>;
}

/// What clients have sent, in the order in which it came.
pub(crate) type Heard = Arc<Mutex<Vec<u8>>>;

/// The number of answers so far, of all connections.
type Count = Arc<Mutex<usize>>;

pub(crate) trait Connection: Read + Write + Send + 'static {
    fn limit_reads(&self, limit: Duration);
}

impl Connection for UnixStream {
    fn limit_reads(&self, limit: Duration) {
        self.set_read_timeout(Some(limit)).expect("a limit");
    }
}

impl Connection for TcpStream {
    fn limit_reads(&self, limit: Duration) {
        self.set_read_timeout(Some(limit)).expect("a limit");
    }
}

/// A server on a Unix socket; it lives as long as the test process.
pub(crate) fn on_socket<S: Speaker + 'static>(
    path: &Path,
    plan: Plan,
    speaker: impl Fn(Heard) -> S + Send + 'static,
) -> Heard {
    let listener = UnixListener::bind(path).expect("a socket");
    serve(plan, speaker, move || Some(listener.accept().ok()?.0))
}

/// A server on a port of this machine.
pub(crate) fn on_port<S: Speaker + 'static>(
    plan: Plan,
    speaker: impl Fn(Heard) -> S + Send + 'static,
) -> (u16, Heard) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    (
        port,
        serve(plan, speaker, move || Some(listener.accept().ok()?.0)),
    )
}

fn serve<C: Connection, S: Speaker + 'static>(
    plan: Plan,
    speaker: impl Fn(Heard) -> S + Send + 'static,
    accept: impl Fn() -> Option<C> + Send + 'static,
) -> Heard {
    let (heard, count) = (Heard::default(), Count::default());
    let all = Arc::clone(&heard);
    thread::spawn(move || {
        while let Some(connection) = accept() {
            let (speaker, all, count) = (
                speaker(Arc::clone(&all)),
                Arc::clone(&all),
                Arc::clone(&count),
            );
            thread::spawn(move || converse(connection, speaker, plan, &all, &count));
        }
    });
    heard
}

/// Answers until the client leaves; `None`: it has left.
fn converse<C: Connection, S: Speaker>(
    mut client: C,
    mut speaker: S,
    plan: Plan,
    all: &Heard,
    count: &Count,
) -> Option<()> {
    client.limit_reads(LONGEST_FLOOD);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(plan.seed);
    let mut heard = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        while let Some(answer) = speaker.answer(&mut heard) {
            let number = {
                let mut count = count.lock().expect("no panic");
                *count += 1;
                *count - 1
            };
            if number == plan.at {
                lie(&mut client, &speaker, plan.lie, &answer, &mut random)?;
            } else {
                client.write_all(&answer).ok()?;
            }
        }
        let read = client.read(&mut buffer).ok().filter(|&read| read > 0)?;
        heard.extend_from_slice(&buffer[..read]);
        all.lock()
            .expect("no panic")
            .extend_from_slice(&buffer[..read]);
    }
}

/// Says something else than the answer; `None`: and leaves.
fn lie<C: Connection, S: Speaker>(
    client: &mut C,
    speaker: &S,
    lie: Lie,
    answer: &[u8],
    random: &mut Xoshiro256PlusPlus,
) -> Option<()> {
    let at = random.random_range(0..answer.len().max(1));
    let mut said = answer.to_vec();
    match lie {
        Lie::Silence => {
            listen(client);
            return None;
        }
        Lie::Nothing => return Some(()),
        Lie::Close => return None,
        Lie::Cut => {
            client.write_all(&answer[..at]).ok()?;
            return None;
        }
        Lie::Stall => {
            client.write_all(&answer[..at]).ok()?;
            listen(client);
            return None;
        }
        Lie::Flip if !said.is_empty() => {
            for _ in 0..random.random_range(1..4) {
                let at = random.random_range(0..said.len());
                said[at] = if random.random_bool(0.5) {
                    random.random()
                } else {
                    [0x00, 0x01, 0xFB, 0xFC, 0xFE, 0xFF][random.random_range(0..6)]
                };
            }
        }
        Lie::Flip => {}
        Lie::Insert => {
            let mut more = vec![0; random.random_range(1..20)];
            random.fill_bytes(&mut more);
            said.splice(at..at, more);
        }
        Lie::Remove => {
            let end = (at + random.random_range(1..6)).min(said.len());
            said.drain(at.min(end)..end);
        }
        Lie::Noise => {
            said = vec![0; random.random_range(1..5000)];
            random.fill_bytes(&mut said);
        }
        Lie::Twice => said.extend_from_slice(answer),
        Lie::Wrong => said = speaker.wrong(answer, random),
        Lie::Escapes => said = speaker.escapes(),
        Lie::Demand => said = speaker.demand(random),
        Lie::Endless => {
            let piece = speaker.endless(random);
            let flood = piece.repeat((64 << 10) / piece.len() + 1);
            client.write_all(&answer[..at]).ok()?;
            let begun = Instant::now();
            while begun.elapsed() < LONGEST_FLOOD {
                client.write_all(&flood).ok()?;
            }
            return None;
        }
        Lie::Trickle => {
            for byte in answer.iter().cycle() {
                client.write_all(&[*byte]).ok()?;
                thread::sleep(Duration::from_millis(20));
            }
        }
    }
    client.write_all(&said).ok()
}

/// Hears the client out, and says nothing.
fn listen<C: Connection>(client: &mut C) {
    let mut buffer = [0; 4096];
    while client.read(&mut buffer).is_ok_and(|read| read > 0) {}
}
