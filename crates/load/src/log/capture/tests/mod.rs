//! Conversations as captures have them: whole, in pieces, out of order, with gaps, damaged.

mod mysql;
mod postgres;

use std::io::Write;

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::super::tests::{Kept, fresh};
use super::super::{Format, Inputs, Statement, What, read, recognise};
use super::{LOST, NO_REPLY};
use crate::driver::Dialect;
use mysql::{DONE, MYSQL, logged_in, mysql, query};
use postgres::postgres;

const CLIENT: usize = 0;
const SERVER: usize = 1;

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

/// What is read of a conversation from a segment in its middle on, and how many executions had been prepared before.
fn from_middle(talk: &Conversation, begins: impl Fn(&[u8]) -> bool) -> (Kept, usize) {
    let begin = talk.sent.iter().position(|one| begins(&one.payload));
    let kept = read_bytes(&file(PLAIN, &talk.sent[begin.unwrap()..]), None);
    let reasons = kept.reasons().into_iter();
    let prepared = reasons.filter(|own| own.contains("preparation is not"));
    let count = prepared.count();
    (kept, count)
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

/// Such as with a filter that passes over packets without data.
#[test]
fn a_log_in_without_the_packets_before_it_is_read() {
    let whole = mysql();
    let begin = whole.sent.iter().position(|one| !one.payload.is_empty());
    let kept = read_bytes(&file(PLAIN, &whole.sent[begin.unwrap()..]), None);
    assert_eq!(kept.texts(), read_bytes(&whole.file(), None).texts());
}

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
