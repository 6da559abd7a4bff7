//! A capture of packets: what clients and servers said, without TLS, as the same events as a log's.

mod mysql;
mod packet;
mod postgres;
mod stream;
#[cfg(test)]
mod tests;
mod value;

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::SocketAddr;

use packet::Segment;
pub(super) use packet::{first, is_capture};
use stream::{Frames, Half, Part};

use super::{Event, Inputs, Sink, Statement, What};
use crate::driver::Dialect;

/// Connections that are followed at once, the bytes held for all of them, and what each may have under way.
const MOST_CONNECTIONS: usize = 100_000;
const MOST_HELD_BYTES: usize = 256 << 20;
const MOST_PENDING: usize = 10_000;
/// What a prepared statement takes beside its text.
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

/// Where a connection's events go.
struct Out<'a> {
    sink: &'a mut dyn Sink,
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
    Prepare,
    Execute,
    /// What has a reply, and is no statement.
    Other,
}

/// What a client asked for.
struct Pending {
    kind: Kind,
    /// The reason if it is not known.
    sql: Text,
    at: At,
    /// The number of the reply's first packet (MySQL).
    number: u8,
}

type Text = Result<Vec<u8>, &'static str>;

fn size(text: &Text) -> usize {
    text.as_ref().map_or(0, Vec::len)
}

/// What both protocols have.
#[derive(Default)]
struct Dialogue {
    database: Option<Vec<u8>>,
    client: Frames,
    server: Frames,
    pending: VecDeque<Pending>,
    /// Of the reply under way.
    rows: u64,
    affected: Option<u64>,
    ended_us: i64,
    /// Something was lost: the next request is waited for.
    is_astray: bool,
    /// Of texts: asked for, prepared, bound.
    held_bytes: usize,
}

impl Dialogue {
    fn ask(&mut self, kind: Kind, sql: Text, at: At, number: u8) {
        self.held_bytes += size(&sql);
        self.pending.push_back(Pending {
            kind,
            sql,
            at,
            number,
        });
    }

    /// The reply to what was asked first has ended.
    fn end(&mut self, is_done: bool, out: &mut Out<'_>) -> io::Result<()> {
        let Some(Pending { kind, sql, at, .. }) = self.pending.pop_front() else {
            return Ok(());
        };
        self.held_bytes -= size(&sql);
        let begin_us = at.us.max(self.ended_us);
        self.ended_us = out.at.us;
        let (rows, affected) = (std::mem::take(&mut self.rows), self.affected.take());
        if kind == Kind::Other || (kind == Kind::Prepare && is_done) {
            return Ok(());
        }
        let reply = |sql| Statement {
            sql,
            duration_us: Some(u64::try_from(out.at.us - begin_us).unwrap_or(0)),
            rows: is_done.then_some(rows),
            affected: affected.filter(|_| is_done),
            failed: !is_done,
            ..Statement::default()
        };
        match sql {
            Ok(sql) => self.tell(kind, out.at.us, reply(sql), out),
            Err(reason) => {
                out.unread(reason);
                Ok(())
            }
        }
    }

    fn tell(
        &self,
        kind: Kind,
        at_us: i64,
        statement: Statement,
        out: &mut Out<'_>,
    ) -> io::Result<()> {
        let statement = Statement {
            database: self.database.clone(),
            prepared: kind == Kind::Execute,
            ..statement
        };
        out.event(at_us, What::Statement(statement))
    }

    /// What is under way ends without a reply.
    fn lose(&mut self, of_client: bool, out: &mut Out<'_>) -> io::Result<()> {
        if of_client || self.client.left_bytes() > 0 {
            out.unread(LOST);
        }
        for Pending { kind, sql, at, .. } in std::mem::take(&mut self.pending) {
            self.held_bytes -= size(&sql);
            if let (Kind::Query | Kind::Execute, Ok(sql)) = (kind, sql) {
                out.sink.unread(NO_REPLY, at.packet);
                let begin_us = at.us.max(out.at.us - LONGEST_WAIT_US);
                let statement = Statement {
                    sql,
                    ..Statement::default()
                };
                self.tell(kind, begin_us, statement, out)?;
            }
        }
        (self.client, self.server) = Default::default();
        (self.rows, self.affected, self.is_astray) = (0, None, true);
        Ok(())
    }
}

