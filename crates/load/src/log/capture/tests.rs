//! Conversations as captures have them: whole, in pieces, out of order, with gaps, damaged, and of others.

use std::io::{self, Write};

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::super::{Event, Format, Inputs, Sink, Statement, What, read, recognise};
use super::{LOST, NO_REPLY, value};
use crate::driver::Dialect;

const CLIENT: usize = 0;
const SERVER: usize = 1;

#[derive(Default)]
struct Kept {
    events: Vec<Event>,
    unread: Vec<(&'static str, u64)>,
}

impl Sink for Kept {
    fn take(&mut self, event: Event) -> io::Result<()> {
        self.events.push(event);
        Ok(())
    }

    fn unread(&mut self, reason: &'static str, line: u64) {
        self.unread.push((reason, line));
    }
}

impl Kept {
    fn statements(&self) -> Vec<&Statement> {
        let events = self.events.iter();
        events
            .filter_map(|event| match &event.what {
                What::Statement(said) => Some(said),
                _ => None,
            })
            .collect()
    }

    fn texts(&self) -> Vec<String> {
        let text = |said: &&Statement| String::from_utf8_lossy(&said.sql).into_owned();
        self.statements().iter().map(text).collect()
    }

    fn reasons(&self) -> Vec<&'static str> {
        self.unread.iter().map(|said| said.0).collect()
    }
}

/// How packets lie in a file.
#[expect(clippy::struct_excessive_bools, reason = "each may be so or not")]
#[derive(Clone, Copy)]
struct Form {
    link: u32,
    is_ipv6: bool,
    is_big_endian: bool,
    is_nano: bool,
    is_ng: bool,
}

const PLAIN: Form = Form {
    link: 1,
    is_ipv6: false,
    is_big_endian: false,
    is_nano: false,
    is_ng: false,
};

fn u32_of(form: Form, value: u32) -> [u8; 4] {
    if form.is_big_endian {
        value.to_be_bytes()
    } else {
        value.to_le_bytes()
    }
}

/// A segment: who sent it, its number, flags and bytes.
#[derive(Clone)]
struct Sent {
    at_us: u64,
    side: usize,
    sequence: u32,
    acknowledged: u32,
    flags: u8,
    payload: Vec<u8>,
}

impl Sent {
    fn bytes(&self, form: Form) -> Vec<u8> {
        let ports: [u16; 2] = [50_000, 3306];
        let mut tcp = Vec::new();
        tcp.extend_from_slice(&ports[self.side].to_be_bytes());
        tcp.extend_from_slice(&ports[1 - self.side].to_be_bytes());
        tcp.extend_from_slice(&self.sequence.to_be_bytes());
        tcp.extend_from_slice(&self.acknowledged.to_be_bytes());
        tcp.extend_from_slice(&[0x50, self.flags, 1, 0, 0, 0, 0, 0]);
        tcp.extend_from_slice(&self.payload);
        let mut ip = Vec::new();
        if form.is_ipv6 {
            ip.extend_from_slice(&[0x60, 0, 0, 0]);
            // An extension of eight bytes comes first.
            ip.extend_from_slice(&u16::try_from(tcp.len() + 8).unwrap().to_be_bytes());
            ip.extend_from_slice(&[0, 64]);
            for side in [self.side, 1 - self.side] {
                ip.extend_from_slice(&[0xFD; 15]);
                ip.push(u8::try_from(side).unwrap());
            }
            ip.extend_from_slice(&[6, 0, 1, 4, 0, 0, 0, 0]);
        } else {
            ip.extend_from_slice(&[0x45, 0]);
            ip.extend_from_slice(&u16::try_from(tcp.len() + 20).unwrap().to_be_bytes());
            ip.extend_from_slice(&[0, 0, 0x40, 0, 64, 6, 0, 0]);
            for side in [self.side, 1 - self.side] {
                ip.extend_from_slice(&[10, 0, 0, u8::try_from(side).unwrap()]);
            }
        }
        ip.extend_from_slice(&tcp);
        let kind: [u8; 2] = if form.is_ipv6 {
            [0x86, 0xDD]
        } else {
            [0x08, 0x00]
        };
        let mut head = match form.link {
            0 => vec![2, 0, 0, 0],
            1 => [&[7; 12][..], &[0x81, 0, 0, 5], &kind].concat(),
            113 => [&[0; 14][..], &kind].concat(),
            276 => [&kind[..], &[0; 18]].concat(),
            _ => Vec::new(),
        };
        head.extend_from_slice(&ip);
        if form.link == 1 {
            // Short frames are filled up.
            head.resize(head.len().max(60), 0);
        }
        head
    }
}

