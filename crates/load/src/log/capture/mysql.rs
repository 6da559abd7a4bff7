//! The protocol of the MySQL family.

use std::collections::HashMap;
use std::io;

use mysql_common::constants::{CapabilityFlags, ColumnFlags, ColumnType};
use mysql_common::io::ParseBuf;
use mysql_common::packets::HandshakeResponse;
use mysql_common::value::{BinValue, ValueDeserializer};

use super::super::{KEPT_BYTES, bind};
use super::{
    At, CURSOR, Dialogue, EARLIER, ENTRY_BYTES, Kind, Out, REPLICA, TLS, Talk, Text, What,
};
use crate::driver::Dialect;
use crate::driver::mysql::handshake::parse_greeting;
use crate::workload::sql::{What as Token, Words};

const HEAD_BYTES: usize = 4;
/// A longer packet goes on in the next.
const LONGEST_PACKET: usize = 0xFF_FFFF;

const OK: u8 = 0;
const LOCAL_FILE: u8 = 0xFB;
const END: u8 = 0xFE;
const ERROR: u8 = 0xFF;
const MORE_RESULTS: u16 = 0x0008;
const CURSOR_EXISTS: u8 = 0x40;
/// The statement that was prepared last (MariaDB).
const LAST_PREPARED: u32 = u32::MAX;

/// Bytes of a packet, with its head.
fn length(bytes: &[u8]) -> usize {
    let [low, middle, high] = [0, 1, 2].map(|at| usize::from(bytes[at]));
    HEAD_BYTES + (low | middle << 8 | high << 16)
}

/// Whether a server begins a connection so: it greets, or refuses.
pub(super) fn is_greeting(bytes: &[u8]) -> bool {
    let begins = bytes.len() > HEAD_BYTES && length(bytes) >= bytes.len() && bytes[3] == 0;
    begins && matches!(bytes[4], 10 | ERROR)
}

/// Whether these bytes are a command. Those that are longer than a segment have a text.
pub(super) fn is_request(bytes: &[u8]) -> bool {
    let is_command = bytes.len() > HEAD_BYTES && bytes[3] == 0 && matches!(bytes[4], 1..0x20);
    is_command && (length(bytes) == bytes.len() || (bytes.len() > 1000 && bytes[4] == 3))
}

#[derive(Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Greeting,
    LogIn,
    Authenticating,
    Ready,
}

/// Which packet of a reply is next.
#[derive(Default, Clone, Copy)]
enum Part {
    #[default]
    Head,
    /// The head of a further result, or what follows a client's file.
    Further,
    Definitions(u64),
    Columns(u64),
    ColumnsEnd,
    Rows,
    /// The reply has ended, well or not.
    Done(bool),
}

impl Part {
    /// So many packets of a kind are left, or the next kind comes.
    fn of(left: u64, kind: fn(u64) -> Self, next: Self) -> Self {
        if left > 0 { kind(left) } else { next }
    }
}

struct Prepared {
    sql: Vec<u8>,
    /// As the last execution had them.
    types: Vec<[u8; 2]>,
}

#[derive(Default)]
pub(super) struct Mysql {
    dialogue: Dialogue,
    stage: Stage,
    offered: u32,
    /// What both sides can; `None`: it was said before the capture.
    common: Option<u32>,
    /// A command of which more packets will come.
    command: Vec<u8>,
    command_at: At,
    prepared: HashMap<u32, Prepared>,
    part: Part,
    /// The packet goes on in the next.
    continues: bool,
}

impl Mysql {
    pub(super) fn new(is_whole: bool) -> Self {
        let mut new = Self::default();
        if !is_whole {
            new.stage = Stage::Ready;
        }
        new
    }

    fn has(&self, flag: CapabilityFlags) -> bool {
        self.common.is_some_and(|all| all & flag.bits() != 0)
    }

    /// The client's answer to the greeting.
    fn log_in(&mut self, answer: &[u8], out: &mut Out<'_>) -> io::Result<()> {
        let flags = answer
            .first_chunk()
            .map_or(0, |four| u32::from_le_bytes(*four));
        self.common = Some(flags & self.offered);
        self.stage = Stage::Authenticating;
        let zstd = CapabilityFlags::CLIENT_ZSTD_COMPRESSION_ALGORITHM;
        if self.has(CapabilityFlags::CLIENT_SSL) && answer.len() <= 32 {
            out.stop = Some(TLS);
            return Ok(());
        }
        if self.has(CapabilityFlags::CLIENT_COMPRESS | zstd) {
            out.stop = Some("a connection with a compressed protocol");
            return Ok(());
        }
        let said: io::Result<HandshakeResponse<'_>> = ParseBuf(answer).parse(());
        let database = said
            .ok()
            .and_then(|said| said.db_name().map(<[u8]>::to_vec));
        self.dialogue.database = database.filter(|name| !name.is_empty());
        out.event(out.at.us, What::Connect)
    }

