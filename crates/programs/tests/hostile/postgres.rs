//! A server that speaks PostgreSQL's protocol well enough, and lies in it.

use rand::{Rng, RngExt};

use crate::lies::Speaker;

pub(crate) struct Postgres {
    started: bool,
    logged_in: bool,
    offers_tls: bool,
    demand: u64,
}

impl Postgres {
    pub(crate) fn new(seed: u64, offers_tls: bool) -> Self {
        Self {
            started: false,
            logged_in: false,
            offers_tls,
            demand: seed % 3,
        }
    }

    fn enter(&mut self) -> Vec<u8> {
        self.logged_in = true;
        [
            authentication(0, b""),
            message(b'S', b"server_version\x0017.5\0"),
            message(b'K', b"\0\0\0\x01\0\0\0\x02"),
            message(b'Z', b"I"),
        ]
        .concat()
    }
}

pub(crate) fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).expect("a short body");
    [&[tag], &length.to_be_bytes()[..], body].concat()
}

fn authentication(kind: u8, data: &[u8]) -> Vec<u8> {
    message(b'R', &[&[0, 0, 0, kind], data].concat())
}

const DESCRIPTION: &[u8] = b"\0\x01c\0\0\0\0\0\0\0\0\0\0\x17\0\x04\0\0\0\0\0\0";

fn value(text: &str) -> Vec<u8> {
    let length = u32::try_from(text.len()).expect("a short text");
    let row = [b"\0\x01", &length.to_be_bytes()[..], text.as_bytes()].concat();
    [
        message(b'T', DESCRIPTION),
        message(b'D', &row),
        message(b'C', b"SELECT 1\0"),
        message(b'Z', b"I"),
    ]
    .concat()
}

fn reply(sql: &str) -> Vec<u8> {
    let sql = sql.to_ascii_uppercase();
    if sql.starts_with("SHOW") {
        value("17.5")
    } else if sql.contains("STRING_AGG") || sql.contains("'SLAP_T1'") {
        value("0")
    } else if sql.starts_with("SELECT") {
        value("1")
    } else if sql.starts_with("COPY") {
        message(b'G', b"\0\0\0")
    } else {
        [message(b'C', b"INSERT 0 1\0"), message(b'Z', b"I")].concat()
    }
}

impl Speaker for Postgres {
    fn answer(&mut self, heard: &mut Vec<u8>) -> Option<Vec<u8>> {
        if !self.started {
            let length = u32::from_be_bytes(*heard.first_chunk()?) as usize;
            if length < 8 || heard.len() < length {
                return None;
            }
            let content: Vec<u8> = heard.drain(..length).collect();
            // A request for encryption.
            if content[4..8] == [0x04, 0xD2, 0x16, 0x2F] {
                return Some(if self.offers_tls {
                    b"S".to_vec()
                } else {
                    b"N".to_vec()
                });
            }
            self.started = true;
            return Some(match self.demand {
                0 => self.enter(),
                1 => authentication(5, b"salt"),
                _ => authentication(10, b"SCRAM-SHA-256\0\0"),
            });
        }
        let tag = *heard.first()?;
        let length = u32::from_be_bytes(*heard.get(1..)?.first_chunk()?) as usize;
        if heard.len() < 1 + length {
            return None;
        }
        let content: Vec<u8> = heard.drain(..=length).skip(5).collect();
        let text = String::from_utf8_lossy(&content).into_owned();
        Some(match tag {
            b'p' if !self.logged_in => self.enter(),
            b'Q' => reply(&text),
            b'P' => message(b'1', b""),
            b'B' => message(b'2', b""),
            b'D' if content.first() == Some(&b'S') => {
                [message(b't', b"\0\x01\0\0\0\x17"), message(b'n', b"")].concat()
            }
            b'D' => message(b'n', b""),
            b'E' => message(b'C', b"SELECT 1\0"),
            b'S' => message(b'Z', b"I"),
            b'c' => [message(b'C', b"COPY 1\0"), message(b'Z', b"I")].concat(),
            _ => Vec::new(),
        })
    }

    fn wrong(&self, answer: &[u8], random: &mut dyn Rng) -> Vec<u8> {
        let mut said = answer.to_vec();
        match random.random_range(0..6) {
            0 if said.len() > 4 => {
                let claims = [0, 3, 1 << 20, 1 << 30, 0x7FFF_FFFF, 0xFFFF_FFFF_u32];
                let claim = claims[random.random_range(0..claims.len())];
                said[1..5].copy_from_slice(&claim.to_be_bytes());
            }
            1 if !said.is_empty() => said[0] = random.random(),
            2 => said = [message(b'D', b"\xFF\xFF"), message(b'Z', b"I")].concat(),
            3 => {
                said = [
                    message(b'D', b"\0\x01\x7F\xFF\xFF\xFFx"),
                    message(b'Z', b"I"),
                ]
                .concat();
            }
            4 => said = message(b't', b"\xFF\xFF\0\0\0\x17"),
            _ => {
                said = [
                    message(b'C', b"UPDATE 99999999999999999999999\0"),
                    message(b'Z', b"I"),
                ]
                .concat();
            }
        }
        said
    }

    fn escapes(&self) -> Vec<u8> {
        let text = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}evil\u{2066}\r\u{8}\u{200f}";
        let body = format!("SERROR\0VERROR\0C4\u{1b}[m1\0M{text}\0\0");
        [message(b'E', body.as_bytes()), message(b'Z', b"I")].concat()
    }

    fn demand(&self, random: &mut dyn Rng) -> Vec<u8> {
        match random.random_range(0..6) {
            0 | 1 => authentication(3, b""),
            2 => authentication(10, b"PLAIN\0\0"),
            3 => authentication(7, b""),
            4 => message(b'G', b"\0\0\0"),
            _ => message(b'H', b"\0\0\0"),
        }
    }

    fn endless(&self, random: &mut dyn Rng) -> Vec<u8> {
        match random.random_range(0..4) {
            0 => vec![0],
            1 => message(b'N', b"SNOTICE\0C00000\0Mhello\0\0"),
            2 => message(b'D', b"\0\x01\0\0\0\x0242"),
            _ => message(
                b'D',
                &[&b"\0\x01\0\0\xFF\0"[..], &vec![b'x'; 0xFF00]].concat(),
            ),
        }
    }
}
