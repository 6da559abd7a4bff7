//! The protocol of the MySQL family.

use std::collections::HashMap;
use std::io;
use std::task::Poll;

use mysql_common::Value;
use mysql_common::constants::CapabilityFlags;
use mysql_common::io::ParseBuf;
use mysql_common::packets::HandshakeResponse;

use super::super::{bind, postgres::key};
use super::{
    Asked, Bound, CURSOR, Dialogue, EARLIER, ENTRY_BYTES, Kind, NO_SQL, Out, Statement, TLS, Talk,
    What, plain, prepared_bytes,
};
use crate::driver::Dialect;
use crate::driver::mysql::handshake::parse_greeting;
use crate::driver::mysql::preparation::prepared;
use crate::driver::mysql::reply::{END, ERROR, LOCAL_FILE, OK, ReplyReader};
use crate::driver::mysql::{HEADER_BYTES, LONGEST_CONTENT, binary_value, parse_header};
use crate::workload::sql::{What as Token, Words, parameters};

/// The statement that was prepared last (MariaDB).
const LAST_PREPARED: u32 = u32::MAX;

/// Bytes of a message: a packet of the greatest length goes on in the next.
fn length(bytes: &[u8]) -> Option<usize> {
    let mut end = 0;
    loop {
        let (length, _) = parse_header(*bytes.get(end..)?.first_chunk()?);
        end += HEADER_BYTES + length;
        if length < LONGEST_CONTENT {
            return Some(end);
        }
    }
}

/// Whether a server begins a connection so: it greets, or refuses.
pub(super) fn is_greeting(bytes: &[u8]) -> bool {
    let is_whole = length(bytes).is_some_and(|length| length >= bytes.len());
    is_whole && matches!(bytes, [_, _, _, 0, 10 | ERROR, ..])
}

/// Whether these bytes are a command. Those that are longer than a segment have a text.
pub(super) fn is_request(bytes: &[u8]) -> bool {
    let is_whole = length(bytes) == Some(bytes.len());
    matches!(bytes, [_, _, _, 0, command @ 1..0x20, ..]
        if is_whole || (bytes.len() > 1000 && *command == 3))
}

fn id(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |id| u32::from_le_bytes(*id))
}

#[derive(Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Greeting,
    LogIn,
    Authenticating,
    Ready,
}

#[derive(Default)]
pub(super) struct Mysql {
    dialogue: Dialogue,
    stage: Stage,
    /// What the server can, then what both can; `None`: it was said before the capture.
    common: Option<CapabilityFlags>,
    /// A statement's text, and two bytes for the type of each value as they were sent last.
    prepared: HashMap<u32, [Vec<u8>; 2]>,
    /// Values that were sent before their execution, by their statement and their place.
    ahead: HashMap<(u32, u16), Vec<u8>>,
    /// The client sends a file, which an empty packet ends.
    sends_file: bool,
    replies: ReplyReader,
    /// The reply under way has begun, and so many definitions are left of that to a preparation.
    is_amid: bool,
    left: usize,
}

impl Mysql {
    pub(super) fn new(is_whole: bool) -> Self {
        let mut new = Self {
            replies: ReplyReader::of_any_client(),
            ..Self::default()
        };
        if !is_whole {
            new.stage = Stage::Ready;
        }
        new
    }

    fn has(&self, flag: CapabilityFlags) -> bool {
        self.common.is_some_and(|common| common.contains(flag))
    }

    /// The client's answer to the greeting.
    fn log_in(&mut self, answer: &[u8], out: &mut Out<'_>) -> io::Result<()> {
        let asked = CapabilityFlags::from_bits_truncate(id(answer));
        self.common = self.common.map(|offered| offered & asked);
        self.stage = Stage::Authenticating;
        let zstd = CapabilityFlags::CLIENT_ZSTD_COMPRESSION_ALGORITHM;
        if self.has(CapabilityFlags::CLIENT_SSL) && answer.len() <= 32 {
            out.stop = Some(TLS);
        } else if self.has(CapabilityFlags::CLIENT_COMPRESS) || self.has(zstd) {
            out.stop = Some("a connection with a compressed protocol");
        } else {
            let said: io::Result<HandshakeResponse<'_>> = ParseBuf(answer).parse(());
            let database = said.as_ref().ok().and_then(|said| said.db_name());
            let database = database.filter(|name| !name.is_empty());
            self.dialogue.database = database.map(<[u8]>::to_vec);
            out.event(out.at.us, What::Connect)?;
        }
        Ok(())
    }

