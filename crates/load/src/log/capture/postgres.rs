//! PostgreSQL's protocol, version 3.

use std::collections::{HashMap, VecDeque};
use std::io;

use super::super::bind;
use super::value::literal;
use super::{
    CURSOR, Dialogue, EARLIER, ENTRY_BYTES, Kind, Out, REPLICA, TLS, Talk, Text, What, size,
};
use crate::driver::Dialect;
use crate::driver::postgres::affected_rows;

/// A type and a length; the messages before a session begins have no type.
const HEAD_BYTES: usize = 5;
const OPENING_HEAD_BYTES: usize = 4;
/// As long as a server takes them (`MAX_STARTUP_PACKET_LENGTH` in its source).
const LONGEST_OPENING: usize = 10_000;

const CANCEL: u32 = 80_877_102;
const TLS_REQUEST: u32 = 80_877_103;
const GSS_REQUEST: u32 = 80_877_104;

fn opening_length(bytes: &[u8]) -> usize {
    long(&mut &*bytes).unwrap_or(0) as usize
}

/// Bytes of a message, with its type.
fn length(bytes: &[u8]) -> usize {
    1 + opening_length(&bytes[1..])
}

/// Whether a client begins a connection so.
pub(super) fn is_greeting(bytes: &[u8]) -> bool {
    let code = bytes
        .get(4..)
        .and_then(|mut code| long(&mut code))
        .unwrap_or(0);
    let is_known = code >> 16 == 3 || [CANCEL, TLS_REQUEST, GSS_REQUEST].contains(&code);
    is_known && (8..=LONGEST_OPENING).contains(&opening_length(bytes))
}

/// Whether these bytes are what a client asks in a session.
pub(super) fn is_request(bytes: &[u8]) -> bool {
    if bytes.len() < HEAD_BYTES + 1 || !b"QPB".contains(&bytes[0]) {
        return false;
    }
    let length = length(bytes);
    let ends = bytes[0] != b'Q' || bytes.get(length - 1).is_none_or(|last| *last == 0);
    let follows = bytes
        .get(length)
        .is_none_or(|next| b"BDESHPCQX".contains(next));
    (7..1 << 30).contains(&length) && ends && follows
}

struct Prepared {
    sql: Vec<u8>,
    /// Types of parameters, as far as they were said.
    types: Vec<u32>,
}

#[derive(Default)]
pub(super) struct Postgres {
    dialogue: Dialogue,
    is_open: bool,
    /// The client has asked for TLS, and the server has not answered.
    asks_for_tls: bool,
    prepared: HashMap<Vec<u8>, Prepared>,
    portals: HashMap<Vec<u8>, Text>,
    /// Prepared statements whose descriptions will come.
    described: VecDeque<Vec<u8>>,
    has_failed: bool,
}

/// The text before the next zero byte.
fn text<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = bytes.iter().position(|&byte| byte == 0)?;
    let found = &bytes[..end];
    *bytes = &bytes[end + 1..];
    Some(found)
}

fn short(bytes: &mut &[u8]) -> Option<u16> {
    let (two, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u16::from_be_bytes(*two))
}

fn long(bytes: &mut &[u8]) -> Option<u32> {
    let (four, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u32::from_be_bytes(*four))
}

/// Numbers with their count before them.
fn list<T>(bytes: &mut &[u8], read: fn(&mut &[u8]) -> Option<T>) -> Option<Vec<T>> {
    let count = short(bytes)?;
    (0..count).map(|_| read(bytes)).collect()
}

impl Postgres {
    pub(super) fn new(is_whole: bool) -> Self {
        Self {
            is_open: !is_whole,
            ..Self::default()
        }
    }