fn file(form: Form, sent: &[Sent]) -> Vec<u8> {
    let word = |value| u32_of(form, value);
    let half = |value: u16| {
        if form.is_big_endian {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    };
    let mut out = Vec::new();
    if form.is_ng {
        out.extend_from_slice(&[0x0A, 0x0D, 0x0D, 0x0A]);
        for part in [28, 0x1A2B_3C4D, 1, u32::MAX, u32::MAX, 28] {
            out.extend_from_slice(&word(part));
        }
        // The interface, with times in nanoseconds.
        for part in [1, 32] {
            out.extend_from_slice(&word(part));
        }
        out.extend_from_slice(&half(u16::try_from(form.link).unwrap()));
        out.extend_from_slice(&half(0));
        out.extend_from_slice(&word(0));
        out.extend_from_slice(&half(9));
        out.extend_from_slice(&half(1));
        out.extend_from_slice(&[9, 0, 0, 0]);
        for part in [0, 32] {
            out.extend_from_slice(&word(part));
        }
        for one in sent {
            let data = one.bytes(form);
            let padded = data.len().next_multiple_of(4);
            let whole = u32::try_from(32 + padded).unwrap();
            let length = u32::try_from(data.len()).unwrap();
            let nanos = (1_800_000_000 * 1_000_000 + one.at_us) * 1000;
            let part = |bits: u64| u32::try_from(bits & 0xFFFF_FFFF).unwrap();
            let (high, low) = (part(nanos >> 32), part(nanos));
            for part in [6, whole, 0, high, low, length, length] {
                out.extend_from_slice(&word(part));
            }
            out.extend_from_slice(&data);
            out.resize(out.len() + padded - data.len(), 0);
            out.extend_from_slice(&word(whole));
        }
        return out;
    }
    let mark = if form.is_nano {
        0xA1B2_3C4D
    } else {
        0xA1B2_C3D4
    };
    out.extend_from_slice(&word(mark));
    out.extend_from_slice(&half(2));
    out.extend_from_slice(&half(4));
    for part in [0, 0, 262_144, form.link] {
        out.extend_from_slice(&word(part));
    }
    for one in sent {
        let data = one.bytes(form);
        let length = data.len() as u64;
        let (seconds, micros) = (one.at_us / 1_000_000, one.at_us % 1_000_000);
        let ticks = if form.is_nano { micros * 1000 } else { micros };
        for part in [1_800_000_000 + seconds, ticks, length, length]
            .map(|part| u32::try_from(part).unwrap())
        {
            out.extend_from_slice(&word(part));
        }
        out.extend_from_slice(&data);
    }
    out
}

/// A conversation over one connection, 100 µs from word to word.
struct Conversation {
    next: [u32; 2],
    at_us: u64,
    sent: Vec<Sent>,
}

impl Conversation {
    fn new() -> Self {
        let mut new = Self {
            // Numbers begin anew behind the greatest one.
            next: [u32::MAX - 20, 5000],
            at_us: 0,
            sent: Vec::new(),
        };
        new.send(CLIENT, 2, b"");
        new.send(SERVER, 0x12, b"");
        new.next = new.next.map(|number| number.wrapping_add(1));
        new.send(CLIENT, 0x10, b"");
        new
    }

    fn send(&mut self, side: usize, flags: u8, payload: &[u8]) {
        self.sent.push(Sent {
            at_us: self.at_us,
            side,
            sequence: self.next[side],
            acknowledged: self.next[1 - side],
            flags,
            payload: payload.to_vec(),
        });
        self.next[side] = self.next[side].wrapping_add(u32::try_from(payload.len()).unwrap());
        self.at_us += 100;
    }

    fn say(&mut self, side: usize, bytes: &[u8]) {
        for part in bytes.chunks(1400) {
            self.send(side, 0x18, part);
        }
    }

    fn end(&mut self) {
        self.send(CLIENT, 0x11, b"");
        self.send(SERVER, 0x11, b"");
    }

    fn file(&self) -> Vec<u8> {
        file(PLAIN, &self.sent)
    }
}

fn read_bytes(bytes: &[u8], format: Option<Format>) -> Kept {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let (inputs, head) = Inputs::new(vec![file.path().to_owned()]).unwrap();
    let format = format.or_else(|| recognise(&head)).expect("a capture");
    let mut kept = Kept::default();
    read(format, inputs, None, &mut kept).unwrap();
    kept
}

// ---------------------------------------------------------------- MySQL

fn packet(number: u8, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap().to_le_bytes();
    [&length[..3], &[number], content].concat()
}

/// `PROTOCOL_41`, `TRANSACTIONS`, `SECURE_CONNECTION`, `CONNECT_WITH_DB`, `PLUGIN_AUTH`.
const FLAGS: u32 = 0x0200 | 0x2000 | 0x8000 | 8 | 0x8_0000;

fn greeting() -> Vec<u8> {
    let flags = (FLAGS | 0x0800 | 0x20).to_le_bytes();
    let content = [
        b"\x0a8.0.36\0\x05\0\0\0abcdefgh\0",
        &flags[..2],
        b"\x21\x02\0",
        &flags[2..],
        &[21],
        &[0; 10],
        b"abcdefghijkl\0mysql_native_password\0",
    ]
    .concat();
    packet(0, &content)
}

fn answer(flags: u32) -> Vec<u8> {
    let content = [
        &flags.to_le_bytes()[..],
        &[0, 0, 0, 1, 0x21],
        &[0; 23],
        b"app\0\x04wxyzshop\0mysql_native_password\0",
    ]
    .concat();
    packet(1, &content)
}

const DONE: &[u8] = b"\0\0\0\x02\0\0\0";

fn logged_in() -> Conversation {
    let mut talk = Conversation::new();
    talk.say(SERVER, &greeting());
    talk.say(CLIENT, &answer(FLAGS));
    talk.say(SERVER, &packet(2, DONE));
    talk
}

fn query(talk: &mut Conversation, sql: &str, reply: &[&[u8]]) {
    talk.say(CLIENT, &packet(0, &[b"\x03", sql.as_bytes()].concat()));
    let numbered = (1..)
        .zip(reply)
        .flat_map(|(number, content)| packet(number, content));
    talk.say(SERVER, &numbered.collect::<Vec<_>>());
}

const COLUMN: &[u8] = b"\x03def\0\0\0\x01a\0\x0c\x3f\0\x0b\0\0\0\x03\0\0\0\0\0";
const OLD_END: &[u8] = b"\xfe\0\0\x02\0";
const NEW_END: &[u8] = b"\xfe\0\0\x02\0\0\0";

fn mysql() -> Conversation {
    let mut talk = logged_in();
    query(
        &mut talk,
        "SELECT a FROM t",
        &[b"\x01", COLUMN, OLD_END, b"\x011", b"\x012", OLD_END],
    );
    query(
        &mut talk,
        "SELECT a FROM u",
        &[b"\x01", COLUMN, b"\x011", NEW_END],
    );
    query(&mut talk, "UPDATE t SET a=1", &[b"\0\x03\0\x02\0\0\0"]);
    query(
        &mut talk,
        "SELECT nonsense",
        &[b"\xff\x1e\x04#42S22Unknown column"],
    );
    query(&mut talk, "USE other", &[DONE]);
    // Prepared: an integer, NULL, a string, a date; then again with the same types.
    let sql = b"\x16INSERT INTO t VALUES (?, ?, '?', ?, ?)";
    talk.say(CLIENT, &packet(0, sql));
    let mut reply = packet(1, b"\0\x07\0\0\0\0\0\x04\0\0\0\0");
    for number in 2..6 {
        reply.extend(packet(number, COLUMN));
    }
    reply.extend(packet(6, OLD_END));
    talk.say(SERVER, &reply);
    let first = b"\x17\x07\0\0\0\0\x01\0\0\0\x02\x01\x08\0\x06\0\xfd\0\x0a\0\xfe\xff\xff\xff\xff\xff\xff\xff\x04it's\x04\xea\x07\x0b\x1d";
    talk.say(CLIENT, &packet(0, first));
    talk.say(SERVER, &packet(1, b"\0\x01\0\x02\0\0\0"));
    let again = b"\x17\x07\0\0\0\0\x01\0\0\0\x0e\0\x05\0\0\0\0\0\0\0";
    talk.say(CLIENT, &packet(0, again));
    talk.say(SERVER, &packet(1, b"\0\x01\0\x02\0\0\0"));
    talk.say(CLIENT, &packet(0, b"\x02third"));
    talk.say(SERVER, &packet(1, DONE));
    talk.say(CLIENT, &packet(0, b"\x01"));
    talk.end();
    talk
}

const MYSQL: [&str; 8] = [
    "SELECT a FROM t",
    "SELECT a FROM u",
    "UPDATE t SET a=1",
    "SELECT nonsense",
    "USE other",
    "INSERT INTO t VALUES (-2, NULL, '?', 'it\\'s', '2026-11-29')",
    "INSERT INTO t VALUES (5, NULL, '?', NULL, NULL)",
    "USE `third`",
];

#[test]
fn mysqls_statements_have_their_values_rows_and_times() {
    let kept = read_bytes(&mysql().file(), None);
    assert_eq!(kept.texts(), MYSQL);
    assert!(kept.unread.is_empty(), "{:?}", kept.unread);
    assert_eq!(kept.events[0].what, What::Connect);
    assert_eq!(
        kept.events
            .iter()
            .filter(|event| event.what == What::Quit)
            .count(),
        2
    );
    let said = kept.statements();
    let rows: Vec<_> = said.iter().map(|said| (said.rows, said.affected)).collect();
    assert_eq!(
        rows[..4],
        [
            (Some(2), None),
            (Some(1), None),
            (Some(0), Some(3)),
            (None, None)
        ]
    );
    let failed: Vec<_> = said.iter().map(|said| said.failed).collect();
    assert_eq!(
        failed,
        [false, false, false, true, false, false, false, false]
    );
    assert!(said.iter().all(|said| said.duration_us == Some(100)));
    let databases: Vec<_> = said
        .iter()
        .map(|said| said.database.as_deref().unwrap())
        .collect();
    assert_eq!(databases[0], b"shop");
    assert_eq!(databases[5], b"other");
    assert_eq!(databases[7], b"other", "until it is done");
}

#[test]
fn every_form_of_a_capture_says_the_same() {
    let talk = mysql();
    for link in [0, 1, 101, 113, 276] {
        for bits in 0..16 {
            let form = Form {
                link,
                is_ipv6: bits & 1 != 0,
                is_big_endian: bits & 2 != 0,
                is_nano: bits & 4 != 0,
                is_ng: bits & 8 != 0,
            };
            let kept = read_bytes(&file(form, &talk.sent), None);
            assert_eq!(kept.texts(), MYSQL, "link {link}, form {bits:04b}");
            let us = kept.events[1].at_us - kept.events[0].at_us;
            assert_eq!(us, 300, "link {link}, form {bits:04b}");
        }
    }
}

#[test]
fn segments_out_of_order_sent_again_and_overlapping_say_the_same() {
    let whole = mysql().sent;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
    for _ in 0..200 {
        let mut sent = Vec::new();
        for (place, one) in whole.iter().enumerate() {
            // In pieces, the second of which begins within the first; some of them twice. A greeting is one.
            if one.payload.is_empty() {
                sent.push(one.clone());
                continue;
            }
            let least = if place < 5 { one.payload.len() } else { 0 };
            let cut = random.random_range(least..=one.payload.len());
            let again = cut.saturating_sub(random.random_range(0..4));
            for (begin, end) in [(0, cut), (again, one.payload.len())] {
                let mut piece = one.clone();
                piece.sequence = one.sequence.wrapping_add(u32::try_from(begin).unwrap());
                piece.payload = one.payload[begin..end].to_vec();
                sent.push(piece.clone());
                if random.random_range(0..4) == 0 {
                    sent.push(piece);
                }
            }
        }
        // Neighbours of one side change places.
        for at in 4..sent.len() {
            if sent[at].side == sent[at - 1].side && random.random_range(0..2) == 0 {
                sent.swap(at, at - 1);
            }
        }
        let kept = read_bytes(&file(PLAIN, &sent), Some(Format::MysqlPackets));
        assert_eq!(kept.texts(), MYSQL);
        assert!(kept.unread.is_empty(), "{:?}", kept.unread);
    }
}

#[test]
fn lost_segments_are_counted_and_the_rest_is_read() {
    let whole = mysql().sent;
    let first = whole
        .iter()
        .position(|one| one.payload.starts_with(&[16, 0, 0, 0, 3]))
        .unwrap();
    let lost_request = whole.iter().enumerate().filter(|(at, _)| *at != first);
    let sent: Vec<_> = lost_request.map(|(_, one)| one.clone()).collect();
    let kept = read_bytes(&file(PLAIN, &sent), None);
    assert_eq!(kept.texts(), MYSQL[1..]);
    assert_eq!(kept.reasons(), [LOST]);

    let sent = whole.iter().enumerate().filter(|(at, _)| *at != first + 1);
    let sent: Vec<_> = sent.map(|(_, one)| one.clone()).collect();
    let kept = read_bytes(&file(PLAIN, &sent), None);
    assert_eq!(kept.texts(), MYSQL);
    // The next one's reply comes before the gap is known to be one.
    assert_eq!(kept.reasons(), [NO_REPLY; 2]);
    let durations: Vec<_> = kept
        .statements()
        .iter()
        .map(|said| said.duration_us)
        .collect();
    assert_eq!(durations[..3], [None, None, Some(100)]);

    // A capture with `-s 100`.
    let mut short = logged_in();
    let long = format!("SELECT '{}'", "x".repeat(300));
    query(&mut short, &long, &[DONE]);
    query(&mut short, "SELECT 2", &[DONE]);
    let bytes = short.file();
    let mut cut = bytes[..24].to_vec();
    let mut rest = &bytes[24..];
    while !rest.is_empty() {
        let length = u32::from_le_bytes(rest[8..12].try_into().unwrap()) as usize;
        let kept = length.min(250);
        cut.extend_from_slice(&rest[..8]);
        cut.extend_from_slice(&u32::try_from(kept).unwrap().to_le_bytes());
        cut.extend_from_slice(&rest[12..16 + kept]);
        rest = &rest[16 + length..];
    }
    let kept = read_bytes(&cut, None);
    assert_eq!(kept.texts(), ["SELECT 2"]);
    assert_eq!(kept.reasons(), [LOST]);
}

#[test]
fn a_connection_from_before_the_capture_is_read_from_its_next_statement() {
    let whole = mysql().sent;
    let begin = whole
        .iter()
        .position(|one| one.payload.starts_with(&[17, 0, 0, 0, 3]))
        .unwrap();
    let kept = read_bytes(&file(PLAIN, &whole[begin - 1..]), None);
    assert_eq!(kept.texts(), MYSQL[2..]);
    let [(reason, packet)] = kept.unread[..] else {
        panic!("{:?}", kept.unread)
    };
    assert!(reason.starts_with("a connection that began before"));
    assert_eq!(packet, 2);
    // Without what the client said that it can, changed rows are not comparable.
    assert_eq!(kept.statements()[0].affected, None);
    let begin = whole
        .iter()
        .position(|one| one.payload.get(4) == Some(&0x17))
        .unwrap();
    let kept = read_bytes(&file(PLAIN, &whole[begin..]), None);
    assert_eq!(kept.texts(), MYSQL[7..]);
    let prepared = kept
        .reasons()
        .into_iter()
        .filter(|own| own.contains("preparation is not"));
    assert_eq!(prepared.count(), 2);
}

#[test]
fn what_cannot_be_read_is_said_with_its_packet() {
    for (flags, words) in [(FLAGS | 0x0800, "TLS"), (FLAGS | 0x20, "compressed")] {
        let mut talk = Conversation::new();
        talk.say(SERVER, &greeting());
        let answer = answer(flags);
        let is_tls = flags & 0x0800 != 0;
        let said = if is_tls {
            packet(1, &answer[4..36])
        } else {
            answer
        };
        talk.say(CLIENT, &said);
        talk.say(CLIENT, b"\x16\x03\x01 and so on");
        let kept = read_bytes(&talk.file(), None);
        assert!(kept.texts().is_empty());
        let [(reason, packet)] = kept.unread[..] else {
            panic!("{:?}", kept.unread)
        };
        assert!(reason.contains(words), "{reason}");
        assert_eq!(packet, 5);
    }
}

#[test]
fn a_statement_of_many_packets_is_whole() {
    let mut talk = logged_in();
    let sql = [
        b"\x03INSERT INTO t VALUES ('",
        &vec![b'x'; 40 << 20][..],
        b"')",
    ]
    .concat();
    let mut number = 0;
    let parts = sql.chunks(0xFF_FFFF);
    for part in parts {
        // As long as loopback's segments.
        for piece in packet(number, part).chunks(60_000) {
            talk.send(CLIENT, 0x18, piece);
        }
        number += 1;
    }
    talk.say(SERVER, &packet(number, DONE));
    query(&mut talk, "SELECT 1", &[DONE]);
    let kept = read_bytes(&talk.file(), None);
    assert_eq!(kept.statements().len(), 2);
    assert_eq!(kept.statements()[0].sql, &sql[1..]);
    assert!(kept.unread.is_empty(), "{:?}", kept.unread);
}

// ---------------------------------------------------------------- PostgreSQL

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
    [&[kind], &length[..], body].concat()
}

