//! A server that speaks MySQL's protocol well enough, and lies in it.

use rand::{Rng, RngExt};

use crate::lies::Speaker;

const END: &[u8] = b"\xFE\0\0\x02\0";
const OK: &[u8] = b"\0\x01\0\x02\0\0\0";
/// Those of a server of today: local files and results one after the other among them.
const CAPABILITIES: u32 = 0x003A_A28D;
const SSL: u32 = 0x0800;

pub(crate) struct Mysql {
    greeted: bool,
    logged_in: bool,
    offers_tls: bool,
    plugin: &'static str,
    file: String,
}

impl Mysql {
    /// `file`: the local file that it asks for.
    pub(crate) fn new(seed: u64, offers_tls: bool, file: &str) -> Self {
        let plugins = ["mysql_native_password", "caching_sha2_password"];
        Self {
            greeted: false,
            logged_in: false,
            offers_tls,
            plugin: plugins[usize::from(seed.is_multiple_of(3))],
            file: file.to_owned(),
        }
    }

    fn greeting(&self) -> Vec<u8> {
        let capabilities = CAPABILITIES | if self.offers_tls { SSL } else { 0 };
        let [a, b, c, d] = capabilities.to_le_bytes();
        let mut greeting = b"\x0A8.4.3\0\x07\0\0\0abcdefgh\0".to_vec();
        greeting.extend_from_slice(&[a, b, 0x21, 0x02, 0, c, d, 21]);
        greeting.extend_from_slice(&[0; 10]);
        greeting.extend_from_slice(b"ijklmnopqrst\0");
        greeting.extend_from_slice(self.plugin.as_bytes());
        greeting.push(0);
        packets(0, &[&greeting])
    }

    fn command(content: &[u8]) -> Vec<u8> {
        let (code, sql) = content.split_first().unwrap_or((&0, &[]));
        let sql = String::from_utf8_lossy(sql).to_ascii_uppercase();
        match code {
            // Prepare: as many parameters as marks.
            0x16 => {
                let marks = sql.matches('?').count();
                let columns = usize::from(sql.starts_with("SELECT"));
                let head = [
                    0,
                    1,
                    0,
                    0,
                    0,
                    u8::from(columns > 0),
                    0,
                    marks.to_le_bytes()[0],
                    marks.to_le_bytes()[1],
                    0,
                    0,
                    0,
                ];
                let mut contents: Vec<&[u8]> = vec![&head];
                for count in [marks, columns] {
                    if count > 0 {
                        contents.extend(std::iter::repeat_n(DEFINITION, count));
                        contents.push(END);
                    }
                }
                packets(1, &contents)
            }
            0x17 => packets(1, &[b"\x01", DEFINITION, END, b"\0\0\x04\0\0\0", END]),
            0x03 if sql.starts_with("LOAD DATA") => packets(1, &[b"\xFBrows"]),
            0x03 if sql.starts_with("SELECT") => value(value_of(&sql)),
            // The goodbye has no answer.
            0x01 => Vec::new(),
            _ => packets(1, &[OK]),
        }
    }
}

const DEFINITION: &[u8] = b"\x03def\0\0\0\x01c\x01c\x0C\x3F\0\x04\0\0\0\x03\0\0\0\0\0";

/// What makes the program go on.
fn value_of(sql: &str) -> &'static str {
    if sql.contains("COLUMN_TYPE") {
        "int unsigned"
    } else if sql.contains("GROUP_CONCAT") || sql.contains("'SLAP_T1'") {
        "0"
    } else if sql.contains("TRANSACTIONS") {
        "YES"
    } else {
        "1"
    }
}

fn value(text: &str) -> Vec<u8> {
    let row = [&[text.len().to_le_bytes()[0]], text.as_bytes()].concat();
    packets(1, &[b"\x01", DEFINITION, END, &row, END])
}

pub(crate) fn packets(first: u8, contents: &[&[u8]]) -> Vec<u8> {
    let mut sequence = first;
    let mut bytes = Vec::new();
    for content in contents {
        let [low, middle, high, ..] = content.len().to_le_bytes();
        bytes.extend_from_slice(&[low, middle, high, sequence]);
        bytes.extend_from_slice(content);
        sequence = sequence.wrapping_add(1);
    }
    bytes
}

impl Speaker for Mysql {
    fn answer(&mut self, heard: &mut Vec<u8>) -> Option<Vec<u8>> {
        if !self.greeted {
            self.greeted = true;
            return Some(self.greeting());
        }
        let length = usize::from(*heard.first()?)
            | usize::from(*heard.get(1)?) << 8
            | usize::from(*heard.get(2)?) << 16;
        let sequence = *heard.get(3)?;
        if heard.len() < 4 + length {
            return None;
        }
        let content: Vec<u8> = heard.drain(..4 + length).skip(4).collect();
        if !self.logged_in {
            if content.len() == 32 && self.offers_tls {
                // TLS begins here; there is nobody who speaks it.
                heard.clear();
                return Some(b"\x16\x03\x03\0\x7A\x02\0\0\x76\x03\x03".repeat(3));
            }
            self.logged_in = true;
            return Some(packets(sequence.wrapping_add(1), &[OK]));
        }
        // The end of a file of rows, and its pieces.
        if sequence > 1 {
            let ends = content.is_empty();
            return Some(if ends {
                packets(sequence.wrapping_add(1), &[OK])
            } else {
                Vec::new()
            });
        }
        Some(Self::command(&content))
    }

    fn wrong(&self, answer: &[u8], random: &mut dyn Rng) -> Vec<u8> {
        let mut said = answer.to_vec();
        match random.random_range(0..7) {
            0 if said.len() > 3 => said[3] = random.random(),
            1 if said.len() > 2 => said[..3].copy_from_slice(b"\xFF\xFF\xFF"),
            2 => said = packets(1, &[b"\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"]),
            3 => said = packets(1, &[b"\xFC\xFF\xFF", DEFINITION]),
            // A prepared statement with 65,535 parameters and columns.
            4 => said = packets(1, &[b"\0\x01\0\0\0\xFF\xFF\xFF\xFF\0\0\0"]),
            5 => said = packets(1, &[b"\0\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0\x02\0\0\0"]),
            // One result, and more to come.
            _ => said = packets(1, &[b"\0\x01\0\x0A\0\0\0"]),
        }
        said
    }

    fn escapes(&self) -> Vec<u8> {
        let text = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}evil\u{2066}\r\u{8}\u{200f}";
        let error = [b"\xFF\x15\x04#28000", text.as_bytes()].concat();
        packets(if self.logged_in { 1 } else { 2 }, &[&error])
    }

    fn demand(&self, random: &mut dyn Rng) -> Vec<u8> {
        if self.logged_in && random.random_bool(0.5) {
            return packets(1, &[&[b"\xFB", self.file.as_bytes()].concat()]);
        }
        let switches: [&[u8]; 5] = [
            b"\xFEmysql_clear_password\0",
            b"\xFEdialog\0",
            b"\xFEmysql_old_password\0abcdefgh",
            b"\xFEsha256_password\0abcdefghijklmnopqrst\0",
            // The full exchange of caching_sha2_password.
            b"\x01\x04",
        ];
        packets(2, &[switches[random.random_range(0..switches.len())]])
    }

    fn endless(&self, random: &mut dyn Rng) -> Vec<u8> {
        match random.random_range(0..4) {
            0 => vec![0],
            1 => packets(0, &[b"\x03abc"]),
            // Numbered as they must be.
            2 => packets(0, &[&b"\x03abc"[..]; 256]),
            _ => packets(0, &[DEFINITION; 256]),
        }
    }
}