    /// What a client sends before its session.
    fn open(&mut self, frame: &[u8], out: &mut Out<'_>) -> io::Result<()> {
        let mut rest = &frame[OPENING_HEAD_BYTES..];
        match long(&mut rest) {
            Some(CANCEL) => {
                out.stop = Some("a request to cancel a statement, which is not replayed");
                return Ok(());
            }
            Some(TLS_REQUEST | GSS_REQUEST) => {
                self.asks_for_tls = true;
                return Ok(());
            }
            _ => self.is_open = true,
        }
        let mut user = None;
        while let (Some(name), Some(value)) = (text(&mut rest), text(&mut rest)) {
            match name {
                b"user" => user = Some(value.to_vec()),
                b"database" => self.dialogue.database = Some(value.to_vec()),
                b"replication" if value != b"false" => out.stop = Some(REPLICA),
                _ => {}
            }
        }
        self.dialogue.database = self.dialogue.database.take().or(user);
        out.event(out.at.us, What::Connect)
    }

    fn on_request(&mut self, kind: u8, mut body: &[u8], out: &mut Out<'_>) -> Option<()> {
        match kind {
            b'Q' => {
                let sql = text(&mut body)?.to_vec();
                self.dialogue.ask(Kind::Query, Ok(sql), out.at, 0);
            }
            b'P' => {
                let name = text(&mut body)?.to_vec();
                let sql = text(&mut body)?.to_vec();
                let types = list(&mut body, long)?;
                self.dialogue.held_bytes += ENTRY_BYTES + sql.len();
                self.dialogue.ask(Kind::Prepare, Ok(sql.clone()), out.at, 0);
                let before = self.prepared.insert(name, Prepared { sql, types });
                self.dialogue.held_bytes -=
                    before.map_or(0, |before| ENTRY_BYTES + before.sql.len());
            }
            b'B' => {
                let portal = text(&mut body)?.to_vec();
                let known = self.prepared.get(text(&mut body)?);
                let sql = known.map_or(Err(EARLIER), |known| bound(known, body));
                self.dialogue.held_bytes += size(&sql);
                let before = self.portals.insert(portal, sql);
                self.dialogue.held_bytes -= before.as_ref().map_or(0, size);
            }
            b'E' => {
                let sql = match self.portals.get_mut(text(&mut body)?) {
                    Some(portal) => std::mem::replace(portal, Err(CURSOR)),
                    None => Err(EARLIER),
                };
                // It was the portal's.
                self.dialogue.held_bytes -= size(&sql);
                self.dialogue.ask(Kind::Execute, sql, out.at, 0);
            }
            b'D' if body.first() == Some(&b'S') => {
                let name = text(&mut &body[1..])?;
                self.described.push_back(name.to_vec());
            }
            b'C' if body.first() == Some(&b'S') => {
                let known = self.prepared.remove(text(&mut &body[1..])?);
                self.dialogue.held_bytes -= known.map_or(0, |known| ENTRY_BYTES + known.sql.len());
            }
            b'C' => {
                let known = self.portals.remove(text(&mut body.get(1..)?)?);
                self.dialogue.held_bytes -= known.as_ref().map_or(0, size);
            }
            b'S' => self.dialogue.ask(Kind::Other, Ok(Vec::new()), out.at, 0),
            b'F' => out.unread("a call of a function without SQL"),
            _ => {}
        }
        Some(())
    }