fn opening(code: u32, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 8).unwrap().to_be_bytes();
    [&length[..], &code.to_be_bytes(), body].concat()
}

const READY: &[u8] = b"I";

fn postgres() -> Conversation {
    let mut talk = Conversation::new();
    talk.say(CLIENT, &opening(80_877_103, b""));
    talk.say(SERVER, b"N");
    talk.say(CLIENT, &opening(196_608, b"user\0app\0database\0shop\0\0"));
    let ready = message(b'Z', READY);
    talk.say(SERVER, &[message(b'R', &[0; 4]), ready.clone()].concat());
    // One text of two statements.
    talk.say(CLIENT, &message(b'Q', b"SELECT 1; SELECT 2\0"));
    let row = message(b'D', b"\0\x01\0\0\0\x011");
    let done = |tag: &[u8]| message(b'C', tag);
    talk.say(
        SERVER,
        &[
            &row[..],
            &done(b"SELECT 1\0"),
            &row,
            &done(b"SELECT 1\0"),
            &ready,
        ]
        .concat(),
    );
    talk.say(CLIENT, &message(b'Q', b"SELECT nonsense\0"));
    let refusal = message(b'E', b"SERROR\0C42703\0Mno\0\0");
    talk.say(SERVER, &[&refusal[..], &ready].concat());
    // Prepared under a name, described, then executed in both forms.
    let parse = message(b'P', b"s1\0INSERT INTO t VALUES ($1, $2, '$1')\0\0\0");
    let describe = message(b'D', b"Ss1\0");
    let sync = message(b'S', b"");
    talk.say(CLIENT, &[&parse[..], &describe, &sync].concat());
    let described = message(b't', b"\0\x02\0\0\0\x17\0\0\0\x19");
    let none = message(b'n', b"");
    talk.say(
        SERVER,
        &[message(b'1', b""), described, none, ready.clone()].concat(),
    );
    let execute = message(b'E', b"\0\0\0\0\0");
    for values in [
        &b"\0s1\0\0\x02\0\x01\0\0\0\x02\0\0\0\x04\0\0\0\x07\0\0\0\x04it's\0\0"[..],
        b"\0s1\0\0\0\0\x02\0\0\0\x018\xff\xff\xff\xff\0\0",
    ] {
        talk.say(
            CLIENT,
            &[&message(b'B', values)[..], &execute, &sync].concat(),
        );
        let bound = message(b'2', b"");
        talk.say(SERVER, &[&bound[..], &done(b"INSERT 0 1\0")].concat());
        // The commit takes its time.
        talk.say(SERVER, &ready);
    }
    // Two statements before one Sync, the first of which is refused.
    let both = [b"SELECT 1/0\0", b"SELECT 4/1\0"].map(|sql| {
        let parse = message(b'P', &[b"\0", &sql[..], b"\0\0"].concat());
        [parse, message(b'B', b"\0\0\0\0\0\0\0\0"), execute.clone()].concat()
    });
    talk.say(CLIENT, &[&both.concat()[..], &sync].concat());
    let bound = [message(b'1', b""), message(b'2', b"")].concat();
    talk.say(SERVER, &[&bound[..], &refusal, &ready].concat());
    talk.say(CLIENT, &message(b'Q', b"COPY t FROM STDIN\0"));
    talk.say(SERVER, &message(b'G', b"\0\0\0"));
    talk.say(
        CLIENT,
        &[message(b'd', b"1\t2\n"), message(b'c', b"")].concat(),
    );
    talk.say(SERVER, &[done(b"COPY 1\0"), ready].concat());
    talk.say(CLIENT, &message(b'X', b""));
    talk.end();
    talk
}