    fn on_command(&mut self, content: &[u8], number: u8, out: &mut Out<'_>) -> io::Result<()> {
        let Some((&command, rest)) = content.split_first() else {
            return Ok(());
        };
        let id = rest
            .first_chunk()
            .map_or(0, |four| u32::from_le_bytes(*four));
        let (kind, sql) = match command {
            // QUIT, RESET_CONNECTION, CHANGE_USER
            0x01 => return out.event(out.at.us, What::Quit),
            0x1F | 0x11 => {
                for (_, known) in self.prepared.drain() {
                    self.dialogue.held_bytes -= ENTRY_BYTES + known.sql.len();
                }
                if command == 0x11 {
                    self.dialogue.database = new_database(rest);
                }
                out.event(out.at.us, What::Connect)?;
                (Kind::Other, Ok(Vec::new()))
            }
            // INIT_DB, QUERY, PREPARE, EXECUTE
            0x02 => (Kind::Query, Ok([b"USE `", rest, b"`"].concat())),
            0x03 => (Kind::Query, self.without_attributes(rest)),
            0x16 => {
                // Under this number it may be executed before the server has given it one.
                self.remember(LAST_PREPARED, rest.to_vec());
                (Kind::Prepare, Ok(rest.to_vec()))
            }
            0x17 => (Kind::Execute, self.bound(id, rest)),
            // CLOSE, LONG_DATA have no reply.
            0x18 | 0x19 => {
                // Without the values that were sent ahead an execution is not understood.
                if command == 0x19 {
                    let known = self.prepared.remove(&id);
                    self.dialogue.held_bytes -=
                        known.map_or(0, |known| ENTRY_BYTES + known.sql.len());
                }
                return Ok(());
            }
            // BINLOG_DUMP, REGISTER_SLAVE, BINLOG_DUMP_GTID
            0x12 | 0x15 | 0x1E => {
                out.stop = Some(REPLICA);
                return Ok(());
            }
            // STATISTICS, DEBUG, PING, RESET, SET_OPTION, FETCH
            0x09 | 0x0D | 0x0E | 0x1A | 0x1B => (Kind::Other, Ok(Vec::new())),
            0x1C => (Kind::Query, Err(CURSOR)),
            _ => (Kind::Query, Err("a command that is no SQL")),
        };
        self.dialogue.ask(kind, sql, self.command_at, number);
        Ok(())
    }

    fn remember(&mut self, id: u32, sql: Vec<u8>) {
        self.dialogue.held_bytes += ENTRY_BYTES + sql.len();
        let types = Vec::new();
        let before = self.prepared.insert(id, Prepared { sql, types });
        self.dialogue.held_bytes -= before.map_or(0, |before| ENTRY_BYTES + before.sql.len());
    }

    /// A statement's text, behind the attributes that MySQL's clients may put before it.
    fn without_attributes(&self, rest: &[u8]) -> Text {
        let has_them = self.has(CapabilityFlags::CLIENT_QUERY_ATTRIBUTES);
        if !has_them && (self.common.is_some() || !rest.starts_with(b"\0\x01")) {
            return Ok(rest.to_vec());
        }
        let mut rest = ParseBuf(rest);
        match (rest.checked_eat_lenenc_int(), rest.checked_eat_lenenc_int()) {
            (Some(0), Some(_)) => Ok(rest.0.to_vec()),
            _ => Err("a statement with attributes"),
        }
    }

    /// The text of a prepared statement with the values of an execution.
    fn bound(&mut self, id: u32, rest: &[u8]) -> Text {
        /// The statement's number, flags and a count.
        const BEFORE_VALUES: usize = 9;
        let has_names = self.has(CapabilityFlags::CLIENT_QUERY_ATTRIBUTES);
        let known = self.prepared.get_mut(&id).ok_or(EARLIER)?;
        let marks = Words::new(&known.sql, Dialect::Mysql)
            .filter(|word| word.is("?"))
            .count();
        let read = |has_names: bool, types: &mut Vec<[u8; 2]>| {
            let mut rest = ParseBuf(rest.get(BEFORE_VALUES..)?);
            let mut count = marks;
            if has_names && marks > 0 {
                count = usize::try_from(rest.checked_eat_lenenc_int()?).ok()?;
            }
            if count == 0 {
                return Some(Vec::new());
            }
            let found = values(&mut rest, count, types, has_names)?;
            (rest.0.is_empty() && count >= marks).then_some(found)
        };
        // Of a connection from before the capture it is not known whether values have names.
        let mut types = known.types.clone();
        let literals = read(has_names, &mut types).or_else(|| {
            types.clone_from(&known.types);
            read(!has_names, &mut types)
        });
        known.types = types;
        let sql = literals.and_then(|literals| bind(&known.sql, Dialect::Mysql, &literals));
        sql.ok_or("a prepared statement whose values are not understood, or were sent ahead")
    }

