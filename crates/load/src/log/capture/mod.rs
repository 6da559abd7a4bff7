//! A capture of packets: what clients and servers said, without TLS, as the same events as a log's.

mod mysql;
mod packet;
mod postgres;
mod stream;
#[cfg(test)]
mod tests;
mod value;

use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::SocketAddr;

use packet::Segment;
use stream::Stream;

use super::{Bound, Event, Inputs, NO_SQL, Sink, Statement, Value, What};
use crate::driver::Dialect;

/// Connections that are followed at once, and what each may have under way.
const MOST_CONNECTIONS: usize = 100_000;
const MOST_PENDING: usize = 10_000;
/// The bytes held for all of them, which are looked at after so many packets.
const MOST_HELD_BYTES: usize = 256 << 20;
const LOOK_AFTER: u64 = 4096;
/// What a text takes that is held, beside its own bytes.
const ENTRY_BYTES: usize = 200;
/// Segments of a connection that began before the capture in which its protocol is looked for.
const MOST_LOOKS: u32 = 100;
/// A statement without a reply counts as begun at most this long before that is noticed.
const LONGEST_WAIT_US: i64 = 300_000_000;

const LOST: &str = "a statement cut by packets that are lost or cut short (tcpdump -s 0)";
const NO_REPLY: &str = "a reply that is lost: its statement is replayed, its duration not known";
const EARLIER: &str = "a prepared statement whose preparation is not in the capture";
const CURSOR: &str = "a cursor's further rows";
const REPLICA: &str = "a replica's connection";
const TOO_MUCH: &str = "a connection of which too much was under way (256 MiB are held for all)";
const TLS: &str = "a connection with TLS";

/// When something was said: in which packet.
#[derive(Debug, Clone, Copy, Default)]
struct At {
    us: i64,
    packet: u64,
}

/// Where a connection's events go.
struct Out<'a> {
    sink: &'a mut dyn Sink,
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
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Query,
    /// What is executed under this key.
    Prepare(u64),
    /// Whether it asks for all of its rows.
    Execute(bool),
    /// The parameters' types of a prepared statement.
    Describe(u64),
    /// What has a reply, and is no statement.
    Other,
}

/// A statement, or why it is not known.
type Asked = Result<Statement, &'static str>;

fn plain(sql: impl Into<Vec<u8>>) -> Statement {
    Statement {
        sql: sql.into(),
        ..Statement::default()
    }
}

fn held_bytes(asked: &Asked) -> usize {
    // Once more as it was prepared.
    ENTRY_BYTES
        + asked.as_ref().map_or(0, |said| {
            let values = said.bound.as_ref().map_or(0, |own| own.values.len());
            2 * said.sql.len() + values * size_of::<Value>()
        })
}

fn prepared_bytes<'a>(prepared: impl Iterator<Item = &'a [Vec<u8>; 2]>) -> usize {
    let bytes = prepared.map(|[sql, types]| ENTRY_BYTES + sql.len() + types.len());
    bytes.sum()
}

/// What a client asked for.
struct Pending {
    kind: Kind,
    what: Asked,
    /// The number of the reply's first packet (MySQL).
    number: u8,
    at: At,
}

/// What both protocols have.
#[derive(Default)]
struct Dialogue {
    database: Option<Vec<u8>>,
    pending: VecDeque<Pending>,
    ended_us: i64,
    /// Something was lost: the next request is waited for.
    is_astray: bool,
    /// Of that, it was something that the client said.
    has_missed: bool,
}