const POSTGRES: [&str; 6] = [
    "SELECT 1; SELECT 2",
    "SELECT nonsense",
    "INSERT INTO t VALUES (7, 'it''s', '$1')",
    "INSERT INTO t VALUES (8, NULL, '$1')",
    "SELECT 1/0",
    "COPY t FROM STDIN",
];

#[test]
fn postgresqls_statements_have_their_values_rows_and_times() {
    let kept = read_bytes(&postgres().file(), None);
    assert_eq!(kept.texts(), POSTGRES);
    assert_eq!(
        kept.reasons(),
        ["a statement that the server passed over after an error"]
    );
    assert_eq!(kept.events[0].what, What::Connect);
    let said = kept.statements();
    let counts: Vec<_> = said
        .iter()
        .map(|said| (said.rows, said.affected, said.failed))
        .collect();
    let refused = (None, None, true);
    let inserted = (Some(0), Some(1), false);
    let expected = [
        (Some(2), Some(0), false),
        refused,
        inserted,
        inserted,
        refused,
        inserted,
    ];
    assert_eq!(counts, expected);
    // With its commit.
    assert_eq!(said[2].duration_us, Some(200));
    assert!(
        said.iter()
            .all(|said| said.database.as_deref() == Some(b"shop"))
    );
}

#[test]
fn a_cancel_tls_and_strangers_are_counted() {
    let mut cancel = Conversation::new();
    cancel.say(CLIENT, &opening(80_877_102, &[0; 8]));
    let mut tls = Conversation::new();
    tls.say(CLIENT, &opening(80_877_103, b""));
    tls.say(SERVER, b"S");
    let mut web = Conversation::new();
    web.say(CLIENT, b"GET / HTTP/1.1\r\n\r\n");
    web.say(SERVER, b"HTTP/1.1 200 OK\r\n\r\n");
    for (talk, words) in [
        (cancel, "a request to cancel"),
        (tls, "TLS"),
        (web, "another protocol"),
        (mysql(), "the other family"),
    ] {
        let kept = read_bytes(&talk.file(), Some(Format::PostgresPackets));
        assert!(kept.texts().is_empty());
        let [reason] = kept.reasons()[..] else {
            panic!("{:?}", kept.unread)
        };
        assert!(reason.contains(words), "{reason}");
    }
}

