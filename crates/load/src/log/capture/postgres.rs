//! PostgreSQL's protocol, version 3.

use std::collections::HashMap;
use std::io;

use bytes::Buf;

use super::super::{bind, postgres::key};
use super::value::{literal, type_of};
use super::{
    Asked, Bound, CURSOR, Dialogue, EARLIER, Kind, NO_SQL, Out, Pending, REPLICA, Statement, TLS,
    Talk, What, held_bytes, plain, prepared_bytes,
};
use crate::driver::postgres::affected_rows;
use crate::driver::{Dialect, Reply};

/// A type and a length; the messages before a session begins have no type.
const HEAD_BYTES: usize = 5;
const OPENING_HEAD_BYTES: usize = 4;
/// As long as a server takes them (`MAX_STARTUP_PACKET_LENGTH` in its source).
const LONGEST_OPENING: usize = 10_000;

const CANCEL: u32 = 80_877_102;
const TLS_REQUEST: u32 = 80_877_103;
const GSS_REQUEST: u32 = 80_877_104;

/// Bytes of a message that has so many before its length.
fn length(bytes: &[u8], before: usize) -> Option<usize> {
    let length = long(&mut bytes.get(before..)?)? as usize;
    Some(before + length.max(OPENING_HEAD_BYTES))
}

/// Whether a client begins a connection so.
pub(super) fn is_greeting(bytes: &[u8]) -> bool {
    let code = bytes.get(4..).and_then(|mut code| long(&mut code));
    let is_known = |code: u32| code >> 16 == 3 || (CANCEL..=GSS_REQUEST).contains(&code);
    code.is_some_and(is_known)
        && length(bytes, 0).is_some_and(|length| (8..=LONGEST_OPENING).contains(&length))
}

/// Whether these bytes are what a client asks in a session.
pub(super) fn is_request(bytes: &[u8]) -> bool {
    let kind = bytes.first().copied();
    let (Some(kind @ (b'Q' | b'P' | b'B')), Some(length)) = (kind, length(bytes, 1)) else {
        return false;
    };
    let ends = kind != b'Q' || bytes.get(length - 1).is_none_or(|last| *last == 0);
    let next = bytes.get(length);
    let follows = next.is_none_or(|next| b"BDESHPCQX".contains(next));
    (7..1 << 30).contains(&length) && ends && follows
}

/// Names of statements and portals are their hashes.
#[derive(Default)]
pub(super) struct Postgres {
    dialogue: Dialogue,
    is_open: bool,
    /// The client has asked for TLS, and the server has not answered.
    asks_for_tls: bool,
    /// A statement's text, and four bytes for the type of each parameter as far as they were said.
    prepared: HashMap<u64, [Vec<u8>; 2]>,
    /// What is bound, and how many Syncs had been asked for then.
    portals: HashMap<u64, (u64, Asked)>,
    /// Syncs that were asked for, those of queries with them, and those that are done.
    syncs: [u64; 2],
    /// Of the reply under way.
    reply: Reply,
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
    bytes.try_get_u16().ok()
}

fn long(bytes: &mut &[u8]) -> Option<u32> {
    bytes.try_get_u32().ok()
}

/// Numbers of so many bytes, with their count before them.
fn list<'a>(bytes: &mut &'a [u8], size: usize) -> Option<&'a [u8]> {
    let count = usize::from(short(bytes)?);
    let (found, rest) = bytes.split_at_checked(count * size)?;
    *bytes = rest;
    Some(found)
}

impl Postgres {
    pub(super) fn new(is_whole: bool) -> Self {
        Self {
            is_open: !is_whole,
            ..Self::default()
        }
    }

    /// What a client sends before its session.
    fn open(&mut self, message: &[u8], out: &mut Out<'_>) -> io::Result<()> {
        let mut rest = &message[OPENING_HEAD_BYTES..];
        let code = long(&mut rest);
        self.asks_for_tls = matches!(code, Some(TLS_REQUEST | GSS_REQUEST));
        if code == Some(CANCEL) {
            out.stop = Some("a request to cancel a statement, which is not replayed");
        }
        if self.asks_for_tls || out.stop.is_some() {
            return Ok(());
        }
        self.is_open = true;
        let (mut user, mut database) = (None, None);
        while let (Some(name), Some(value)) = (text(&mut rest), text(&mut rest)) {
            match name {
                b"user" => user = Some(value),
                b"database" => database = Some(value),
                b"replication" if value != b"false" => out.stop = Some(REPLICA),
                _ => {}
            }
        }
        self.dialogue.database = database.or(user).map(<[u8]>::to_vec);
        out.event(out.at.us, What::Connect)
    }

