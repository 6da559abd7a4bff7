//! A capture of packets: what clients and servers said, without TLS, as the same events as a log's.

mod mysql;
mod packet;
mod postgres;
mod stream;
#[cfg(test)]
mod tests;
mod value;

use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;

use packet::Segment;
use stream::Stream;

use super::{Event, Inputs, NO_SQL, Sink, Statement, What};
use crate::driver::Dialect;

/// Connections that are followed at once, the bytes held for all of them, and what each may have under way.
const MOST_CONNECTIONS: usize = 100_000;
const MOST_HELD_BYTES: usize = 256 << 20;
const MOST_PENDING: usize = 10_000;
/// What a text takes that is held, beside its own bytes.
const ENTRY_BYTES: usize = 200;
/// Segments of a connection that began before the capture in which its protocol is looked for.
const MOST_LOOKS: u32 = 100;
/// A statement whose reply is lost is told as begun at most so long ago.
const LONGEST_WAIT_US: i64 = 300_000_000;

const LOST: &str = "a statement cut by packets that are lost or cut short (tcpdump -s 0)";
const NO_REPLY: &str = "a reply that is lost: its statement is replayed, its duration not known";
const EARLIER: &str = "a prepared statement whose preparation is not in the capture";
const CURSOR: &str = "a cursor's further rows";
const REPLICA: &str = "a replica's connection";
const TLS: &str = "a connection with TLS";

/// When something was said: in which packet.
#[derive(Debug, Clone, Copy, Default)]
struct At {
    us: i64,
    packet: u64,
}

/// A text that counts, as long as it is held, among the bytes that are held for all connections.
struct Held {
    text: Vec<u8>,
    all: Rc<Cell<usize>>,
}

impl Drop for Held {
    fn drop(&mut self) {
        let held_bytes = ENTRY_BYTES + self.text.len();
        self.all.set(self.all.get() - held_bytes);
    }
}

/// Where a connection's events go.
struct Out<'a> {
    sink: &'a mut dyn Sink,
    held: Rc<Cell<usize>>,
    /// Connections of the other protocol are passed over.
    wanted: Dialect,
    session: u64,
    at: At,
    /// Why the rest of the connection cannot be read.
    stop: Option<&'static str>,
}

impl Out<'_> {
    fn event(&mut self, at_us: i64, what: What) -> io::Result<()> {
        self.sink.take(Event {
            session: self.session,
            at_us,
            step_us: 1,
            what,
            line: self.at.packet,
        })
    }

    fn unread(&mut self, reason: &'static str) {
        self.sink.unread(reason, self.at.packet);
    }

    fn hold(&self, text: impl Into<Vec<u8>>) -> Held {
        let (text, all) = (text.into(), Rc::clone(&self.held));
        all.set(all.get() + ENTRY_BYTES + text.len());
        Held { text, all }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Query,
    Prepare,
    /// Whether it asks for all of its rows.
    Execute(bool),
    /// The parameters' types of a prepared statement.
    Describe(u64),
    /// What has a reply, and is no statement.
    Other,
}

impl Kind {
    fn executes(self) -> bool {
        matches!(self, Self::Execute(_))
    }
}

/// A statement's text, or why it is not known.
type Text = Result<Held, &'static str>;

/// What a client asked for.
struct Pending {
    kind: Kind,
    sql: Text,
    /// The number of the reply's first packet (MySQL).
    number: u8,
    at: At,
}

/// What both protocols have.
#[derive(Default)]
struct Dialogue {
    database: Option<Held>,
    pending: VecDeque<Pending>,
    ended_us: i64,
    /// Something was lost: the next request is waited for.
    is_astray: bool,
}

impl Dialogue {
    fn ask(&mut self, kind: Kind, sql: Text, number: u8, out: &Out<'_>) {
        self.pending.push_back(Pending {
            kind,
            sql,
            number,
            at: out.at,
        });
    }