#[test]
fn a_session_of_postgresql_from_before_the_capture_is_read() {
    let whole = postgres().sent;
    let begin = whole
        .iter()
        .position(|one| one.payload.starts_with(b"B"))
        .unwrap();
    let kept = read_bytes(&file(PLAIN, &whole[begin..]), None);
    assert_eq!(kept.texts(), POSTGRES[4..]);
    let prepared = kept
        .reasons()
        .into_iter()
        .filter(|own| own.contains("preparation is not"));
    assert_eq!(prepared.count(), 2);
}

/// Such as with a filter that passes over packets without data.
#[test]
fn a_log_in_without_the_packets_before_it_is_read() {
    let whole = mysql();
    let begin = whole.sent.iter().position(|one| !one.payload.is_empty());
    let kept = read_bytes(&file(PLAIN, &whole.sent[begin.unwrap()..]), None);
    assert_eq!(kept.texts(), read_bytes(&whole.file(), None).texts());
}

#[test]
fn binary_values_are_read() {
    let text = |oid: u32, bytes: &[u8]| {
        value::literal(oid, bytes, true).map(|text| String::from_utf8(text).unwrap())
    };
    let known: [(u32, &[u8], &str); 17] = [
        (16, &[1], "'true'"),
        (17, b"a\0'", "'\\x610027'"),
        (20, &(-5_i64).to_be_bytes(), "'-5'::int8"),
        (21, &[0, 7], "7"),
        (25, b"it's", "'it''s'"),
        (701, &0.25_f64.to_be_bytes(), "'0.25'::float8"),
        (1082, &9830_i32.to_be_bytes(), "'2026-11-30'"),
        (1083, &3_723_000_004_i64.to_be_bytes(), "'01:02:03.000004'"),
        (1114, &(-1_i64).to_be_bytes(), "'1999-12-31 23:59:59.999999'"),
        (1184, &i64::MAX.to_be_bytes(), "'infinity'"),
        (1700, b"\0\x02\0\0\0\0\0\x02\0\x0c\x0d\x48", "'12.34'::numeric"),
        (1700, b"\0\x01\xff\xff\x40\0\0\x04\0\x05", "'-0.0005'::numeric"),
        (1700, b"\0\x01\0\x01\0\0\0\0\0\x03", "'30000'::numeric"),
        (2950, &[0x11; 16], "'11111111111111111111111111111111'"),
        (3802, b"\x01{\"a\": 1}", "'{\"a\": 1}'"),
        (70_000, b"blue", "'blue'"),
        (
            1007,
            b"\0\0\0\x01\0\0\0\x01\0\0\0\x17\0\0\0\x02\0\0\0\x01\0\0\0\x04\0\0\0\x09\xff\xff\xff\xff",
            "'{\"9\",NULL}'",
        ),
    ];
    for (oid, bytes, expected) in known {
        assert_eq!(text(oid, bytes).as_deref(), Some(expected), "type {oid}");
        // What breaks off, or is of a type that is not known, is not guessed at.
        assert_eq!(text(600, bytes), None);
    }
    assert_eq!(text(23, &[1, 2]), None);
    assert_eq!(text(70_000, &[0, 1, 2, 3]), None);
    assert_eq!(
        value::literal(23, b"1 OR 1=1", false).unwrap(),
        b"'1 OR 1=1'::int4"
    );
}