    fn on_command(&mut self, message: &[u8], out: &mut Out<'_>) -> io::Result<()> {
        let packets = message.chunks(HEADER_BYTES + LONGEST_CONTENT);
        let number = u8::try_from(packets.len()).unwrap_or(0);
        let packets: Vec<_> = packets.map(|packet| &packet[HEADER_BYTES..]).collect();
        let content = packets.concat();
        let Some((&command, rest)) = content.split_first() else {
            return Ok(());
        };
        let (kind, said) = match command {
            // QUIT
            0x01 => return out.event(out.at.us, What::Quit),
            // RESET_CONNECTION, CHANGE_USER
            0x1F | 0x11 => {
                self.prepared.clear();
                self.ahead.clear();
                if command == 0x11 {
                    self.dialogue.database = new_database(rest).map(<[u8]>::to_vec);
                }
                out.event(out.at.us, What::Connect)?;
                (Kind::Other, Err(NO_SQL))
            }
            // INIT_DB, QUERY, PREPARE, EXECUTE
            0x02 => (Kind::Query, Ok(plain([b"USE `", rest, b"`"].concat()))),
            0x03 => (Kind::Query, self.without_attributes(rest)),
            0x16 => {
                // Under this number it may be executed before the server has given it one.
                let known = [rest.to_vec(), Vec::new()];
                self.prepared.insert(LAST_PREPARED, known);
                (Kind::Prepare(key(rest)), Ok(plain(rest)))
            }
            0x17 => {
                let in_parts = rest.get(4).is_some_and(|cursor| cursor & 7 != 0);
                let said = self.bound(rest);
                self.forget_ahead(rest);
                (Kind::Execute(!in_parts), said)
            }
            // LONG_DATA, CLOSE: they have no reply.
            0x18 => {
                let value = rest.get(4..).and_then(<[u8]>::split_first_chunk);
                if let Some((place, value)) = value {
                    let key = (id(rest), u16::from_le_bytes(*place));
                    self.ahead.entry(key).or_default().extend_from_slice(value);
                }
                return Ok(());
            }
            0x19 => {
                self.prepared.remove(&id(rest));
                self.forget_ahead(rest);
                return Ok(());
            }
            // RESET
            0x1A => {
                self.forget_ahead(rest);
                (Kind::Other, Err(NO_SQL))
            }
            // STATISTICS, DEBUG, PING, SET_OPTION
            0x09 | 0x0D | 0x0E | 0x1B => (Kind::Other, Err(NO_SQL)),
            other => {
                out.unread(if other == 0x1C { CURSOR } else { NO_SQL });
                (Kind::Other, Err(NO_SQL))
            }
        };
        self.dialogue.ask(kind, said, number, out);
        Ok(())
    }

    /// The statement of this number has no values any more.
    fn forget_ahead(&mut self, rest: &[u8]) {
        let number = id(rest);
        self.ahead.retain(|(own, _), _| *own != number);
    }

    /// A statement's text, behind the attributes that MySQL's clients may put before it.
    fn without_attributes(&self, rest: &[u8]) -> Asked {
        let has_them = self.has(CapabilityFlags::CLIENT_QUERY_ATTRIBUTES);
        match rest {
            [0, 1, sql @ ..] if has_them || self.common.is_none() => Ok(plain(sql)),
            _ if has_them => Err("a statement with attributes"),
            sql => Ok(plain(sql)),
        }
    }