    fn kind(&self, place: usize) -> Option<Kind> {
        self.pending.get(place).map(|asked| asked.kind)
    }

    /// The reply to what was asked first has ended, with so many rows and changed ones as far as a replay's have to be
    /// the same; `None`: it was refused.
    fn end(&mut self, reply: Option<(u64, Option<u64>)>, out: &mut Out<'_>) -> io::Result<()> {
        let Some(Pending { kind, sql, at, .. }) = self.pending.pop_front() else {
            return Ok(());
        };
        let sql = match (kind, sql) {
            (Kind::Other | Kind::Describe(_), _) => return Ok(()),
            (Kind::Prepare, _) if reply.is_some() => return Ok(()),
            (_, Ok(sql)) => sql,
            (_, Err(reason)) => {
                out.unread(reason);
                return Ok(());
            }
        };
        // What was asked ahead began when the statement before had ended.
        let begin_us = at.us.max(self.ended_us);
        self.ended_us = out.at.us;
        let (rows, affected) = reply.filter(|_| kind != Kind::Execute(false)).unzip();
        let said = Statement {
            duration_us: Some(u64::try_from(out.at.us - begin_us).unwrap_or(0)),
            rows,
            affected: affected.flatten(),
            failed: reply.is_none(),
            ..self.said(kind, &sql)
        };
        out.event(out.at.us, What::Statement(said))
    }

    fn said(&self, kind: Kind, sql: &Held) -> Statement {
        Statement {
            sql: sql.text.clone(),
            database: self.database.as_ref().map(|name| name.text.clone()),
            prepared: kind.executes(),
            ..Statement::default()
        }
    }

    /// What is under way ends without a reply.
    fn lose(&mut self, out: &mut Out<'_>) -> io::Result<()> {
        self.is_astray = true;
        for Pending { kind, sql, at, .. } in std::mem::take(&mut self.pending) {
            if (kind == Kind::Query || kind.executes())
                && let Ok(sql) = sql
            {
                out.sink.unread(NO_REPLY, at.packet);
                let begin_us = at.us.max(out.at.us - LONGEST_WAIT_US);
                out.event(begin_us, What::Statement(self.said(kind, &sql)))?;
            }
        }
        Ok(())
    }
}

/// What the two sides of a connection say to each other.
trait Talk {
    /// The bytes of the message that begins so; `None` while its head is not there.
    fn length(&self, by_client: bool, bytes: &[u8]) -> Option<usize>;
    fn take(&mut self, by_client: bool, message: &[u8], out: &mut Out<'_>) -> io::Result<()>;
    /// Goes on after a loss if a client's request begins so.
    fn goes_on(&mut self, bytes: &[u8]) -> bool;
    fn dialogue(&mut self) -> &mut Dialogue;
}

enum State {
    /// Nothing has shown the protocol yet; so often it was looked for.
    New(u32),
    Talking(Box<dyn Talk>),
    Passed,
}

struct Connection {
    number: u64,
    streams: [Stream; 2],
    /// Which stream is the client's.
    client: Option<usize>,
    state: State,
    /// A bit for each side.
    ends: u8,
}

/// The protocol that begins with these bytes of the client or the server, or whose request they are.
fn protocol(bytes: &[u8], by_client: Option<bool>) -> Option<Dialect> {
    match by_client {
        Some(false) => mysql::is_greeting(bytes).then_some(Dialect::Mysql),
        Some(true) => postgres::is_greeting(bytes).then_some(Dialect::Postgres),
        None if mysql::is_request(bytes) => Some(Dialect::Mysql),
        None => postgres::is_request(bytes).then_some(Dialect::Postgres),
    }
}

impl Connection {
    /// Hands on what has its turn.
    fn hand_on(&mut self, side: usize, out: &mut Out<'_>) -> io::Result<()> {
        while let Some(bytes) = self.streams[side].next() {
            if bytes.is_empty() {
                continue;
            }
            if let State::New(looks) = self.state {
                self.state = self.look(looks + 1, side, &bytes, out);
            }
            let by_client = self.client == Some(side);
            let State::Talking(talk) = &mut self.state else {
                continue;
            };
            if talk.dialogue().is_astray {
                let goes_on = by_client && talk.goes_on(&bytes);
                talk.dialogue().is_astray = !goes_on;
            }
            let begun = &mut self.streams[side].begun;
            begun.extend_from_slice(&bytes);
            let mut done = 0;
            while !talk.dialogue().is_astray
                && out.stop.is_none()
                && let Some(length) = talk.length(by_client, &begun[done..])
                && let Some(message) = begun[done..].get(..length)
            {
                done += length;
                talk.take(by_client, message, out)?;
            }
            begun.drain(..done);
            if talk.dialogue().pending.len() > MOST_PENDING {
                talk.dialogue().lose(out)?;
            }
            if talk.dialogue().is_astray {
                self.forget();
            }
            if let Some(reason) = out.stop.take() {
                out.unread(reason);
                self.state = State::Passed;
                self.forget();
            }
        }
        Ok(())
    }

