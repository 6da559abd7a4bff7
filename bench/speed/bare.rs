//! A plain client, which records nothing: point selects over a socket, each a `write` and a `read` of a thread of its
//! own.
//!
//!     bare SOCKET CLIENTS SECONDS TABLES ROWS
//!
//! It prepares one statement a table. Each request is made but for its row. Of an answer it reads only where packets
//! end. It draws tables and rows evenly, and prints how many answers it got.

use std::env;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Barrier;
use std::time::{Duration, Instant};

const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_EXECUTE: u8 = 0x17;
/// Protocol 4.1, a database, authentication of 4.1 by a plugin.
const CAPABILITIES: u32 = 0x0200 | 0x0008 | 0x8000 | 0x0008_0000;
/// The count of columns, a column, the end of columns, a row, the end of rows.
const PACKETS: usize = 5;
/// An error has fewer packets than an answer: then the read ends by this.
const LONGEST: Duration = Duration::from_secs(10);
/// Clients look at the clock each time they have had so many answers.
const LOOK_EVERY: u64 = 64;

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    let number = |at: usize| words[at].parse::<u32>().expect("a number");
    let (clients, tables, rows) = (number(1), number(3), number(4));
    let length = Duration::from_secs_f64(words[2].parse().expect("seconds"));
    let begin = Barrier::new(clients as usize);
    let answers: u64 = std::thread::scope(|threads| {
        let each: Vec<_> = (0..clients)
            .map(|nth| {
                let (begin, socket) = (&begin, &words[0]);
                threads.spawn(move || client(socket, nth, length, tables, rows, begin))
            })
            .collect();
        each.into_iter()
            .map(|one| one.join().expect("a client"))
            .sum()
    });
    println!("{answers}");
}

fn client(
    socket: &str,
    nth: u32,
    length: Duration,
    tables: u32,
    rows: u32,
    begin: &Barrier,
) -> u64 {
    let mut stream = connect(socket);
    let mut requests: Vec<Vec<u8>> = (1..=tables)
        .map(|table| prepare(&mut stream, table))
        .collect();
    let mut draw = u64::from(nth + 1) * 0x9e37_79b9_7f4a_7c15;
    let mut answer = [0; 4096];
    let mut count = 0;
    begin.wait();
    let until = Instant::now() + length;
    loop {
        // Xorshift (Marsaglia, "Xorshift RNGs", 2003).
        draw ^= draw << 13;
        draw ^= draw >> 7;
        draw ^= draw << 17;
        let request = &mut requests[(draw >> 32) as usize % tables as usize];
        let at = request.len() - 4;
        request[at..].copy_from_slice(&(draw as u32 % rows + 1).to_le_bytes());
        stream.write_all(request).expect("a request");
        read_answer(&mut stream, &mut answer);
        count += 1;
        if count % LOOK_EVERY == 0 && Instant::now() >= until {
            return count;
        }
    }
}

fn read_answer(stream: &mut UnixStream, answer: &mut [u8]) {
    let (mut filled, mut packet, mut seen) = (0, 0, 0);
    while seen < PACKETS {
        let read = stream.read(&mut answer[filled..]).expect("an answer");
        assert!(read > 0, "the server went");
        filled += read;
        while seen < PACKETS && packet + 4 <= filled {
            let next = packet + 4 + length(&answer[packet..]);
            if next > filled {
                break;
            }
            (packet, seen) = (next, seen + 1);
        }
    }
}

fn length(header: &[u8]) -> usize {
    usize::from(header[0]) | usize::from(header[1]) << 8 | usize::from(header[2]) << 16
}

fn packet(stream: &mut UnixStream) -> Vec<u8> {
    let mut header = [0; 4];
    stream.read_exact(&mut header).expect("a packet");
    let mut payload = vec![0; length(&header)];
    stream.read_exact(&mut payload).expect("a packet");
    assert!(
        payload.first() != Some(&0xff),
        "{}",
        String::from_utf8_lossy(&payload[1..])
    );
    payload
}

fn framed(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut made = (payload.len() as u32).to_le_bytes().to_vec();
    made[3] = sequence;
    made.extend(payload);
    made
}

/// Connects as root, without a password.
fn connect(socket: &str) -> UnixStream {
    let mut stream = UnixStream::connect(socket).expect("a socket");
    stream.set_read_timeout(Some(LONGEST)).expect("a time");
    packet(&mut stream);
    let mut login = CAPABILITIES.to_le_bytes().to_vec();
    login.extend((1_u32 << 24).to_le_bytes());
    login.push(45); // utf8mb4
    login.extend([0; 23]);
    login.extend(b"root\0\0sbtest\0mysql_native_password\0");
    stream.write_all(&framed(1, &login)).expect("a login");
    if packet(&mut stream)[0] == 0xfe {
        // Another plugin: of a socket's owner it asks nothing.
        stream.write_all(&framed(3, &[])).expect("a login");
        packet(&mut stream);
    }
    stream
}

/// Prepares a table's statement; returns a request that has its row last.
fn prepare(stream: &mut UnixStream, table: u32) -> Vec<u8> {
    let mut text = vec![COM_STMT_PREPARE];
    text.extend(format!("SELECT c FROM sbtest{table} WHERE id=?").bytes());
    stream.write_all(&framed(0, &text)).expect("a statement");
    let prepared = packet(stream);
    // Its parameter, its column, each with its end.
    (0..4).for_each(|_| drop(packet(stream)));
    let mut execute = vec![COM_STMT_EXECUTE];
    execute.extend(&prepared[1..5]);
    // No cursor, once, nothing is NULL, the type is said: LONG.
    execute.extend([0, 1, 0, 0, 0, 0, 1, 3, 0]);
    execute.extend([0; 4]);
    framed(0, &execute)
}