    /// A prepared statement with the values of an execution.
    fn bound(&mut self, rest: &[u8]) -> Asked {
        let has_names = self.has(CapabilityFlags::CLIENT_QUERY_ATTRIBUTES);
        let number = id(rest);
        let [sql, types] = self.prepared.get_mut(&number).ok_or(EARLIER)?;
        let marks = parameters(sql, Dialect::Mysql).count();
        let ahead = |place: usize| self.ahead.get(&(number, u16::try_from(place).ok()?));
        let read = |has_names| literals(rest, marks, has_names, types, ahead);
        // Of a connection from before the capture it is not known whether values have names.
        let found = read(has_names).or_else(|| read(!has_names));
        let said = found.and_then(|(literals, sent)| {
            *types = sent;
            Some(Statement {
                sql: bind(sql, Dialect::Mysql, &literals)?,
                bound: Bound::new(sql, &literals, Dialect::Mysql),
                key: Some(key(sql)),
                ..Statement::default()
            })
        });
        said.ok_or("a prepared statement whose values are not understood")
    }

    fn on_reply(&mut self, message: &[u8], out: &mut Out<'_>) -> io::Result<()> {
        let content = &message[HEADER_BYTES..];
        let first = content.first().copied().unwrap_or(OK);
        let rest = content.get(1..).unwrap_or_default();
        match self.stage {
            Stage::Greeting => {
                let greeting = parse_greeting(content).ok();
                self.common = greeting.map(|greeting| greeting.capabilities());
                self.stage = Stage::LogIn;
            }
            Stage::Authenticating if first == OK => self.stage = Stage::Ready,
            _ => {}
        }
        let Some(pending) = self.dialogue.pending.front_mut() else {
            return Ok(());
        };
        if !self.is_amid {
            // What is left of the reply before.
            if message[3] != pending.number {
                return Ok(());
            }
            self.replies.begin(pending.number);
        }
        let is_begin = !std::mem::replace(&mut self.is_amid, true);
        match (pending.kind, first) {
            (Kind::Prepare(_), ERROR) if is_begin => self.end(None, out),
            (Kind::Prepare(_), _) => {
                if is_begin {
                    let asked = pending.what.as_ref();
                    let sql = asked.map_or_else(|_| Vec::new(), |said| said.sql.clone());
                    let (id, columns, values) = prepared(rest).unwrap_or_default();
                    self.prepared.insert(id, [sql, Vec::new()]);
                    self.left = usize::from(columns) + usize::from(values);
                } else if first != END {
                    self.left = self.left.saturating_sub(1);
                }
                if self.left > 0 {
                    return Ok(());
                }
                self.end(Some((0, None)), out)
            }
            (Kind::Other, _) => self.end(Some((0, None)), out),
            _ => match self.replies.feed(message) {
                Ok(false) => {
                    self.sends_file |= is_begin && first == LOCAL_FILE;
                    Ok(())
                }
                Ok(true) => {
                    let Poll::Ready(Ok(reply)) = self.replies.take() else {
                        return self.end(None, out);
                    };
                    // Rows that an UPDATE finds are counted if the client asks for it, which a replay does not.
                    let finds = self.has(CapabilityFlags::CLIENT_FOUND_ROWS);
                    let is_known = reply.rows == 0 && self.common.is_some() && !finds;
                    self.end(Some((reply.rows, is_known.then_some(reply.affected))), out)
                }
                Err(_) => self.dialogue.lose(out),
            },
        }
    }

    fn end(&mut self, reply: Option<(u64, Option<u64>)>, out: &mut Out<'_>) -> io::Result<()> {
        self.is_amid = false;
        let asked = self.dialogue.pending.front();
        let entered = asked.and_then(|asked| entered(&asked.what.as_ref().ok()?.sql));
        let entered = entered.filter(|_| reply.is_some()).map(<[u8]>::to_vec);
        self.dialogue.end(reply, out)?;
        if entered.is_some() {
            self.dialogue.database = entered;
        }
        Ok(())
    }
}

type Literals = (Vec<Vec<u8>>, Vec<u8>);