/// What the two sides of a connection say to each other.
trait Talk {
    /// Takes what the client sends.
    fn client(&mut self, bytes: &[u8], out: &mut Out<'_>) -> io::Result<()>;
    /// Takes what the server sends.
    fn server(&mut self, bytes: &[u8], out: &mut Out<'_>) -> io::Result<()>;
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
    halves: [Half; 2],
    /// Which half is the client's.
    client: Option<usize>,
    state: State,
    /// A bit for each side.
    ends: u8,
}

/// The protocol that begins with these bytes of the client or the server, or whose request they are.
fn protocol(bytes: &[u8], by_client: Option<bool>) -> Option<Dialect> {
    let (mysql, postgres) = match by_client {
        Some(false) => (mysql::is_greeting(bytes), false),
        Some(true) => (false, postgres::is_greeting(bytes)),
        None => (mysql::is_request(bytes), postgres::is_request(bytes)),
    };
    let found = if mysql {
        Dialect::Mysql
    } else {
        Dialect::Postgres
    };
    (mysql || postgres).then_some(found)
}

impl Connection {
    /// Hands on what has its turn.
    fn hand_on(&mut self, side: usize, wanted: Dialect, out: &mut Out<'_>) -> io::Result<()> {
        while let Some(part) = self.halves[side].next() {
            if part.bytes.is_empty() {
                continue;
            }
            let at = std::mem::replace(&mut out.at, part.at);
            if let State::New(looks) = self.state {
                self.state = self.look(looks + 1, side, &part.bytes, wanted, out);
            }
            if let State::Talking(talk) = &mut self.state {
                if self.client == Some(side) {
                    talk.client(&part.bytes, out)?;
                } else {
                    talk.server(&part.bytes, out)?;
                }
                if talk.dialogue().pending.len() > MOST_PENDING {
                    talk.dialogue().lose(false, out)?;
                }
            }
            if let Some(reason) = out.stop.take() {
                out.unread(reason);
                self.state = State::Passed;
            }
            out.at = at;
        }
        Ok(())
    }

    /// Looks for the protocol in the first bytes of a connection, or from the middle of one.
    fn look(
        &mut self,
        looks: u32,
        side: usize,
        bytes: &[u8],
        wanted: Dialect,
        out: &mut Out<'_>,
    ) -> State {
        let by_client = self.client.map(|client| client == side);
        let Some(dialect) = protocol(bytes, by_client) else {
            if by_client.is_none() && looks < MOST_LOOKS {
                return State::New(looks);
            }
            out.unread("a connection of another protocol, or encrypted");
            return State::Passed;
        };
        if dialect != wanted {
            out.unread("a connection of the other family's protocol");
            return State::Passed;
        }
        if by_client.is_none() {
            out.unread("a connection that began before the capture: it is replayed from its first statement here");
        }
        self.client.get_or_insert(side);
        State::Talking(match dialect {
            Dialect::Postgres => Box::new(postgres::Postgres::new(by_client.is_some())),
            _ => Box::new(mysql::Mysql::new(by_client.is_some())),
        })
    }

    /// Bytes of a side are lost.
    fn lose(&mut self, side: usize, out: &mut Out<'_>) -> io::Result<()> {
        match &mut self.state {
            State::Talking(talk) => talk.dialogue().lose(self.client == Some(side), out),
            // What comes is no beginning any more.
            State::New(_) => {
                self.client = None;
                Ok(())
            }
            State::Passed => Ok(()),
        }
    }

    fn held_bytes(&mut self) -> usize {
        let talk = match &mut self.state {
            State::Talking(talk) => {
                let talk = talk.dialogue();
                talk.client.left_bytes() + talk.server.left_bytes() + talk.held_bytes
            }
            _ => 0,
        };
        talk + self.halves.iter().map(Half::held_bytes).sum::<usize>()
    }
}

struct Reader {
    /// Connections of the other one are passed over.
    wanted: Dialect,
    connections: HashMap<[SocketAddr; 2], Connection>,
    begun: u64,
    at: At,
    held_bytes: usize,
}

impl Reader {
    fn take(&mut self, at_us: i64, segment: &Segment<'_>, sink: &mut dyn Sink) -> io::Result<()> {
        let (us, packet) = (at_us, self.at.packet);
        self.at = At { us, packet };
        let mut key = [segment.from, segment.to];
        key.sort_unstable();
        let side = usize::from(key[0] != segment.from);
        let answers = segment.acknowledged.is_some();
        if segment.begins && !answers {
            self.end(key, sink)?;
        }
        let is_new = !self.connections.contains_key(&key);
        if is_new && segment.payload.is_empty() && !segment.begins {
            return Ok(());
        }
        if is_new && self.connections.len() >= MOST_CONNECTIONS {
            sink.unread("a packet of more than 100,000 connections at once", packet);
            return Ok(());
        }
        let connection = self.connections.entry(key).or_insert_with(|| {
            self.begun += 1;
            Connection {
                number: self.begun,
                halves: Default::default(),
                client: None,
                state: State::New(0),
                ends: 0,
            }
        });
        let mut out = Out {
            sink,
            session: connection.number,
            at: self.at,
            stop: None,
        };
        self.held_bytes -= connection.held_bytes();
        if segment.begins {
            connection.halves[side].next = Some(segment.sequence.wrapping_add(1));
            connection.client = Some(if answers { 1 - side } else { side });
        } else {
            if connection.halves[1 - side].lost(segment.acknowledged) {
                connection.lose(1 - side, &mut out)?;
                connection.hand_on(1 - side, self.wanted, &mut out)?;
            }
            if !segment.payload.is_empty() {
                connection.halves[side].take(Part {
                    sequence: segment.sequence,
                    bytes: segment.payload.to_vec(),
                    at: self.at,
                });
            }
            if connection.halves[side].lost(None) {
                connection.lose(side, &mut out)?;
            }
            connection.hand_on(side, self.wanted, &mut out)?;
        }
        if self.held_bytes + connection.held_bytes() > MOST_HELD_BYTES {
            out.unread("a connection of which too much was under way (256 MiB are held for all)");
            connection.state = State::Passed;
            connection.halves = Default::default();
        }
        self.held_bytes += connection.held_bytes();
        connection.ends |= if segment.ends > 1 {
            3
        } else {
            segment.ends << side
        };
        if connection.ends == 3 {
            self.end(key, out.sink)?;
        }
        Ok(())
    }

    /// Nothing more will come on a connection.
    fn end(&mut self, key: [SocketAddr; 2], sink: &mut dyn Sink) -> io::Result<()> {
        let Some(mut connection) = self.connections.remove(&key) else {
            return Ok(());
        };
        self.held_bytes -= connection.held_bytes();
        let mut out = Out {
            sink,
            session: connection.number,
            at: self.at,
            stop: None,
        };
        for side in [0, 1] {
            while connection.halves[side].end() {
                connection.lose(side, &mut out)?;
                connection.hand_on(side, self.wanted, &mut out)?;
            }
        }
        if let State::Talking(mut talk) = connection.state {
            talk.dialogue().lose(false, &mut out)?;
            out.event(self.at.us, What::Quit)?;
        }
        Ok(())
    }
}

/// Reads the connections of one protocol.
pub(super) fn read(mut inputs: Inputs, dialect: Dialect, sink: &mut dyn Sink) -> io::Result<()> {
    let mut reader = Reader {
        wanted: dialect,
        connections: HashMap::new(),
        begun: 0,
        at: At::default(),
        held_bytes: 0,
    };
    while let Some(input) = inputs.next_file()? {
        let broken = packet::read(input, &mut |at_us, network, data| {
            reader.at.packet += 1;
            match packet::segment(network, data) {
                Some(segment) => reader.take(at_us, &segment, sink),
                None => Ok(()),
            }
        })?;
        if let Some(reason) = broken {
            sink.unread(reason, reader.at.packet);
        }
    }
    let mut keys: Vec<_> = reader.connections.keys().copied().collect();
    keys.sort_unstable();
    keys.into_iter().try_for_each(|key| reader.end(key, sink))
}

/// The protocol that speaks first in the beginning of a capture.
pub(super) fn dialect(head: &[u8]) -> Option<Dialect> {
    let mut found = None;
    let _ = packet::read(head, &mut |_, network, data| {
        let payload = packet::segment(network, data).map_or(&[][..], |segment| segment.payload);
        let whose = [Some(true), Some(false), None];
        found = whose.into_iter().find_map(|whose| protocol(payload, whose));
        // The error ends the reading.
        found.map_or(Ok(()), |_| Err(io::Error::other("enough")))
    });
    found
}