impl Dialogue {
    fn ask(&mut self, kind: Kind, what: Asked, number: u8, out: &Out<'_>) {
        self.pending.push_back(Pending {
            kind,
            what,
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
        let Some(Pending { kind, what, at, .. }) = self.pending.pop_front() else {
            return Ok(());
        };
        let said = match (kind, what) {
            (Kind::Other | Kind::Describe(_), _) => return Ok(()),
            (Kind::Prepare(key), _) if reply.is_some() => {
                return out.event(out.at.us, What::Prepared(key));
            }
            (_, Ok(said)) => said,
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
            database: self.database.clone(),
            duration_us: Some(u64::try_from(out.at.us - begin_us).unwrap_or(0)),
            rows,
            affected: affected.flatten(),
            failed: reply.is_none(),
            ..said
        };
        out.event(out.at.us, What::Statement(said))
    }

    fn held_bytes(&self) -> usize {
        let asked = self.pending.iter().map(|asked| held_bytes(&asked.what));
        self.database.as_ref().map_or(0, Vec::len) + asked.sum::<usize>()
    }

    /// What is under way ends without a reply.
    fn lose(&mut self, out: &mut Out<'_>) -> io::Result<()> {
        self.is_astray = true;
        for Pending { kind, what, at, .. } in std::mem::take(&mut self.pending) {
            if let (Kind::Query | Kind::Execute(_), Ok(said)) = (kind, what) {
                out.sink.unread(NO_REPLY, at.packet);
                let begin_us = at.us.max(out.at.us - LONGEST_WAIT_US);
                let database = self.database.clone();
                out.event(begin_us, What::Statement(Statement { database, ..said }))?;
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
    fn held_bytes(&self) -> usize;
}

#[derive(Default)]
enum State {
    /// Nothing has shown the protocol yet.
    #[default]
    New,
    Talking(Box<dyn Talk>),
    Passed,
}

#[derive(Default)]
struct Connection {
    number: u64,
    streams: [Stream; 2],
    /// Which stream is the client's.
    client: Option<usize>,
    state: State,
    /// So often the protocol was looked for.
    looks: u32,
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
            if matches!(self.state, State::New) {
                self.looks += 1;
                self.state = self.look(side, &bytes, out);
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
                let client = &self.streams[self.client.unwrap_or(0)];
                talk.dialogue().has_missed |= !client.begun.is_empty();
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
    fn look(&mut self, side: usize, bytes: &[u8], out: &mut Out<'_>) -> State {
        if self.client.is_none() && out.wanted == Dialect::Mysql && mysql::is_greeting(bytes) {
            self.client = Some(1 - side);
        }
        let by_client = self.client.map(|client| client == side);
        let Some(dialect) = protocol(bytes, by_client) else {
            if by_client.is_none() && self.looks < MOST_LOOKS {
                return State::New;
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
                    talk.dialogue().has_missed = true;
                }
                talk.dialogue().lose(out)?;
                self.forget();
            }
            // What comes is no beginning any more.
            State::New => self.client = None,
            State::Passed => {}
        }
        Ok(())
    }

    fn held_bytes(&self) -> usize {
        let talk = match &self.state {
            State::Talking(talk) => talk.held_bytes(),
            _ => 0,
        };
        talk + self.streams.iter().map(Stream::held_bytes).sum::<usize>()
    }

    /// Nothing more will come.
    fn end(mut self, out: &mut Out<'_>) -> io::Result<()> {
        out.session = self.number;
        for side in [0, 1] {
            while self.streams[side].end() {
                self.lose(Some(side), out)?;
                self.hand_on(side, out)?;
            }
        }
        let client = &self.streams[self.client.unwrap_or(0)];
        let is_begun = !client.begun.is_empty();
        if matches!(self.state, State::Talking(_)) && client.is_short() && !is_begun {
            out.unread(LOST);
        }
        self.lose(None, out)?;
        match self.state {
            State::Talking(_) => out.event(out.at.us, What::Quit),
            _ => Ok(()),
        }
    }
}

#[derive(Default)]
struct Connections {
    open: HashMap<[SocketAddr; 2], Connection>,
    begun: u64,
}

impl Connections {
    fn take(&mut self, segment: &Segment<'_>, out: &mut Out<'_>) -> io::Result<()> {
        let mut key = [segment.from, segment.to];
        key.sort_unstable();
        let side = usize::from(key[0] != segment.from);
        let answers = segment.acknowledged.is_some();
        let mut known = self.open.remove(&key);
        if segment.begins && !answers {
            // The client begins anew.
            known.take().map_or(Ok(()), |before| before.end(out))?;
        }
        let mut connection = match known {
            Some(known) => known,
            None if segment.payload.is_empty() && !segment.begins => return Ok(()),
            None if self.open.len() >= MOST_CONNECTIONS => {
                out.unread("a packet of more than 100,000 connections at once");
                return Ok(());
            }
            None => {
                self.begun += 1;
                Connection {
                    number: self.begun,
                    ..Connection::default()
                }
            }
        };
        out.session = connection.number;
        if segment.begins {
            connection.streams[side].next = Some(segment.sequence.wrapping_add(1));
            connection.client = Some(if answers { 1 - side } else { side });
        } else {
            if connection.streams[1 - side].lost(segment.acknowledged) {
                connection.lose(Some(1 - side), out)?;
                connection.hand_on(1 - side, out)?;
            }
            connection.streams[side].take(segment.sequence, segment.payload);
            if connection.streams[side].lost(None) {
                connection.lose(Some(side), out)?;
            }
            connection.hand_on(side, out)?;
        }
        let both = segment.ends > 1;
        connection.ends |= if both { 3 } else { segment.ends << side };
        if connection.ends == 3 {
            return connection.end(out);
        }
        self.open.insert(key, connection);
        Ok(())
    }

    /// Passes over those that hold most if all connections together hold too much.
    fn make_room(&mut self, out: &mut Out<'_>) -> io::Result<()> {
        let mut held: Vec<_> = self
            .open
            .values_mut()
            .map(|it| (it.held_bytes(), it))
            .collect();
        let mut all: usize = held.iter().map(|(bytes, _)| bytes).sum();
        if all <= MOST_HELD_BYTES {
            return Ok(());
        }
        held.sort_unstable_by_key(|(bytes, _)| Reverse(*bytes));
        for (bytes, connection) in held {
            if all <= MOST_HELD_BYTES / 2 {
                break;
            }
            all -= bytes;
            out.unread(TOO_MUCH);
            connection.lose(None, out)?;
            connection.state = State::Passed;
            connection.streams = Default::default();
        }
        Ok(())
    }
}

/// Reads the connections of one protocol.
pub(super) fn read(mut inputs: Inputs, wanted: Dialect, sink: &mut dyn Sink) -> io::Result<()> {
    let mut connections = Connections::default();
    let mut out = Out {
        sink,
        wanted,
        session: 0,
        at: At::default(),
        stop: None,
    };
    while let Some(input) = inputs.next_file()? {
        let broken = packet::read(input, &mut |us, network, data| {
            let packet = out.at.packet + 1;
            out.at = At { us, packet };
            if packet.is_multiple_of(LOOK_AFTER) {
                connections.make_room(&mut out)?;
            }
            match packet::segment(network, data) {
                Some(segment) => connections.take(&segment, &mut out),
                None => Ok(()),
            }
        })?;
        if let Some(reason) = broken {
            out.unread(reason);
        }
    }
    let mut left: Vec<_> = connections.open.into_values().collect();
    left.sort_unstable_by_key(|connection| connection.number);
    left.into_iter()
        .try_for_each(|connection| connection.end(&mut out))
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