    fn forget(&mut self) {
        self.streams.iter_mut().for_each(|own| own.begun.clear());
    }

    /// Looks for the protocol in the first bytes of a connection, or from the middle of one.
    fn look(&mut self, looks: u32, side: usize, bytes: &[u8], out: &mut Out<'_>) -> State {
        let by_client = self.client.map(|client| client == side);
        let Some(dialect) = protocol(bytes, by_client) else {
            if by_client.is_none() && looks < MOST_LOOKS {
                return State::New(looks);
            }
            out.unread("a connection of another protocol, or encrypted");
            return State::Passed;
        };
        if dialect != out.wanted {
            out.unread("a connection of the other family's protocol");
            return State::Passed;
        }
        if by_client.is_none() {
            out.unread("a connection that began before the capture: it is replayed from its first statement here");
        }
        self.client.get_or_insert(side);
        let is_whole = by_client.is_some();
        State::Talking(match dialect {
            Dialect::Postgres => Box::new(postgres::Postgres::new(is_whole)),
            _ => Box::new(mysql::Mysql::new(is_whole)),
        })
    }

    /// Bytes of a side are lost, or the connection has ended.
    fn lose(&mut self, side: Option<usize>, out: &mut Out<'_>) -> io::Result<()> {
        match &mut self.state {
            State::Talking(talk) => {
                let client = self.client.unwrap_or(0);
                if side == Some(client) || !self.streams[client].begun.is_empty() {
                    out.unread(LOST);
                }
                talk.dialogue().lose(out)?;
                self.forget();
            }
            // What comes is no beginning any more.
            State::New(_) => self.client = None,
            State::Passed => {}
        }
        Ok(())
    }