#[test]
fn what_mysqls_clients_send_and_get_beside_statements_is_passed_over() {
    let mut talk = logged_in();
    talk.say(
        CLIENT,
        &packet(0, b"\x03LOAD DATA LOCAL INFILE 'f' INTO TABLE t"),
    );
    talk.say(SERVER, &packet(1, b"\xfbf"));
    talk.say(CLIENT, &packet(2, b"1\t2\n"));
    talk.say(CLIENT, &packet(3, b""));
    talk.say(SERVER, &packet(4, DONE));
    // A cursor's rows come later.
    talk.say(CLIENT, &packet(0, b"\x16SELECT a FROM t"));
    let prepared = [
        packet(1, b"\0\x01\0\0\0\x01\0\0\0\0\0\0"),
        packet(2, COLUMN),
    ];
    talk.say(SERVER, &[prepared.concat(), packet(3, OLD_END)].concat());
    talk.say(CLIENT, &packet(0, b"\x17\x01\0\0\0\x01\x01\0\0\0"));
    let described = [packet(1, b"\x01"), packet(2, COLUMN)].concat();
    talk.say(SERVER, &[described, packet(3, b"\xfe\0\0\x42\0")].concat());
    talk.say(CLIENT, &packet(0, b"\x1c\x01\0\0\0\x02\0\0\0"));
    let rows = [packet(1, b"\0\0\x05\0\0\0"), packet(2, b"\0\0\x06\0\0\0")];
    talk.say(SERVER, &[rows.concat(), packet(3, OLD_END)].concat());
    // Two results.
    let one = [&b"\x01"[..], COLUMN, OLD_END, b"\x011"];
    let mut reply = one.to_vec();
    reply.push(b"\xfe\0\0\x0a\0");
    reply.extend_from_slice(&one);
    reply.push(OLD_END);
    query(&mut talk, "CALL p()", &reply);
    query(&mut talk, "SELECT 1", &[DONE]);
    let kept = read_bytes(&talk.file(), None);
    let texts = [
        "LOAD DATA LOCAL INFILE 'f' INTO TABLE t",
        "SELECT a FROM t",
        "CALL p()",
        "SELECT 1",
    ];
    assert_eq!(kept.texts(), texts);
    assert_eq!(kept.reasons(), [NO_REPLY, super::CURSOR]);
    let rows: Vec<_> = kept.statements().iter().map(|said| said.rows).collect();
    assert_eq!(rows, [None, None, Some(2), Some(0)]);
}