    fn on_request(&mut self, kind: u8, mut body: &[u8], out: &mut Out<'_>) -> Option<()> {
        match kind {
            b'Q' => {
                self.dialogue
                    .ask(Kind::Query, Ok(plain(text(&mut body)?)), 0, out);
                self.syncs[0] += 1;
            }
            b'P' => {
                let (name, sql) = (key(text(&mut body)?), text(&mut body)?);
                let types = list(&mut body, 4)?.to_vec();
                let kind = Kind::Prepare(name);
                self.dialogue.ask(kind, Ok(plain(sql)), 0, out);
                self.prepared.insert(name, [sql.to_vec(), types]);
            }
            b'B' => {
                let (portal, name) = (key(text(&mut body)?), text(&mut body)?);
                let known = self.prepared.get(&key(name)).ok_or(EARLIER);
                // Without a name it is planned anew, as its text is.
                let said = known.and_then(|[sql, types]| {
                    let mut said = bound(sql, types, body)?;
                    said.bound.take_if(|_| name.is_empty());
                    said.key = Some(key(name));
                    Ok(said)
                });
                self.portals.insert(portal, (self.syncs[0], said));
            }
            b'E' => {
                let portal = self.portals.get_mut(&key(text(&mut body)?));
                let said =
                    portal.map_or(Err(EARLIER), |(_, own)| std::mem::replace(own, Err(CURSOR)));
                let kind = Kind::Execute(long(&mut body)? == 0);
                self.dialogue.ask(kind, said, 0, out);
            }
            b'D' | b'C' => {
                let (sort, mut name) = body.split_first()?;
                let name = key(text(&mut name)?);
                match (kind, sort) {
                    (b'D', b'S') => {
                        let kind = Kind::Describe(name);
                        self.dialogue.ask(kind, Err(NO_SQL), 0, out);
                    }
                    (b'C', b'S') => drop(self.prepared.remove(&name)),
                    (b'C', _) => drop(self.portals.remove(&name)),
                    _ => {}
                }
            }
            b'S' => {
                self.dialogue.ask(Kind::Other, Err(NO_SQL), 0, out);
                self.syncs[0] += 1;
            }
            b'F' => out.unread("a call of a function without SQL"),
            _ => {}
        }
        Some(())
    }