/// Values as literals, and their types: which are NULL, the types unless these are the last ones, then one value after
/// the other.
fn literals<'a>(
    sent: &[u8],
    marks: usize,
    have_names: bool,
    types: &[u8],
    ahead: impl Fn(usize) -> Option<&'a Vec<u8>>,
) -> Option<Literals> {
    /// The statement's number, flags and a count.
    const BEFORE_VALUES: usize = 9;
    const UNSIGNED: u8 = 0x80;
    let mut rest = ParseBuf(sent.get(BEFORE_VALUES..)?);
    let (mut found, mut types) = (Vec::new(), types.to_vec());
    if marks == 0 {
        return Some((found, types));
    }
    let mut count = marks;
    if have_names {
        count = usize::try_from(rest.checked_eat_lenenc_int()?).ok()?;
    }
    let nulls = rest.checked_eat(count.div_ceil(8))?;
    if rest.checked_eat_u8()? == 1 {
        types.clear();
        for _ in 0..count {
            types.extend_from_slice(rest.checked_eat(2)?);
            if have_names {
                rest.checked_eat_lenenc_str()?;
            }
        }
    }
    let (types_of, _) = types.as_chunks::<2>();
    for place in 0..count {
        let &[code, sign] = types_of.get(place)?;
        if let Some(value) = ahead(place) {
            found.push(Value::Bytes(value.clone()).as_sql(false).into_bytes());
            continue;
        }
        if nulls[place / 8] & (1 << (place % 8)) != 0 {
            found.push(b"NULL".to_vec());
            continue;
        }
        let value = binary_value(&mut rest, code, sign & UNSIGNED != 0)?;
        // With its exponent, so that it is a double and no decimal.
        let literal = match value {
            Value::Double(value) => format!("{value:e}"),
            Value::Float(value) => format!("{:e}", f64::from(value)),
            other => other.as_sql(false),
        };
        found.push(literal.into_bytes());
    }
    (rest.0.is_empty() && count >= marks).then_some((found, types))
}

/// The database that a change of the user enters, behind the user and what proves who that is.
fn new_database(rest: &[u8]) -> Option<&[u8]> {
    let mut rest = ParseBuf(rest);
    let _user = rest.eat_null_str();
    rest.checked_eat_u8_str()?;
    Some(rest.eat_null_str()).filter(|name| !name.is_empty())
}

/// The database that a statement enters.
fn entered(sql: &[u8]) -> Option<&[u8]> {
    let mut words = Words::new(sql, Dialect::Mysql);
    words.next().filter(|word| word.is("USE"))?;
    match words.next()?.what {
        Token::Plain(name) | Token::Quoted(name) => Some(name),
        _ => None,
    }
}

impl Talk for Mysql {
    fn length(&self, _by_client: bool, bytes: &[u8]) -> Option<usize> {
        length(bytes)
    }

    fn take(&mut self, by_client: bool, message: &[u8], out: &mut Out<'_>) -> io::Result<()> {
        match self.stage {
            _ if !by_client => self.on_reply(message, out),
            Stage::Greeting | Stage::LogIn => self.log_in(&message[HEADER_BYTES..], out),
            Stage::Ready if self.sends_file => {
                self.sends_file = message.len() > HEADER_BYTES;
                self.replies.begin(message[3].wrapping_add(1));
                Ok(())
            }
            Stage::Ready if message[3] == 0 => self.on_command(message, out),
            // Of a log-in.
            _ => Ok(()),
        }
    }

    fn goes_on(&mut self, bytes: &[u8]) -> bool {
        (self.stage, self.is_amid, self.sends_file) = (Stage::Ready, false, false);
        if std::mem::take(&mut self.dialogue.has_missed) {
            // There may have been others.
            self.ahead.clear();
            self.prepared.remove(&LAST_PREPARED);
            let types = self.prepared.values_mut().map(|[_, types]| types);
            types.for_each(Vec::clear);
        }
        is_request(bytes)
    }

    fn dialogue(&mut self) -> &mut Dialogue {
        &mut self.dialogue
    }

    fn held_bytes(&self) -> usize {
        let ahead = self.ahead.values().map(|own| ENTRY_BYTES + own.len());
        self.dialogue.held_bytes() + prepared_bytes(self.prepared.values()) + ahead.sum::<usize>()
    }
}