    fn on_reply(&mut self, frame: &[u8], out: &mut Out<'_>) -> io::Result<()> {
        let content = &frame[HEAD_BYTES..];
        let is_long = content.len() == LONGEST_PACKET;
        let first = content.first().copied().unwrap_or(OK);
        if std::mem::replace(&mut self.continues, is_long) {
            return Ok(());
        }
        match self.stage {
            Stage::Greeting => {
                let greeting = parse_greeting(content);
                self.offered = greeting.map_or(0, |greeting| greeting.capabilities().bits());
                self.stage = Stage::LogIn;
                return Ok(());
            }
            Stage::LogIn | Stage::Authenticating => {
                if first == OK {
                    self.stage = Stage::Ready;
                }
                return Ok(());
            }
            Stage::Ready => {}
        }
        let Some(pending) = self.dialogue.pending.front() else {
            return Ok(());
        };
        let is_end = first == END && !is_long;
        let mut rest = ParseBuf(content.get(1..).unwrap_or_default());
        let next = match (self.part, first) {
            // What is left of the reply before.
            (Part::Head, _) if frame[3] != pending.number => Part::Head,
            // A report of progress (MariaDB).
            (part, ERROR) if content.get(1..3) == Some(&[ERROR; 2][..]) => part,
            (Part::Head | Part::Further | Part::ColumnsEnd | Part::Rows, ERROR) => {
                Part::Done(false)
            }
            (Part::Head, OK) if pending.kind == Kind::Prepare => {
                let sql = pending.sql.clone().unwrap_or_default();
                let id = rest.checked_eat_u32_le().unwrap_or(0);
                self.remember(id, sql);
                let [columns, values] = [0; 2].map(|_| rest.checked_eat_u16_le().unwrap_or(0));
                Part::of(
                    u64::from(columns) + u64::from(values),
                    Part::Definitions,
                    Part::Done(true),
                )
            }
            // A log-in goes on.
            (Part::Head | Part::Further, 1) if pending.kind == Kind::Other => Part::Further,
            (Part::Head, _) if pending.kind == Kind::Other => Part::Done(true),
            (Part::Head | Part::Further, LOCAL_FILE) => Part::Further,
            (Part::Head | Part::Further, _) if (1..END).contains(&first) => {
                // MariaDB sends no definitions that the client has from the preparation.
                let mut rest = ParseBuf(content);
                match (rest.checked_eat_lenenc_int(), rest.0) {
                    (None, _) | (_, [0]) => Part::ColumnsEnd,
                    (Some(columns), _) => Part::of(columns, Part::Columns, Part::ColumnsEnd),
                }
            }
            (Part::Definitions(left), _) if is_end => Part::Definitions(left),
            (Part::Definitions(left), _) => Part::of(left - 1, Part::Definitions, Part::Done(true)),
            (Part::Columns(left), _) => Part::of(left - 1, Part::Columns, Part::ColumnsEnd),
            (Part::ColumnsEnd, END) if content.len() == 5 && content[3] & CURSOR_EXISTS == 0 => {
                Part::Rows
            }
            (Part::ColumnsEnd | Part::Rows, _) if !is_end => {
                self.dialogue.rows += 1;
                Part::Rows
            }
            _ => {
                let mut affected = None;
                if first == OK || content.len() > 5 {
                    affected = rest.checked_eat_lenenc_int();
                    let _id = rest.checked_eat_lenenc_int();
                } else {
                    let _warnings = rest.checked_eat_u16_le();
                }
                // Rows that an UPDATE finds are counted if the client asks for it, which a replay does not.
                let found = self.has(CapabilityFlags::CLIENT_FOUND_ROWS) || self.common.is_none();
                if let (OK, false, Some(count)) = (first, found, affected) {
                    let before = self.dialogue.affected.unwrap_or(0);
                    self.dialogue.affected = Some(before.saturating_add(count));
                }
                let status = rest.checked_eat_u16_le().unwrap_or(0);
                if status & MORE_RESULTS != 0 {
                    Part::Further
                } else {
                    Part::Done(true)
                }
            }
        };
        self.part = next;
        match next {
            Part::Done(is_done) => self.end(is_done, out),
            _ => Ok(()),
        }
    }