    fn on_reply(&mut self, kind: u8, mut body: &[u8], out: &mut Out<'_>) -> io::Result<()> {
        match (kind, self.dialogue.kind(0)) {
            (b'D', _) => self.reply.rows += 1,
            // The types of parameters, now that the server has found them.
            (b't', Some(Kind::Describe(name))) => {
                let types = list(&mut body, 4);
                if let (Some([_, known]), Some(types)) = (self.prepared.get_mut(&name), types) {
                    *known = types.to_vec();
                }
                self.end(out)?;
            }
            (b'1', Some(Kind::Prepare(_))) => self.end(out)?,
            (b'C' | b'I' | b's', first) => {
                let affected = text(&mut body).and_then(|tag| affected_rows(tag).ok());
                let affected = affected.unwrap_or(0);
                self.reply.affected = self.reply.affected.saturating_add(affected);
                // The commit of what a Sync follows is behind that.
                let is_last = self.dialogue.kind(1) == Some(Kind::Other);
                if matches!(first, Some(Kind::Execute(_))) && !is_last {
                    self.end(out)?;
                }
            }
            (b'E', _) => {
                self.has_failed = true;
                self.pass_over(out);
            }
            (b'Z', _) => {
                while let Some(kind) = self.dialogue.kind(0) {
                    self.end(out)?;
                    if matches!(kind, Kind::Query | Kind::Other) {
                        self.syncs[1] += 1;
                        break;
                    }
                }
                self.has_failed = false;
                let done = self.syncs[1];
                if body == b"I" {
                    // No portal outlives its transaction; others may be bound ahead.
                    self.portals.retain(|_, (asked, _)| *asked >= done);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// After an error the server passes over the rest until the next Sync.
    fn pass_over(&mut self, out: &mut Out<'_>) {
        let asked = &mut self.dialogue.pending;
        let ends = |kind: Kind| matches!(kind, Kind::Query | Kind::Other);
        let count = asked.iter().take_while(|one| !ends(one.kind)).count();
        let mut passed: Vec<_> = asked.drain(..count).collect();
        // The refused one is the first execution, or a preparation.
        let is_executed = |one: &Pending| matches!(one.kind, Kind::Execute(_));
        let is_prepared = |one: &Pending| matches!(one.kind, Kind::Prepare(_));
        passed.sort_by_key(|one| (!is_executed(one), !is_prepared(one)));
        let mut passed = passed.into_iter();
        asked.extend(passed.next());
        asked.rotate_right(usize::from(count > 0));
        let executed = passed.filter(is_executed);
        executed.for_each(|_| out.unread("a statement that the server passed over after an error"));
    }

    fn end(&mut self, out: &mut Out<'_>) -> io::Result<()> {
        let Reply { rows, affected } = std::mem::take(&mut self.reply);
        let is_done = !self.has_failed;
        let reply = is_done.then_some((rows, Some(affected)));
        self.dialogue.end(reply, out)
    }
}

/// A statement with the values of a Bind. Once more it is prepared with the types that it had, as far as they are known.
fn bound(sql: &[u8], types: &[u8], mut rest: &[u8]) -> Asked {
    let mut read = || {
        let (formats, _) = list(&mut rest, 2)?.as_chunks::<2>();
        let (types, _) = types.as_chunks::<4>();
        let (mut literals, mut marks) = (Vec::new(), Vec::new());
        for place in 0..usize::from(short(&mut rest)?) {
            let oid = types.get(place).copied().map_or(0, u32::from_be_bytes);
            marks.push(format!("${}{}", place + 1, type_of(oid)));
            let Ok(bytes) = usize::try_from(long(&mut rest)?.cast_signed()) else {
                literals.push(b"NULL".to_vec());
                continue;
            };
            let (value, after) = rest.split_at_checked(bytes)?;
            rest = after;
            // One format may be that of all.
            let format = formats.get(if formats.len() == 1 { 0 } else { place });
            literals.push(literal(oid, value, format == Some(&[0, 1]))?);
        }
        let prepared = bind(sql, Dialect::Postgres, &marks)?;
        Some(Statement {
            sql: bind(sql, Dialect::Postgres, &literals)?,
            bound: Bound::new(&prepared, &literals, Dialect::Postgres),
            ..Statement::default()
        })
    };
    read().ok_or("a prepared statement with a value in a binary form that is not read")
}

impl Talk for Postgres {
    fn length(&self, by_client: bool, bytes: &[u8]) -> Option<usize> {
        match (by_client, self.is_open) {
            // One byte: it refuses, or what follows cannot be read.
            (false, _) if self.asks_for_tls => Some(1),
            (true, false) => length(bytes, 0),
            _ => length(bytes, 1),
        }
    }

    fn take(&mut self, by_client: bool, message: &[u8], out: &mut Out<'_>) -> io::Result<()> {
        if by_client && !self.is_open {
            return self.open(message, out);
        }
        let (kind, body) = (message[0], message.get(HEAD_BYTES..).unwrap_or_default());
        if !by_client && std::mem::take(&mut self.asks_for_tls) {
            out.stop = (kind != b'N').then_some(TLS);
        } else if !by_client {
            self.on_reply(kind, body, out)?;
        } else if kind == b'X' {
            out.event(out.at.us, What::Quit)?;
        } else if self.on_request(kind, body, out).is_none() {
            out.unread("a message that breaks off");
        }
        Ok(())
    }

    fn goes_on(&mut self, bytes: &[u8]) -> bool {
        (self.is_open, self.has_failed, self.reply) = (true, false, Reply::default());
        self.syncs = [0, 0];
        self.portals.clear();
        if std::mem::take(&mut self.dialogue.has_missed) {
            // There may have been another.
            self.prepared.remove(&key(b""));
        }
        is_request(bytes)
    }

    fn dialogue(&mut self) -> &mut Dialogue {
        &mut self.dialogue
    }

    fn held_bytes(&self) -> usize {
        let portals = self.portals.values().map(|(_, own)| held_bytes(own));
        self.dialogue.held_bytes() + portals.sum::<usize>() + prepared_bytes(self.prepared.values())
    }
}