    fn on_reply(&mut self, kind: u8, mut body: &[u8], out: &mut Out<'_>) -> io::Result<()> {
        let dialogue = &mut self.dialogue;
        let kind_at = |at: usize| dialogue.pending.get(at).map(|one| one.kind);
        match (kind, kind_at(0)) {
            (b'D', _) => dialogue.rows += 1,
            // The types of parameters, now that the server has found them.
            (b't', _) => {
                let known = self.described.pop_front();
                if let Some(known) = known.and_then(|name| self.prepared.get_mut(&name))
                    && let Some(types) = list(&mut body, long)
                {
                    known.types = types;
                }
            }
            (b'1', Some(Kind::Prepare)) => dialogue.end(true, out)?,
            (b'C' | b'I' | b's', first) => {
                let affected = text(&mut body).and_then(|tag| affected_rows(tag).ok());
                let before = dialogue.affected.unwrap_or(0);
                dialogue.affected = Some(before.saturating_add(affected.unwrap_or(0)));
                // The commit of what a Sync follows is behind that.
                let is_last = dialogue
                    .pending
                    .get(1)
                    .is_some_and(|one| one.kind == Kind::Other);
                if first == Some(Kind::Execute) && !is_last {
                    dialogue.end(true, out)?;
                }
            }
            (b'E', _) => {
                self.has_failed = true;
                self.described.clear();
                // The server passes over the rest until the next Sync.
                let ends = |kind: Kind| matches!(kind, Kind::Query | Kind::Other);
                let asked = &mut dialogue.pending;
                let count = asked.iter().take_while(|one| !ends(one.kind)).count();
                let mut passed: Vec<_> = asked.drain(..count).collect();
                let failed = passed
                    .iter()
                    .position(|one| one.kind == Kind::Execute)
                    .unwrap_or(0);
                if failed < count {
                    asked.push_front(passed.swap_remove(failed));
                }
                for one in passed {
                    dialogue.held_bytes -= size(&one.sql);
                    if one.kind == Kind::Execute {
                        out.unread("a statement that the server passed over after an error");
                    }
                }
            }
            (b'Z', first) => {
                if first == Some(Kind::Execute) || first == Some(Kind::Prepare) {
                    dialogue.end(!self.has_failed, out)?;
                }
                dialogue.end(!self.has_failed, out)?;
                self.has_failed = false;
            }
            _ => {}
        }
        Ok(())
    }
}

/// A statement's text with the values of a Bind.
fn bound(known: &Prepared, mut rest: &[u8]) -> Text {
    let mut read = || {
        let formats = list(&mut rest, short)?;
        let mut literals = Vec::new();
        for place in 0..usize::from(short(&mut rest)?) {
            let Ok(bytes) = usize::try_from(long(&mut rest)?.cast_signed()) else {
                literals.push(b"NULL".to_vec());
                continue;
            };
            let (value, after) = rest.split_at_checked(bytes)?;
            rest = after;
            // One format may be that of all.
            let format = formats.get(if formats.len() == 1 { 0 } else { place });
            let oid = known.types.get(place).copied().unwrap_or(0);
            literals.push(literal(oid, value, format == Some(&1))?);
        }
        bind(&known.sql, Dialect::Postgres, &literals)
    };
    read().ok_or("a prepared statement with a value in a binary form that is not read")
}

impl Talk for Postgres {
    fn client(&mut self, bytes: &[u8], out: &mut Out<'_>) -> io::Result<()> {
        if self.dialogue.is_astray {
            if !is_request(bytes) {
                return Ok(());
            }
            self.described.clear();
            (self.is_open, self.has_failed, self.dialogue.is_astray) = (true, false, false);
        }
        self.dialogue.client.extend(bytes);
        loop {
            let frames = &mut self.dialogue.client;
            if !self.is_open {
                let Some(frame) = frames.next(OPENING_HEAD_BYTES, opening_length) else {
                    return Ok(());
                };
                self.open(&frame, out)?;
                continue;
            }
            let Some(frame) = frames.next(HEAD_BYTES, length) else {
                return Ok(());
            };
            if frame[0] == b'X' {
                out.event(out.at.us, What::Quit)?;
            } else if self
                .on_request(frame[0], &frame[HEAD_BYTES..], out)
                .is_none()
            {
                out.unread("a message that breaks off");
            }
        }
    }

    fn server(&mut self, mut bytes: &[u8], out: &mut Out<'_>) -> io::Result<()> {
        if std::mem::take(&mut self.asks_for_tls) {
            // One byte: it refuses, or what follows cannot be read.
            let Some(rest) = bytes.strip_prefix(b"N") else {
                out.stop = Some(TLS);
                return Ok(());
            };
            bytes = rest;
        }
        if self.dialogue.is_astray {
            return Ok(());
        }
        self.dialogue.server.extend(bytes);
        while let Some(frame) = self.dialogue.server.next(HEAD_BYTES, length) {
            self.on_reply(frame[0], &frame[HEAD_BYTES..], out)?;
        }
        Ok(())
    }

    fn dialogue(&mut self) -> &mut Dialogue {
        &mut self.dialogue
    }
}