    fn end(&mut self, is_done: bool, out: &mut Out<'_>) -> io::Result<()> {
        self.part = Part::Head;
        let entered = self
            .dialogue
            .pending
            .front()
            .and_then(|one| chosen(one.sql.as_ref().ok()?));
        self.dialogue.end(is_done, out)?;
        if entered.is_some() && is_done {
            self.dialogue.database = entered;
        }
        Ok(())
    }
}

/// Values as literals: which are NULL, their types unless these are the last ones, then one after the other.
fn values(
    rest: &mut ParseBuf<'_>,
    count: usize,
    types: &mut Vec<[u8; 2]>,
    have_names: bool,
) -> Option<Vec<Vec<u8>>> {
    const UNSIGNED: u8 = 0x80;
    let nulls = rest.checked_eat(count.div_ceil(8))?;
    if rest.checked_eat_u8()? == 1 {
        types.clear();
        for _ in 0..count {
            types.push(*rest.checked_eat(2)?.first_chunk()?);
            if have_names {
                rest.checked_eat_lenenc_str()?;
            }
        }
    }
    let mut found = Vec::new();
    for place in 0..count {
        let &[code, sign] = types.get(place)?;
        if nulls[place / 8] & (1 << (place % 8)) != 0 {
            found.push(b"NULL".to_vec());
            continue;
        }
        // The other types are in the server alone, and the library ends the program at them.
        let kind = ColumnType::try_from(code).ok();
        let kind = kind.filter(|_| matches!(code, 0..=16 | 242 | 245..))?;
        let mut flags = ColumnFlags::empty();
        flags.set(ColumnFlags::UNSIGNED_FLAG, sign & UNSIGNED != 0);
        let value: ValueDeserializer<BinValue> = rest.parse((kind, flags)).ok()?;
        found.push(value.0.as_sql(false).into_bytes());
    }
    Some(found)
}

/// The database that a change of the user enters, behind the user and what proves who that is.
fn new_database(rest: &[u8]) -> Option<Vec<u8>> {
    let mut rest = ParseBuf(rest);
    let _user = rest.eat_null_str();
    let proof = rest.checked_eat_u8()?;
    rest.checked_eat(proof.into())?;
    Some(rest.eat_null_str().to_vec()).filter(|name| !name.is_empty())
}

/// The database that a statement enters.
fn chosen(sql: &[u8]) -> Option<Vec<u8>> {
    let mut words = Words::new(sql, Dialect::Mysql);
    words.next().filter(|word| word.is("USE"))?;
    match words.next()?.what {
        Token::Plain(name) | Token::Quoted(name) => Some(name.to_vec()),
        _ => None,
    }
}

impl Talk for Mysql {
    fn client(&mut self, bytes: &[u8], out: &mut Out<'_>) -> io::Result<()> {
        if self.dialogue.is_astray {
            if !is_request(bytes) {
                return Ok(());
            }
            self.command.clear();
            (self.stage, self.part, self.continues) = (Stage::Ready, Part::Head, false);
            self.dialogue.is_astray = false;
        }
        self.dialogue.client.extend(bytes);
        while let Some(frame) = self.dialogue.client.next(HEAD_BYTES, length) {
            match self.stage {
                Stage::Greeting | Stage::LogIn => self.log_in(&frame[HEAD_BYTES..], out)?,
                Stage::Authenticating => {}
                Stage::Ready => {
                    if frame[3] == 0 {
                        self.command.clear();
                        self.command_at = out.at;
                    } else if self.command.is_empty() {
                        // Of a client's file, or of a log-in.
                        continue;
                    }
                    if self.command.len() < KEPT_BYTES {
                        self.command.extend_from_slice(&frame[HEAD_BYTES..]);
                    }
                    if frame.len() < HEAD_BYTES + LONGEST_PACKET {
                        let command = std::mem::take(&mut self.command);
                        self.on_command(&command, frame[3].wrapping_add(1), out)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn server(&mut self, bytes: &[u8], out: &mut Out<'_>) -> io::Result<()> {
        if self.dialogue.is_astray {
            return Ok(());
        }
        self.dialogue.server.extend(bytes);
        while let Some(frame) = self.dialogue.server.next(HEAD_BYTES, length) {
            self.on_reply(&frame, out)?;
        }
        Ok(())
    }

    fn dialogue(&mut self) -> &mut Dialogue {
        &mut self.dialogue
    }
}