    fn held_bytes(&self) -> usize {
        self.streams.iter().map(Stream::held_bytes).sum()
    }
}

struct Reader {
    wanted: Dialect,
    connections: HashMap<[SocketAddr; 2], Connection>,
    begun: u64,
    at: At,
    held: Rc<Cell<usize>>,
}

impl Reader {
    fn out<'a>(&self, session: u64, sink: &'a mut dyn Sink) -> Out<'a> {
        Out {
            sink,
            held: Rc::clone(&self.held),
            wanted: self.wanted,
            session,
            at: self.at,
            stop: None,
        }
    }

    fn take(&mut self, segment: &Segment<'_>, sink: &mut dyn Sink) -> io::Result<()> {
        let mut key = [segment.from, segment.to];
        key.sort_unstable();
        let side = usize::from(key[0] != segment.from);
        let answers = segment.acknowledged.is_some();
        let mut known = self.connections.remove(&key);
        // The client begins anew.
        if segment.begins
            && !answers
            && let Some(before) = known.take()
        {
            self.end(before, sink)?;
        }
        let mut connection = match known {
            Some(known) => known,
            None if segment.payload.is_empty() && !segment.begins => return Ok(()),
            None if self.connections.len() >= MOST_CONNECTIONS => {
                let reason = "a packet of more than 100,000 connections at once";
                sink.unread(reason, self.at.packet);
                return Ok(());
            }
            None => {
                self.begun += 1;
                Connection {
                    number: self.begun,
                    streams: Default::default(),
                    client: None,
                    state: State::New(0),
                    ends: 0,
                }
            }
        };
        let mut out = self.out(connection.number, sink);
        let before = connection.held_bytes();
        if segment.begins {
            connection.streams[side].next = Some(segment.sequence.wrapping_add(1));
            connection.client = Some(if answers { 1 - side } else { side });
        } else {
            if connection.streams[1 - side].lost(segment.acknowledged) {
                connection.lose(Some(1 - side), &mut out)?;
                connection.hand_on(1 - side, &mut out)?;
            }
            connection.streams[side].take(segment.sequence, segment.payload);
            if connection.streams[side].lost(None) {
                connection.lose(Some(side), &mut out)?;
            }
            connection.hand_on(side, &mut out)?;
        }
        if self.held.get() + connection.held_bytes() > MOST_HELD_BYTES + before {
            out.unread("a connection of which too much was under way (256 MiB are held for all)");
            connection.state = State::Passed;
            connection.streams = Default::default();
        }
        self.held.set(self.held.get() + connection.held_bytes() - before);
        let both = segment.ends > 1;
        connection.ends |= if both { 3 } else { segment.ends << side };
        if connection.ends == 3 {
            return self.end(connection, out.sink);
        }
        self.connections.insert(key, connection);
        Ok(())
    }

    /// Nothing more will come on a connection.
    fn end(&mut self, mut connection: Connection, sink: &mut dyn Sink) -> io::Result<()> {
        self.held.set(self.held.get() - connection.held_bytes());
        let mut out = self.out(connection.number, sink);
        for side in [0, 1] {
            while connection.streams[side].end() {
                connection.lose(Some(side), &mut out)?;
                connection.hand_on(side, &mut out)?;
            }
        }
        connection.lose(None, &mut out)?;
        match connection.state {
            State::Talking(_) => out.event(self.at.us, What::Quit),
            _ => Ok(()),
        }
    }
}

/// Reads the connections of one protocol.
pub(super) fn read(mut inputs: Inputs, dialect: Dialect, sink: &mut dyn Sink) -> io::Result<()> {
    let mut reader = Reader {
        wanted: dialect,
        connections: HashMap::new(),
        begun: 0,
        at: At::default(),
        held: Rc::default(),
    };
    while let Some(input) = inputs.next_file()? {
        let broken = packet::read(input, &mut |us, network, data| {
            let packet = reader.at.packet + 1;
            reader.at = At { us, packet };
            match packet::segment(network, data) {
                Some(segment) => reader.take(&segment, sink),
                None => Ok(()),
            }
        })?;
        if let Some(reason) = broken {
            sink.unread(reason, reader.at.packet);
        }
    }
    let mut left: Vec<_> = reader.connections.drain().collect();
    left.sort_unstable_by_key(|(_, connection)| connection.number);
    left.into_iter()
        .try_for_each(|(_, connection)| reader.end(connection, sink))
}

/// The time of the first packet in the beginning of a capture, and the protocol that speaks first.
pub(super) fn beginning(head: &[u8]) -> (Option<i64>, Option<Dialect>) {
    let (mut first_us, mut found) = (None, None);
    let _ = packet::read(head, &mut |us, network, data| {
        first_us.get_or_insert(us);
        let payload = packet::segment(network, data).map_or(&[][..], |segment| segment.payload);
        let whose = [Some(true), Some(false), None];
        found = whose.into_iter().find_map(|whose| protocol(payload, whose));
        // The error ends the reading.
        found.map_or(Ok(()), |_| Err(io::Error::other("enough")))
    });
    (first_us, found)
}