#[test]
fn what_is_asked_together_has_its_duration_and_no_rows_if_a_part_is_asked_for() {
    let mut talk = Conversation::new();
    talk.say(CLIENT, &opening(196_608, b"user\0app\0\0"));
    talk.say(SERVER, &message(b'Z', READY));
    let asked = [
        message(b'P', b"\0SELECT $1\0\0\0"),
        message(b'B', b"\0\0\0\0\0\x01\0\0\0\x017\0\0"),
        message(b'D', b"P\0"),
        message(b'E', b"\0\0\0\0\x02"),
        message(b'S', b""),
    ];
    let row = message(b'D', b"\0\x01\0\0\0\x017");
    let answered = [
        message(b'1', b""),
        message(b'2', b""),
        message(b'T', b"\0\0"),
        row.repeat(2),
        message(b's', b""),
        message(b'Z', READY),
    ];
    talk.say(CLIENT, &asked.concat());
    talk.say(SERVER, &answered.concat());
    let kept = read_bytes(&talk.file(), None);
    let last = kept.statements().last().copied().unwrap().clone();
    let (sql, rows) = (String::from_utf8(last.sql).unwrap(), last.rows);
    assert_eq!(
        (&*sql, last.duration_us, rows),
        ("SELECT '7'", Some(100), None)
    );
}

#[test]
fn a_value_that_is_named_too_often_is_not_multiplied() {
    let sql = b"SELECT 1".iter().chain(b",$1".iter().cycle().take(900));
    let sql: Vec<u8> = sql.copied().collect();
    let literals = [vec![b'x'; 1 << 20]];
    assert_eq!(super::super::bind(&sql, Dialect::Postgres, &literals), None);
}

// ---------------------------------------------------------------- damage

#[test]
fn damaged_captures_are_read_as_far_as_they_go() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(37);
    for (talk, format) in [
        (mysql(), Format::MysqlPackets),
        (postgres(), Format::PostgresPackets),
    ] {
        for is_ng in [false, true] {
            let whole = file(Form { is_ng, ..PLAIN }, &talk.sent);
            let kept = read_bytes(&whole[..whole.len() - 5], Some(format));
            assert!(
                kept.reasons()
                    .contains(&"the rest of a file that is damaged or cut short")
            );
            for _ in 0..400 {
                let mut bytes = whole.clone();
                for _ in 0..random.random_range(1..8) {
                    let at = random.random_range(4..bytes.len());
                    match random.random_range(0..4) {
                        0 => bytes.truncate(at + 1),
                        1 => bytes[at] = 0xFF,
                        _ => bytes[at] = random.next_u32().to_le_bytes()[0],
                    }
                    if bytes.len() < 8 {
                        break;
                    }
                }
                read_bytes(&bytes, Some(format));
                recognise(&bytes);
            }
        }
    }
}

#[test]
fn damaged_conversations_are_read_as_far_as_they_go() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(38);
    for (talk, format) in [
        (mysql(), Format::MysqlPackets),
        (postgres(), Format::PostgresPackets),
    ] {
        for _ in 0..1500 {
            let mut sent = talk.sent.clone();
            for _ in 0..random.random_range(1..6) {
                let at = random.random_range(3..sent.len());
                let payload = &mut sent[at].payload;
                match random.random_range(0..5) {
                    0 => drop(sent.remove(at)),
                    1 => sent[at].sequence = random.next_u32(),
                    2 => sent[at].flags = random.next_u32().to_le_bytes()[0],
                    _ if payload.is_empty() => {}
                    3 => {
                        let place = random.random_range(0..payload.len());
                        payload[place] = random.next_u32().to_le_bytes()[0];
                    }
                    _ => {
                        let place = random.random_range(0..payload.len());
                        payload.truncate(place);
                    }
                }
            }
            read_bytes(&file(PLAIN, &sent), Some(format));
        }
    }
}

#[test]
fn a_bomb_of_nothing_is_passed_over() {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packer.write_all(&mysql().file()).unwrap();
    // Empty packets, a thousand of which take a byte or two.
    packer.write_all(&vec![0; 16 << 20]).unwrap();
    let bomb = packer.finish().unwrap();
    assert!(bomb.len() < 32 << 10);
    assert_eq!(read_bytes(&bomb, None).texts(), MYSQL);
}

#[test]
fn rotated_captures_are_one() {
    let sent = mysql().sent;
    let folder = tempfile::tempdir().unwrap();
    let paths = ["b.pcap", "a.pcap"].map(|name| folder.path().join(name));
    let halves = sent.split_at(sent.len() / 2);
    std::fs::write(&paths[0], file(PLAIN, halves.0)).unwrap();
    std::fs::write(&paths[1], file(PLAIN, halves.1)).unwrap();
    let (inputs, head) = Inputs::new(paths.iter().rev().cloned().collect()).unwrap();
    assert_eq!(super::beginning(&head).1, Some(Dialect::Mysql));
    let mut kept = Kept::default();
    read(Format::MysqlPackets, inputs, None, &mut kept).unwrap();
    assert_eq!(kept.texts(), MYSQL);
}
